import { isSameMachine } from "../document/author.ts";
import type { ReplicaDocument } from "../document/document.ts";
import { namesSamePlace } from "../text/neighbour-lines.ts";
import { isOver } from "./over-conflict.ts";
import {
  listTextConflicts,
  type NewTextConflict,
  REPLACING,
  type TextConflictRecord,
  type TextVersion,
} from "./text-conflict-record.ts";

/** The conflicts that nothing has settled yet. */
export function listOpenConflicts(document: ReplicaDocument): TextConflictRecord[] {
  const records = listTextConflicts(document);
  if (records.length === 0) return [];
  const content = document.content();
  return records.filter((record) => !isOver(record, content));
}

/**
 * Finds conflicts between two machines that each put something in the place of the same lines.
 * These lines stay until somebody chooses, so each machine has a conflict with them, and the two
 * disagree with each other as well. Once the lines go, both conflicts are over, and what the two
 * wrote would stand side by side untold. So that is a conflict of its own, over once one of its
 * versions is gone. `before`: the conflicts that were open before the two met; `after`: those that
 * are open now.
 */
export function findSharedVersions(
  before: readonly TextConflictRecord[],
  after: readonly TextConflictRecord[],
): NewTextConflict[] {
  const known = new Set(before.map(({ id }) => id));
  const replacing = after.filter(({ kind }) => REPLACING.includes(kind));
  const [old, come] = [
    replacing.filter(({ id }) => known.has(id)),
    replacing.filter(({ id }) => !known.has(id)),
  ];
  return old.flatMap((one) => come.flatMap((other) => conflictBetween(one, other) ?? []));
}

function conflictBetween(
  one: TextConflictRecord,
  other: TextConflictRecord,
): NewTextConflict | undefined {
  for (const [at, shared] of one.versions.entries()) {
    const twin = other.versions.findIndex((version) => isSame(version, shared));
    const [mine, theirs] = [one.versions[1 - at], other.versions[1 - twin]];
    if (twin === -1 || !mine || !theirs || isSame(mine, theirs)) continue;
    // What one machine says in both is no dispute with itself.
    if (mine.machine !== undefined && isSameMachine(mine, theirs)) continue;
    if (mine.text === theirs.text || mine.cut || theirs.cut) return undefined;
    return { kind: "unseen", versions: [newVersion(mine), newVersion(theirs)] };
  }
  return undefined;
}

/** The same lines at the same place. */
function isSame(one: TextVersion, other: TextVersion): boolean {
  if (one.text === "" || one.text !== other.text) return false;
  if (one.places.length !== other.places.length) return false;
  return one.places.every(({ behind }, at) =>
    namesSamePlace(behind, other.places[at]?.behind ?? ""),
  );
}

function newVersion({ text, machine, at, places }: TextVersion): NewTextConflict["versions"][0] {
  return { text, machine, ...(at !== undefined && { at }), ...(places.length > 0 && { places }) };
}
