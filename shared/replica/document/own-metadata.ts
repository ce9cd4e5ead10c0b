/** Keys of metadata that begin so are the program's own and never go over the wire. */
export const OWN_METADATA_PREFIX = "memsync.";

/** Metadata whose keys begin so are conflicts of the text; the rest of a key is its id. */
export const TEXT_CONFLICT_PREFIX = `${OWN_METADATA_PREFIX}conflict/`;

/**
 * Metadata whose keys begin so say when a machine, the rest of the key, last changed the text by
 * deletions alone: no character of such a change tells whose it is.
 */
export const TRIMMED_PREFIX = `${OWN_METADATA_PREFIX}trimmed/`;

/** Metadata whose keys begin so names commits whose change of the followed file is in the text. */
export const COMMIT_PREFIX = `${OWN_METADATA_PREFIX}commit/`;
