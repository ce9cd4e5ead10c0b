/** Keys of metadata that begin so are the program's own and never go over the wire. */
export const OWN_METADATA_PREFIX = "memsync.";

/** Metadata whose keys begin so are conflicts of the text; the rest of a key is its id. */
export const TEXT_CONFLICT_PREFIX = `${OWN_METADATA_PREFIX}conflict/`;
