import type { Kysely } from "kysely";
import * as Y from "yjs";
import { type CleanUp, type IdRanges, removeDoubles } from "./doubles.ts";
import { historyTime } from "./history-clock.ts";
import { machineOf } from "./machines.ts";
import type { OpenDocument } from "./open-document.ts";
import type { WriteContext } from "./write-context.ts";
import type { ReplicaTables } from "./tables.ts";
import { recordTextConflict } from "./text-conflict-record.ts";
import type { TextSpan } from "./text-spans.ts";

/** What a clean-up came to. */
export interface CleanedText {
  /** The characters of lines that both sides wrote, and that stand once now. */
  readonly met: readonly TextSpan[];
  /** Ids of the conflicts that were recorded. */
  readonly conflicts: readonly string[];
}

/**
 * Cleans up lines of the text that two sides both wrote: `mine` and `theirs` are the ids of the
 * characters that each brought, without any in common. Where the sides changed one place
 * differently both stay, and a conflict is recorded. Belongs in the transaction that made the two
 * meet.
 */
export async function cleanUpText<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  mine: IdRanges,
  theirs: IdRanges,
): Promise<CleanedText> {
  if (mine.size === 0 || theirs.size === 0) return { met: [], conflicts: [] };
  const { document } = open;
  const { met, conflicts } = document.change("local", () =>
    removeDoubles(document.text, mine, theirs),
  );
  return { met, conflicts: await recordConflicts(context, open, conflicts) };
}

async function recordConflicts<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  { id, document, writer }: OpenDocument,
  conflicts: CleanUp["conflicts"],
): Promise<string[]> {
  if (conflicts.length === 0) return [];
  const db = context.db as unknown as Kysely<ReplicaTables>;
  const time = await historyTime(db, context.now);
  return conflicts.map(({ mine, theirs, theirClient }) => {
    const isHere = theirClient === writer.clientId;
    const there = isHere ? writer.machine : machineOf(db, id, document, theirClient);
    const versions = [
      { text: mine, machine: writer.machine },
      { text: theirs, machine: there },
    ] as const;
    return recordTextConflict(document, { kind: "both", versions }, context.now, time);
  });
}

/**
 * Moves the conflicts that 0.1.0 kept in a table of its own, for one machine, into their documents,
 * where every machine sees them.
 */
export async function moveKeptConflicts<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
): Promise<void> {
  const db = context.db as unknown as Kysely<ReplicaTables>;
  const rows = await db
    .selectFrom("text_conflicts")
    .innerJoin("documents", "documents.id", "text_conflicts.document_id")
    .select(["owner", "name", "mine", "theirs", "found_at"])
    .orderBy("text_conflicts.id")
    .execute();
  for (const { owner, name, mine, theirs, found_at: foundAt } of rows) {
    const { document } = await context.open({ owner, name });
    const versions = [
      { text: mine, machine: undefined },
      { text: theirs, machine: undefined },
    ] as const;
    recordTextConflict(document, { kind: "both", versions }, foundAt);
  }
  if (rows.length > 0) await db.deleteFrom("text_conflicts").execute();
}

/** How far each client's clock had come: what a document held at some moment. */
export type HeldClocks = ReadonlyMap<number, number>;

/** What a document holds now, changes that are not flushed yet included. */
export function heldClocks({ document }: OpenDocument): HeldClocks {
  return Y.decodeStateVector(Y.encodeStateVector(document.ydoc));
}

/** The ids of the characters in an update (v1), without those that were held before. */
export function textRangesOf(update: Uint8Array, held?: HeldClocks): IdRanges {
  const ranges = new Map<number, [number, number][]>();
  for (const struct of Y.decodeUpdate(update).structs) {
    if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentString)) continue;
    const { client, clock } = struct.id;
    const from = Math.max(clock, held?.get(client) ?? 0);
    const to = clock + struct.length;
    if (from >= to) continue;
    const known = ranges.get(client) ?? [];
    known.push([from, to]);
    ranges.set(client, known);
  }
  return ranges;
}
