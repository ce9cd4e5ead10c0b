import { messageOf } from "../errors.ts";

/** Whether SQLite found the file itself to be damaged, or to be no database at all. */
export function isDamage(thrown: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(thrown));
}

/** Whether a statement names a table or a column that is not there. It has no code of its own. */
export function isUnknownName(thrown: unknown): boolean {
  return /^no such (table|column)/.test(messageOf(thrown));
}

/** Whether a row is none that its table takes. */
export function isMisfitRow(thrown: unknown): boolean {
  return /^SQLITE_(CONSTRAINT|MISMATCH)/.test(codeOf(thrown));
}

/**
 * What to tell a user of something thrown by the disk or by SQLite for the disk's sake: what is
 * wrong and what to do, in one sentence, and where, if that is known and may be said. Undefined for
 * anything else.
 */
export function storageFailure(thrown: unknown, place?: string): string | undefined {
  const code = codeOf(thrown);
  const disk = place === undefined ? "the disk" : `the disk of ${place}`;
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT|EFBIG)$/.test(code)) {
    return `${disk} is full: make room and try again; nothing of this was saved`;
  }
  if (/^(SQLITE_READONLY|SQLITE_PERM|SQLITE_AUTH|EROFS|EACCES|EPERM)/.test(code)) {
    return `${disk} can't be written: mend its permissions and try again; nothing was saved`;
  }
  if (/^(SQLITE_IOERR|SQLITE_CANTOPEN|EIO)/.test(code)) {
    const reason = messageOf(thrown);
    return `${disk} failed (${reason}): see whether it is full or damaged; nothing was saved`;
  }
  return isDamage(thrown) ? "the database is damaged; nothing of this was saved" : undefined;
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}
