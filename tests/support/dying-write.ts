import { writeSync as write } from "node:fs";

export { constants, fstatSync, ftruncateSync, lstatSync, readSync } from "node:fs";

/** A kill comes when so many bytes of a write are in the file. */
const BYTES = Number(process.env.KILLED_AFTER_BYTES);

/** Stands for the one of `node:fs` in a process that is killed in the middle of it. */
export function writeSync(file: number, content: Buffer, offset: number, length: number): number {
  write(file, content, offset, Math.min(length, BYTES), 0);
  process.kill(process.pid, "SIGKILL");
  return length;
}
