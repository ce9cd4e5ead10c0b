/** A disk writes this many bytes in one piece. */
const SECTOR = 512;
/** A system writes this many bytes in one piece, unless the power fails. */
const PAGE = 4096;

/**
 * Whether a file is a mix that a crash left while `intended` was being written over `former`,
 * before the file was cut to its length: each sector is from one of them, and neither is complete.
 * A person's text matches this only by accident.
 */
export function isMixOf(bytes: Buffer, former: Buffer, intended: Buffer): boolean {
  if (bytes.equals(former) || bytes.equals(intended)) return false;
  if (!isLengthOf(bytes.length, former.length, intended.length)) return false;
  const texts = [former, intended, Buffer.concat([intended, former.subarray(intended.length)])];
  for (let at = 0; at < bytes.length; at += SECTOR) {
    const end = Math.min(at + SECTOR, bytes.length);
    const sector = bytes.subarray(at, end);
    if (!texts.some((text) => sector.equals(partOf(text, at, end)))) return false;
  }
  return true;
}

/** A growing file is longer by whole pages. */
function isLengthOf(length: number, former: number, intended: number): boolean {
  if (length === former || length === intended) return true;
  return length > former && length < intended && length % PAGE === 0;
}

/** Parts of a longer file that the disk has not written yet read as zeros. */
function partOf(text: Buffer, at: number, end: number): Buffer {
  return Buffer.concat([text.subarray(at, end)], end - at);
}
