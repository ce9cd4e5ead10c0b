import { chunksOf, NO_PAUSE, type Pause } from "../../turns.ts";
import type { Author } from "./author.ts";
import { DELETION_KEY, type ProjectDeletion, parseDeletion } from "./deletion-entry.ts";
import type { ReplicaDocument } from "./document.ts";
import {
  COMMIT_PREFIX,
  CONNECTED_PREFIX,
  DERIVED_KEY,
  FILE_KEY,
  JOINED_PREFIX,
  OWN_METADATA_PREFIX,
  REMOVED_PREFIX,
  TEXT_CONFLICT_PREFIX,
} from "./own-metadata.ts";

/** This many memories are deleted in a fraction of a turn. */
const MEMORIES_AT_ONCE = 1024;

/**
 * Deletes everything in a project's document, and records the deletion there. So the deletion
 * reaches every replica of the document, deletes nothing that it has not seen, and is not undone by
 * a replica that still has the content. `pause` may end the turn.
 */
export async function deleteProject(
  document: ReplicaDocument,
  now: number,
  { by, pause = NO_PAUSE }: { readonly by?: Author; readonly pause?: Pause } = {},
): Promise<void> {
  for (const keys of chunksOf([...document.memories.keys()], MEMORIES_AT_ONCE)) {
    await pause();
    document.deleteEntries("memories", keys);
  }
  await pause();
  document.change("local", () => {
    document.deleteEntries("metadata", [...document.metadata.keys()].filter(isContent));
    document.text.delete(0, document.text.length);
    const { machine, home } = by ?? {};
    const deletion = {
      at: now,
      ...(machine !== undefined && { machine }),
      ...(home !== undefined && { home }),
    };
    document.setEntry("metadata", DELETION_KEY, { value: deletion, now });
  });
}

/**
 * Not the program's own metadata, and not the project's name: both stay. So does where its folders
 * went, for whoever has not followed them yet.
 */
function isContent(key: string): boolean {
  if (!key.startsWith(OWN_METADATA_PREFIX) || [DERIVED_KEY, FILE_KEY].includes(key)) return true;
  return [TEXT_CONFLICT_PREFIX, COMMIT_PREFIX, CONNECTED_PREFIX, REMOVED_PREFIX].some((each) =>
    key.startsWith(each),
  );
}

/** Undefined for a project that was not deleted, or was begun again. */
export function deletionOf(document: ReplicaDocument): ProjectDeletion | undefined {
  const [entry] = document.metadata.get(DELETION_KEY);
  return entry && parseDeletion(entry.value);
}

/**
 * Revokes the deletion. The deleted content stays deleted, and where the former folders went is
 * nothing to the new ones. False: there was no deletion.
 */
export function beginAnew(document: ReplicaDocument): boolean {
  if (!document.deleteEntry("metadata", DELETION_KEY)) return false;
  const joins = [...document.metadata.keys()].filter((key) => key.startsWith(JOINED_PREFIX));
  document.deleteEntries("metadata", joins);
  return true;
}
