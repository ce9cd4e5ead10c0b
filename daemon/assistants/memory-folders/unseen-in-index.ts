import { listRevisions } from "../../../shared/replica/history/revisions.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import type { CameLine } from "../../files/arrivals/line-arrival-store.ts";
import { disputedLines, takenUnseen } from "../../files/arrivals/unseen-lines.ts";
import type { StandingMemory } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { isMendOf, mergeIndexes } from "./index-lines.ts";

type Context = WriteContext<DaemonTables>;

/** An edit of an index that its file showed before. */
interface IndexEdit {
  readonly key: string;
  readonly base: StandingMemory;
  readonly content: string;
  readonly unseen: readonly CameLine[];
}

/** What an edit of an index takes away that its author may not have seen; see `LineArrivals`. */
interface EditUnseen {
  /** The index with those lines of it that stay; undefined where there are none. */
  readonly whole?: string | undefined;
  /** The lines that go. */
  readonly disputed: readonly string[];
}

/** The edit by itself is in the history. */
export async function unseenInIndex(
  { db }: Context,
  { id }: OpenDocument,
  { key, base, content, unseen }: IndexEdit,
): Promise<EditUnseen> {
  if (unseen.length === 0) return { disputed: [] };
  const sides = { shown: base.text, saved: content };
  const former = await formerLines(db, id, key);
  const isMend = (line: string, saved: string) => !former.has(saved) && isMendOf(line, saved);
  const taken = takenUnseen(sides, unseen, isMend);
  const whole = taken && mergeIndexes({ base: taken.base, mine: content, theirs: base.text });
  return { whole, disputed: disputedLines(sides, unseen, isMend) };
}

/** Who saves a line that stood in the index before has read it then, and has mended none. */
async function formerLines(db: Context["db"], id: number, key: string): Promise<Set<string>> {
  const former = await listRevisions(db, id, { kind: "memory", key });
  return new Set(former.flatMap(({ value }) => plainLines(String(value ?? ""))));
}
