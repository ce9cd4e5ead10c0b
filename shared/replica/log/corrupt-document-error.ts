/** A part of a stored document does not match its checksum: the disk changed it. */
export class CorruptDocumentError extends Error {
  override readonly name = "CorruptDocumentError";
}
