import { invalidAt } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { exceedsBytes, LIMITS } from "../../shared/limits.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { isPublicKey } from "../../shared/replica/store/rows.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { chunksOf } from "../../shared/turns.ts";
import type { ServiceTables } from "../stores/tables.ts";

/**
 * One change of a document writes at most this many memories, so that it takes less than a turn.
 */
export const MEMORIES_AT_ONCE = 256;

type Mutable<T> = { -readonly [name in keyof T]: T[name] };

/** Fields to write into a project's document. Absent ones are not changed. */
export interface PlainWrite {
  /** A project's name. */
  readonly name?: string;
  readonly claude_md_content?: string;
  readonly memories?: readonly { readonly key: string; readonly value: string }[];
  readonly metadata?: JsonObject;
}

/** How many written memories were new, changed, or equal to the stored ones. */
export interface PlainChanges {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
}

/**
 * Writes the fields of a plain sync or of a project into its document: memories by key, metadata
 * key by key (`null` removes one), the text by whole lines. Equal values change nothing. The counts
 * are of memories. Throws a 400 over a limit; the caller must then abandon the transaction. A
 * text and many memories are written in several changes, between which the turn may end.
 */
export async function writePlain(
  open: OpenDocument,
  write: PlainWrite,
  { now, pause }: Pick<WriteContext<ServiceTables>, "now" | "pause">,
): Promise<PlainChanges> {
  const { document } = open;
  const assertRoom = open.watchRoom();
  const memories = chunksOf(write.memories ?? [], MEMORIES_AT_ONCE);
  const counts = { created: 0, updated: 0, unchanged: 0 };
  document.change("local", () => {
    if (write.name !== undefined) document.setProjectName(write.name, now);
    writeMetadata(open, write.metadata ?? {}, now);
  });
  if (write.claude_md_content !== undefined) {
    await document.setContentInTurns(write.claude_md_content, now, pause);
  }
  for (const some of memories) {
    await pause();
    writeMemories(open, some, { now, counts });
  }
  assertRoom();
  assertMetadataFits(open, write.metadata ?? {});
  return counts;
}

function writeMemories(
  { document }: OpenDocument,
  memories: NonNullable<PlainWrite["memories"]>,
  { now, counts }: { readonly now: number; readonly counts: Mutable<PlainChanges> },
): void {
  const known = memories.map(({ key }) => document.memories.get(key).length > 0);
  const changed = document.setEntries("memories", memories, now);
  for (const [at, isKnown] of known.entries()) {
    counts[changed[at] ? (isKnown ? "updated" : "created") : "unchanged"] += 1;
  }
}

function writeMetadata({ document }: OpenDocument, metadata: JsonObject, now: number): void {
  const entries = Object.entries(metadata).map(([key, value]) => ({ key, value }));
  const removed = entries.filter(({ value }) => value === null).map(({ key }) => key);
  const written = entries.filter(({ value }) => value !== null);
  document.deleteEntries("metadata", removed);
  document.setEntries("metadata", written, now);
}

/**
 * The limit applies to the resulting metadata, which may come in many small writes. Removing is
 * always allowed, because a merge may have exceeded the limit.
 */
function assertMetadataFits({ document: { metadata } }: OpenDocument, written: JsonObject): void {
  if (Object.values(written).every((value) => value === null)) return;
  const merged = Object.fromEntries(
    [...metadata.keys()].filter(isPublicKey).map((key) => [key, metadata.get(key)[0]?.value]),
  );
  if (!exceedsBytes(JSON.stringify(merged), LIMITS.metadataBytes)) return;
  throw invalidAt("/metadata", `metadata may take at most ${LIMITS.metadataBytes} bytes as JSON`);
}
