/** What a disk writes in one piece. */
const SECTOR = 512;
/** What a system writes in one piece, unless power goes. */
const PAGE = 4096;

/**
 * Whether a file is what a crash leaves that came while `intended` was written over `former`, and
 * not yet cut to its length: each sector is of one or the other, and neither is whole. A person's
 * text is that only by an accident.
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

/** A file that grows has whole pages more. */
function isLengthOf(length: number, former: number, intended: number): boolean {
  if (length === former || length === intended) return true;
  return length > former && length < intended && length % PAGE === 0;
}

/** What a disk has not written of a longer file reads as zeros. */
function partOf(text: Buffer, at: number, end: number): Buffer {
  return Buffer.concat([text.subarray(at, end)], end - at);
}
