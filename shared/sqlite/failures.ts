import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
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
  const isRefused = /^SQLITE_(READONLY|CANTOPEN|IOERR)/.test(code);
  if (code === "EROFS" || (isRefused && place !== undefined && isReadOnly(place))) {
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

/** Whether a system call failed because its disk takes nothing: it is full, or read-only. */
export function isNoRoom(thrown: unknown): boolean {
  return /^(ENOSPC|EDQUOT|EFBIG|EROFS)$/.test(codeOf(thrown));
}

/** SQLite tells a disk that can only be read from missing rights by nothing. */
function isReadOnly(place: string): boolean {
  const isSo = (path: string) => {
    try {
      accessSync(path, constants.W_OK);
      return false;
    } catch (thrown) {
      return codeOf(thrown) === "EROFS";
    }
  };
  // The file may not be there yet.
  return isSo(place) || isSo(dirname(place));
}

/**
 * The message for an error that nobody foresaw. `place`: the folder that SQLite wrote in, because
 * its errors name no file, while those of system calls do.
 */
export function unforeseen(thrown: unknown, place?: string): string {
  const path = pathOf(thrown);
  const isOfDisk = isNoRoom(thrown) || codeOf(thrown).startsWith("SQLITE_");
  const sentence =
    path === undefined || isOfDisk ? storageFailure(thrown, path ?? place) : undefined;
  return sentence ?? messageOf(thrown);
}

function pathOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error && "path" in thrown)) return undefined;
  return typeof thrown.path === "string" ? thrown.path : undefined;
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}
