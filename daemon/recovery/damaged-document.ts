import { crc32 } from "node:zlib";
import * as Y from "yjs";
import { admitUpdate } from "../../shared/replica/admission/admit.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { snapshotUpdate } from "../../shared/replica/log/log-rows.ts";
import type { DamagedRow } from "./read-damaged.ts";

/** Nothing is written under this client id. */
const READER_CLIENT = 0;

/** What could be read of a document's log. */
export interface DamagedDocument {
  /** All intact parts that connect to what was before them, as one update. */
  readonly update: Uint8Array;
  /** Whether nothing is missing. */
  readonly whole: boolean;
  /** Whether an entry is in it, or was before it was deleted. */
  holds(client: number, clock: number): boolean;
}

interface Part {
  readonly seq: number;
  readonly payload: Uint8Array;
}

/**
 * Builds a document from its snapshot and the rows of its log, whatever their state. Leaves out
 * parts that do not match their checksum, and what depends on them.
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
  // Older rows add nothing to an intact snapshot, and help if it is damaged.
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
    // Rows of the log, and snapshots of 0.1.0, have no `bytes`: they are not compressed.
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

/** Applies parts until no more fit, because a row may depend on a later one. */
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
