import type { Author } from "./author.ts";
import { DELETION_KEY, type ProjectDeletion, parseDeletion } from "./deletion-entry.ts";
import type { ReplicaDocument } from "./document.ts";
import {
  COMMIT_PREFIX,
  CONNECTED_PREFIX,
  DERIVED_KEY,
  OWN_METADATA_PREFIX,
  TEXT_CONFLICT_PREFIX,
} from "./own-metadata.ts";

/**
 * Deletes everything in a project's document, in one change, and records the deletion there. So the
 * deletion reaches every replica of the document, deletes nothing that it has not seen, and is not
 * undone by a replica that still has the content.
 */
export function deleteProject(document: ReplicaDocument, now: number, by?: Author): void {
  document.change("local", () => {
    for (const key of [...document.memories.keys()]) document.deleteEntry("memories", key);
    for (const key of [...document.metadata.keys()]) {
      if (isContent(key)) document.deleteEntry("metadata", key);
    }
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

/** Not the program's own metadata, and not the project's name: both stay. */
function isContent(key: string): boolean {
  if (!key.startsWith(OWN_METADATA_PREFIX) || key === DERIVED_KEY) return true;
  return [TEXT_CONFLICT_PREFIX, COMMIT_PREFIX, CONNECTED_PREFIX].some((each) =>
    key.startsWith(each),
  );
}

/** Undefined for a project that was not deleted, or was begun again. */
export function deletionOf(document: ReplicaDocument): ProjectDeletion | undefined {
  const [entry] = document.metadata.get(DELETION_KEY);
  return entry && parseDeletion(entry.value);
}

/** Revokes the deletion. The deleted content stays deleted. False: there was no deletion. */
export function beginAnew(document: ReplicaDocument): boolean {
  return document.deleteEntry("metadata", DELETION_KEY);
}
