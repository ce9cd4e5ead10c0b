/**
 * The prefix of the program's own metadata keys, which are never sent to clients of the interface.
 */
export const OWN_METADATA_PREFIX = "memsync.";

/** The prefix of metadata about the text's conflicts. The rest of the key is a conflict's id. */
export const TEXT_CONFLICT_PREFIX = `${OWN_METADATA_PREFIX}conflict/`;

/**
 * The prefix of metadata that says when a machine, the rest of the key, last changed the text by
 * deletions alone. Deletions leave no character that tells their author.
 */
export const TRIMMED_PREFIX = `${OWN_METADATA_PREFIX}trimmed/`;

/** The prefix of metadata that names commits whose change of the followed file is in the text. */
export const COMMIT_PREFIX = `${OWN_METADATA_PREFIX}commit/`;

/**
 * The prefix of metadata that names, in the rest of the key, a project that this one is connected
 * to. The service writes it into both, so that every replica knows without asking.
 */
export const CONNECTED_PREFIX = `${OWN_METADATA_PREFIX}connected/`;

/**
 * What machines have read in the project's manifests and put into its metadata, as one object. If
 * the metadata lack one of its keys, a person has removed it; if they have another value, a person
 * has set it.
 */
export const DERIVED_KEY = `${OWN_METADATA_PREFIX}derived`;

/**
 * The prefix of metadata that says that somebody deleted a memory. The rest of the key is the
 * memory's key.
 */
export const REMOVED_PREFIX = `${OWN_METADATA_PREFIX}removed/`;

/** The memory whose deletion a metadata key tells of; undefined for any other key. */
export function removedKey(key: string): string | undefined {
  return key.startsWith(REMOVED_PREFIX) ? key.slice(REMOVED_PREFIX.length) : undefined;
}

/** The name of the file in which a project's machines have its text, where it is no `CLAUDE.md`. */
export const FILE_KEY = `${OWN_METADATA_PREFIX}file`;

/**
 * The prefix of metadata that says from which versions each version of a memory was made. The rest
 * of the key is the memory's key.
 */
export const MADE_OF_PREFIX = `${OWN_METADATA_PREFIX}made-of/`;

/**
 * The prefix of metadata that says that a folder of this project was linked to another one. The
 * rest of the key is the project that the folder's repository names, `/`, and that other project.
 */
export const JOINED_PREFIX = `${OWN_METADATA_PREFIX}joined/`;

/**
 * The key of metadata that names the home in which somebody has begun a deleted project anew, until
 * a file is met there: what that brings was deleted with the project, which that person has seen.
 * Files of other machines are asked about.
 */
export const BEGUN_KEY = `${OWN_METADATA_PREFIX}begun`;

/**
 * Whether somebody wrote entries: memories, or metadata that are not the program's own. What was
 * read in manifests is written as metadata, too.
 */
export function isOfEntries({
  memoryKeys,
  metadataKeys,
}: Readonly<Record<"memoryKeys" | "metadataKeys", ReadonlySet<string>>>): boolean {
  if (memoryKeys.size > 0) return true;
  if (metadataKeys.has(DERIVED_KEY)) return false;
  return [...metadataKeys].some((key) => !key.startsWith(OWN_METADATA_PREFIX));
}
