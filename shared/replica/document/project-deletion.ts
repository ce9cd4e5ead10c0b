import { DELETION_KEY, type ProjectDeletion, parseDeletion } from "./deletion-entry.ts";
import type { ReplicaDocument } from "./document.ts";
import { COMMIT_PREFIX, OWN_METADATA_PREFIX, TEXT_CONFLICT_PREFIX } from "./own-metadata.ts";

/**
 * Deletes all that a project's document holds, in one change, and says so in it. So the deletion
 * goes wherever the document goes, takes along nothing that it has not seen, and brings back
 * nothing that a replica which comes later still holds.
 */
export function deleteProject(document: ReplicaDocument, now: number, machine?: string): void {
  document.change("local", () => {
    for (const key of [...document.memories.keys()]) document.deleteEntry("memories", key);
    for (const key of [...document.metadata.keys()]) {
      if (isContent(key)) document.deleteEntry("metadata", key);
    }
    document.text.delete(0, document.text.length);
    const deletion = { at: now, ...(machine !== undefined && { machine }) };
    document.setEntry("metadata", DELETION_KEY, { value: deletion, now });
  });
}

/** What the program notes of its own, and a project's name, stay. */
function isContent(key: string): boolean {
  if (!key.startsWith(OWN_METADATA_PREFIX)) return true;
  return key.startsWith(TEXT_CONFLICT_PREFIX) || key.startsWith(COMMIT_PREFIX);
}

/** Undefined for a project that is not deleted, or was begun anew. */
export function deletionOf(document: ReplicaDocument): ProjectDeletion | undefined {
  const [entry] = document.metadata.get(DELETION_KEY);
  return entry && parseDeletion(entry.value);
}

/** Takes the deletion back; what was deleted stays so. False: there was none. */
export function beginAnew(document: ReplicaDocument): boolean {
  return document.deleteEntry("metadata", DELETION_KEY);
}
