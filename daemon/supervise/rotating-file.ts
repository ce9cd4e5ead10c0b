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

/** The present file and those before it together are this many times this large at most. */
const LOG_BYTES_MAX = 4 * 1024 * 1024;
export const LOG_FILES_MAX = 4;

const PRIVATE_FILE = 0o600;

/** The files of a log at `path`, oldest first; not all of them are there. */
export function logFiles(path: string): string[] {
  const numbered = Array.from({ length: LOG_FILES_MAX - 1 }, (_, at) => `${path}.${at + 1}`);
  return [...numbered.reverse(), path];
}

/** Opens a log for appending; nobody else may read it. */
export function openLogFile(path: string): number {
  const file = openSync(path, "a", PRIVATE_FILE);
  chmodSync(path, PRIVATE_FILE);
  return file;
}

/**
 * A log that is bounded: at `bytesMax` its text goes on as `<path>.1`, what was there as `.2` and
 * so on. The file itself is emptied, not renamed, for it is also the standard error of a daemon in
 * the background, and a crash belongs into the present file. A line is written when `write`
 * returns; one that can't be, on a full disk say, is dropped: it must not end the daemon.
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
      // There is nowhere to say so.
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
        // There are not so many yet.
      }
    }
    copyFileSync(this.#path, `${this.#path}.1`);
    chmodSync(`${this.#path}.1`, PRIVATE_FILE);
    ftruncateSync(this.#file);
  }
}
