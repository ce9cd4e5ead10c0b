import {
  chmodSync,
  closeSync,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  writeSync,
} from "node:fs";

/** The size at which a log begins a new file. */
const LOG_BYTES_MAX = 4 * 1024 * 1024;
/** The current file and former ones. */
export const LOG_FILES_MAX = 4;

const PRIVATE_FILE = 0o600;

/** The possible files of a log at `path`, oldest first. Not all of them need exist. */
export function logFiles(path: string): string[] {
  const numbered = Array.from({ length: LOG_FILES_MAX - 1 }, (_, at) => `${path}.${at + 1}`);
  return [...numbered.reverse(), path];
}

/** Opens a log for appending, readable by its owner only. */
export function openLogFile(path: string): number {
  const file = openSync(path, "a", PRIVATE_FILE);
  chmodSync(path, PRIVATE_FILE);
  return file;
}

/**
 * A log of bounded size: at `bytesMax` its text moves to `<path>.1`, the former `.1` to `.2`, and
 * so on. The file itself is emptied, not renamed, because it is also the standard error of a daemon
 * in the background, and a crash has to be in the current file. A line is written when `write`
 * returns. A line that can't be written, as on a full disk, is dropped: it must not end the daemon.
 */
export class RotatingFile {
  readonly #path: string;
  readonly #bytesMax: number;
  readonly #file: number;

  constructor(path: string, bytesMax = LOG_BYTES_MAX) {
    this.#path = path;
    this.#bytesMax = bytesMax;
    this.#file = openLogFile(path);
  }

  write(line: string): void {
    try {
      const { size } = fstatSync(this.#file);
      if (size > 0 && size + Buffer.byteLength(line) > this.#bytesMax) this.#rotate();
      writeSync(this.#file, line);
    } catch {
      // There is nowhere to report it.
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #rotate(): void {
    const files = logFiles(this.#path);
    for (let at = 0; at < files.length - 2; at++) {
      const [older = "", newer = ""] = files.slice(at, at + 2);
      try {
        renameSync(newer, older);
      } catch {
        // There are not that many files yet.
      }
    }
    copyFileSync(this.#path, `${this.#path}.1`);
    chmodSync(`${this.#path}.1`, PRIVATE_FILE);
    ftruncateSync(this.#file);
  }
}
