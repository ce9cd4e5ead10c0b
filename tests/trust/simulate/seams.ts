import { join } from "node:path";
import type { Replacement } from "./replacement.ts";

const DISK = join(import.meta.dir, "disk");

function importedFrom(file: string, from: string, to: string): Replacement {
  return { file, from: `"${from}"`, to: JSON.stringify(join(DISK, to)) };
}

/** Where the program reaches for the operating system, and what it gets instead. */
export const SEAMS: readonly Replacement[] = [
  importedFrom("shared/sqlite/database.ts", "./connect-bun.ts", "connect.ts"),
  importedFrom("daemon/sources/begun-write.ts", "node:fs/promises", "fs-promises.ts"),
  importedFrom("daemon/sources/begun-write.ts", "./hold-alone.ts", "fs.ts"),
  importedFrom("daemon/sources/flush-folder.ts", "node:fs/promises", "fs-promises.ts"),
  importedFrom("daemon/sources/folder-place.ts", "node:fs/promises", "fs-promises.ts"),
  importedFrom("daemon/sources/read-file.ts", "node:fs/promises", "fs-promises.ts"),
  importedFrom("daemon/sources/twin-file.ts", "node:fs/promises", "fs-promises.ts"),
  importedFrom("daemon/sources/twin-file.ts", "node:fs", "fs.ts"),
  importedFrom("daemon/sources/twin-file.ts", "./file-attributes.ts", "fs.ts"),
  importedFrom("daemon/sources/working-tree.ts", "node:fs/promises", "fs-promises.ts"),
  importedFrom("daemon/sources/write-file.ts", "node:fs/promises", "fs-promises.ts"),
  importedFrom("daemon/sources/write-file.ts", "node:fs", "fs.ts"),
  importedFrom("daemon/sources/write-file.ts", "./swap-names.ts", "fs.ts"),
  importedFrom("daemon/sources/write-in-place.ts", "node:fs/promises", "fs-promises.ts"),
  importedFrom("daemon/sources/write-in-place.ts", "node:fs", "fs.ts"),
  importedFrom("daemon/sources/write-in-place.ts", "./hold-alone.ts", "fs.ts"),
];
