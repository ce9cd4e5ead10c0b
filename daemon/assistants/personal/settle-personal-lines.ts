import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import type { SettledChange, SettledLine } from "../../files/arrivals/told-lines.ts";
import { keepPersonalVersion } from "../../home/personal-versions.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { settleText } from "../memory-folders/settled-text.ts";
import { ancestorsOf } from "./merge-versions.ts";
import {
  entriesWith,
  knownVersions,
  settleVersions,
  standingVersions,
  writeVersion,
} from "./personal-document.ts";
import { versionOf } from "./version.ts";

/** Has the personal text as somebody decided about some of its lines. Undefined: there is none. */
export async function settlePersonalLines(
  context: WriteContext<DaemonTables>,
  open: OpenDocument,
  settled: readonly SettledLine[],
): Promise<SettledChange | undefined> {
  const { current } = await settleVersions(context, open);
  if (!current) return undefined;
  const standing = await standingVersions(context.db, open);
  const known = await knownVersions(context.db, standing);
  const parents = [current.id, ...ancestorsOf(current, known)];
  const formers = known.all.map((each) => each.text).reverse();
  const fits = (each: string) => {
    return !exceedsBytes(versionOf(each, parents).value, LIMITS.memoryValueBytes);
  };
  const { text, done } = settleText(current.text, { settled, formers, fits });
  const change = { from: current.text, to: text, done };
  if (text === current.text) return change;
  const version = versionOf(text, parents);
  const { id, value } = version;
  await keepPersonalVersion(context.db, { id, value, isOwn: true });
  await writeVersion(context, open, { version, seen: entriesWith(standing, current) });
  await settleVersions(context, open);
  return change;
}
