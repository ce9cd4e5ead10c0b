import type { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { removedKey } from "../../../shared/replica/document/own-metadata.ts";

/** All values of a key, the winner first. */
export function valuesOf(document: ReplicaDocument | undefined, key: string): string[] {
  return (document?.memories.get(key) ?? []).map(({ value }) => String(value));
}

/** What a deletion is called among the values of its key. No value begins so. */
const DELETION = "deletion ";

/** Whether this stands for a deletion of its key. */
export function isDeletion(standing: string): boolean {
  return standing.startsWith(DELETION);
}

/** All values of a key, and all deletions that the document tells of. */
export function standingOf(document: ReplicaDocument | undefined, key: string): string[] {
  const told = document?.deletionsOf(key) ?? [];
  const deletions = told.map(({ id: { client, clock } }) => `${DELETION}${client}:${clock}`);
  return [...valuesOf(document, key), ...deletions];
}

/** The keys of a document of which anything stands. */
export function keysOf(document: ReplicaDocument | undefined): string[] {
  if (!document) return [];
  const deleted = [...document.metadata.keys()].flatMap((key) => removedKey(key) ?? []);
  return [...document.memories.keys(), ...deleted];
}
