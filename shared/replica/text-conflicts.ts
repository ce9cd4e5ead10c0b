import type { Kysely } from "kysely";
import * as Y from "yjs";
import { type CleanUp, type IdRanges, removeDoubles } from "./doubles.ts";
import type { OpenDocument } from "./open-document.ts";
import type { WriteContext } from "./store.ts";
import type { ReplicaTables } from "./tables.ts";

/**
 * Cleans up lines of the text that two sides both wrote: `mine` and `theirs` are the updates (v1)
 * that brought them. Where the sides changed one place differently both stay, and a conflict is
 * recorded. Belongs in the transaction that made the two meet.
 */
export async function cleanUpText<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  mine: Uint8Array,
  theirs: Uint8Array,
): Promise<void> {
  await cleanUpRanges(context, open, textRangesOf(mine), textRangesOf(theirs));
}

/** The same for ranges of ids. */
export async function cleanUpRanges<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  mine: IdRanges,
  theirs: IdRanges,
): Promise<void> {
  if (mine.size === 0 || theirs.size === 0) return;
  const { document } = open;
  const { conflicts } = document.change("local", () => removeDoubles(document.text, mine, theirs));
  await recordConflicts(context, open, conflicts);
}

async function recordConflicts<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  conflicts: CleanUp["conflicts"],
): Promise<void> {
  if (conflicts.length === 0) return;
  const db = context.db as unknown as Kysely<ReplicaTables>;
  const found = { document_id: open.id, found_at: context.now };
  await db
    .insertInto("text_conflicts")
    .values(conflicts.map(({ mine, theirs }) => ({ ...found, mine, theirs })))
    .execute();
}

/** The ids of the characters that an update (v1) brings. */
export function textRangesOf(update: Uint8Array): IdRanges {
  const ranges = new Map<number, [number, number][]>();
  for (const struct of Y.decodeUpdate(update).structs) {
    if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentString)) continue;
    const { client, clock } = struct.id;
    const known = ranges.get(client) ?? [];
    known.push([clock, clock + struct.length]);
    ranges.set(client, known);
  }
  return ranges;
}
