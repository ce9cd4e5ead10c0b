import { messageOf } from "../errors.ts";

/** Whether SQLite found the file itself to be damaged, or to be no database at all. */
export function isDamage(thrown: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(thrown));
}

/** Whether a statement names an unknown table or column. SQLite has no code for that. */
export function isUnknownName(thrown: unknown): boolean {
  return /^no such (table|column)/.test(messageOf(thrown));
}

/** Whether a table does not accept a row. */
export function isMisfitRow(thrown: unknown): boolean {
  return /^SQLITE_(CONSTRAINT|MISMATCH)/.test(codeOf(thrown));
}

/**
 * The message about an error of the disk, or of SQLite because of the disk: what is wrong and what
 * to do, in one sentence, and where, if that is known and may be said. Undefined for any other
 * error.
 */
export function storageFailure(thrown: unknown, place?: string): string | undefined {
  const code = codeOf(thrown);
  const disk = place === undefined ? "the disk" : `the disk of ${place}`;
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT|EFBIG)$/.test(code)) {
    return `${disk} is full: make room and try again; nothing of this was saved`;
  }
  if (code === "EROFS") {
    return `${disk} is mounted read-only: mount it for writing and try again; nothing was saved`;
  }
  if (/^(SQLITE_READONLY|SQLITE_PERM|SQLITE_AUTH|EACCES|EPERM)/.test(code)) {
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
