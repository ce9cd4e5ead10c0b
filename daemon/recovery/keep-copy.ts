import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import { PRIVATE_FILE } from "../../shared/durable-files.ts";

/**
 * Puts a copy of what a database has beside it, in place of the former copy. It is on the disk
 * before it has its name: what damages a database, as a power cut may, leaves one of the two whole.
 */
export function keepCopy(path: string, content: string | Uint8Array): void {
  const partial = `${path}.partial`;
  const file = openSync(partial, "w", PRIVATE_FILE);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(partial, path);
}
