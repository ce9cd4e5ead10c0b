import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import type { SettledLine } from "../../files/told-lines.ts";
import { keepPersonalVersion } from "../../home/personal-versions.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { settledText } from "../memory-folders/settled-text.ts";
import { ancestorsOf } from "./merge-versions.ts";
import {
  knownVersions,
  settleVersions,
  standingVersions,
  writeVersion,
} from "./personal-document.ts";
import { PERSONAL_KEY, versionOf } from "./version.ts";

/** Has the personal text as somebody has decided about some of its lines. Returns both texts. */
export async function settlePersonalLines(
  context: WriteContext<DaemonTables>,
  open: OpenDocument,
  settled: readonly SettledLine[],
): Promise<{ readonly from: string; readonly to: string } | undefined> {
  const current = await settleVersions(context, open);
  if (!current) return undefined;
  const text = settledText(current.text, settled);
  if (text === current.text) return undefined;
  const standing = standingVersions(open.document);
  const known = await knownVersions(context.db, standing);
  const version = versionOf(text, [current.id, ...ancestorsOf(current, known)]);
  const { id, value } = version;
  if (exceedsBytes(value, LIMITS.memoryValueBytes)) return undefined;
  await keepPersonalVersion(context.db, { id, value, isOwn: true });
  const key = standing[0]?.key ?? PERSONAL_KEY;
  const seen = (of: string) =>
    standing.flatMap((each) => {
      return each.key === of && each.version.id === current.id ? [each.entry.id] : [];
    });
  await writeVersion(context, open, { version, key, seen });
  await settleVersions(context, open);
  return { from: current.text, to: text };
}
