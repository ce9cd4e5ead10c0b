import { crc32 } from "node:zlib";
import * as Y from "yjs";
import { admitUpdate } from "../../shared/replica/admission/admit.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { snapshotUpdate } from "../../shared/replica/log/log-rows.ts";
import type { DamagedRow } from "./read-damaged.ts";

/** Nothing is written under it. */
const READER_CLIENT = 0;

/** A document as far as its log could be read. */
export interface DamagedDocument {
  /** Everything that is what was written and follows on what went before, as one update. */
  readonly update: Uint8Array;
  /** Whether that is all there was. */
  readonly whole: boolean;
  /** Whether an entry is in it, or was once. */
  holds(client: number, clock: number): boolean;
}

interface Part {
  readonly seq: number;
  readonly payload: Uint8Array;
}

/**
 * Puts a document together of its snapshot and the rows of its log, in whatever state they are. A
 * part that does not match its checksum is left out, and so is what builds on it.
 */
export function readDocument(
  headSeq: number,
  snapshots: readonly DamagedRow[],
  updates: readonly DamagedRow[],
): DamagedDocument {
  const [snapshot] = snapshots.flatMap(partOf);
  const parts = updates.flatMap(partOf).sort((one, other) => one.seq - other.seq);
  const after = parts.filter(({ seq }) => seq > (snapshot?.seq ?? 0));
  const sound = snapshots.length === 0 || snapshot !== undefined;
  const contiguous = after.every(({ seq }, index) => seq === (snapshot?.seq ?? 0) + index + 1);
  const reached = (snapshot?.seq ?? 0) + after.length === headSeq;
  // Older rows bring nothing that the snapshot has not, and help where that is gone.
  const whole =
    sound && contiguous && reached ? allOf(snapshot ? [snapshot, ...after] : after) : undefined;
  const document = whole ?? whatFits(snapshot, parts);
  return {
    update: Y.encodeStateAsUpdate(document.ydoc),
    whole: whole !== undefined,
    holds: (client, clock) => Y.getState(document.ydoc.store, client) > clock,
  };
}

function partOf(row: DamagedRow): Part[] {
  const { seq, payload, checksum, bytes = null } = row;
  if (typeof seq !== "number" || !(payload instanceof Uint8Array)) return [];
  if (crc32(payload) !== checksum || (bytes !== null && typeof bytes !== "number")) return [];
  try {
    // A row of the log has no `bytes`, like a snapshot of 0.1.0: neither is compressed.
    return [{ seq, payload: snapshotUpdate({ payload, bytes }) }];
  } catch {
    return [];
  }
}

function allOf(parts: readonly Part[]): ReplicaDocument | undefined {
  try {
    const updates = parts.map(({ payload }) => payload);
    const document = new ReplicaDocument(updates, READER_CLIENT);
    return document.hasPending() ? undefined : document;
  } catch {
    return undefined;
  }
}

/** Takes what is admitted until nothing more is, for a row may wait for a later one. */
function whatFits(snapshot: Part | undefined, parts: readonly Part[]): ReplicaDocument {
  const document = (snapshot && allOf([snapshot])) ?? new ReplicaDocument([], READER_CLIENT);
  let waiting = [...parts];
  for (;;) {
    const left = waiting.filter(({ payload }) => !takes(document, payload));
    if (left.length === waiting.length) return document;
    waiting = left;
  }
}

function takes(document: ReplicaDocument, update: Uint8Array): boolean {
  if (admitUpdate(document, update, READER_CLIENT).kind !== "admitted") return false;
  Y.applyUpdate(document.ydoc, update, "remote");
  return true;
}
