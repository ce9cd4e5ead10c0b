import { accessSync, constants, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../errors.ts";
import { fileFailure } from "../file-failures.ts";

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
  const isFailed = /^(SQLITE_IOERR|SQLITE_CANTOPEN|EIO)/.test(code);
  // SQLite tells a full disk only where it writes a page, and not where it maps a file.
  const room = isFailed && place !== undefined ? noRoomAt(place) : thrown;
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT|EFBIG)$/.test(codeOf(room))) {
    return `${disk} is full: make room and try again; nothing of this was saved`;
  }
  const isRefused = /^SQLITE_(READONLY|CANTOPEN|IOERR)/.test(code);
  if (code === "EROFS" || (isRefused && place !== undefined && isReadOnly(place))) {
    return `${disk} is mounted read-only: mount it for writing and try again; nothing was saved`;
  }
  if (/^(SQLITE_READONLY|SQLITE_PERM|SQLITE_AUTH|EACCES|EPERM)/.test(code)) {
    return `${disk} can't be written: mend its permissions and try again; nothing was saved`;
  }
  if (isFailed) {
    const reason = messageOf(thrown);
    return `${disk} failed (${reason}): see whether it is full or damaged; nothing was saved`;
  }
  return isDamage(thrown) ? "the database is damaged" : undefined;
}

/** Whether a system call failed because its disk takes nothing: it is full, or read-only. */
export function isNoRoom(thrown: unknown): boolean {
  return /^(ENOSPC|EDQUOT|EFBIG|EROFS)$/.test(codeOf(thrown));
}

const PROBE_BYTES = 64 * 1024;

/** The error with which a write beside `place`, or in it, fails for want of room, if one does. */
export function noRoomAt(place: string): unknown {
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  const probe = join(isFolder ? place : dirname(place), `.memsync-room-${process.pid}`);
  try {
    writeFileSync(probe, new Uint8Array(PROBE_BYTES), { mode: 0o600 });
    return undefined;
  } catch (thrown) {
    return isNoRoom(thrown) ? thrown : undefined;
  } finally {
    removeProbe(probe);
  }
}

function removeProbe(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // On a read-only disk nothing was made; removing it fails all the same.
  }
}

/** SQLite reports a read-only disk in the same way as missing rights. */
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
 * its errors name no file. Those of system calls do, but not where a disk is full: that is in
 * `place` only if there is no room there.
 */
export function unforeseen(thrown: unknown, place?: string): string {
  const path = pathOf(thrown);
  const isFull = isNoRoom(thrown);
  const isOfDisk = isFull || codeOf(thrown).startsWith("SQLITE_");
  const isElsewhere = isFull && place !== undefined && noRoomAt(place) === undefined;
  const known = path ?? (isElsewhere ? undefined : place);
  const sentence = path === undefined || isOfDisk ? storageFailure(thrown, known) : undefined;
  return sentence ?? messageOf(thrown);
}

/**
 * Why files could not be written, in words that follow a colon. `places`: where they were to be
 * written; the first that has no room is named.
 */
export function writeFailure(thrown: unknown, places: readonly string[]): string {
  const isOfDisk = isNoRoom(thrown) || codeOf(thrown).startsWith("SQLITE_");
  const full = places.find((each) => noRoomAt(each) !== undefined);
  return (isOfDisk && storageFailure(thrown, full ?? places[0])) || fileFailure(thrown);
}

function pathOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error && "path" in thrown)) return undefined;
  return typeof thrown.path === "string" ? thrown.path : undefined;
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}
