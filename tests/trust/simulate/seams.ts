import { join } from "node:path";
import type { Replacement } from "./replacement.ts";

const DISK = join(import.meta.dir, "disk");

function importedFrom(file: string, from: string, to: string): Replacement {
  return { file, from: `"${from}"`, to: JSON.stringify(join(DISK, to)) };
}

/** They work with people's files and folders, and with git's. */
const FILES = [
  "daemon/linked-folders.ts",
  "daemon/sources/begun-write.ts",
  "daemon/sources/find-moved.ts",
  "daemon/sources/flush-folder.ts",
  "daemon/sources/followable-files.ts",
  "daemon/sources/folder-place.ts",
  "daemon/sources/git-operation.ts",
  "daemon/sources/git-refs.ts",
  "daemon/sources/read-file.ts",
  "daemon/sources/read-tracked-text.ts",
  "daemon/sources/tracked-entries.ts",
  "daemon/sources/tree-making.ts",
  "daemon/sources/twin-file.ts",
  "daemon/sources/working-tree.ts",
  "daemon/sources/write-file.ts",
  "daemon/sources/write-in-place.ts",
];

/** Logs are cut short after a few rows already, so that a run of a minute sees it. */
const SHORT_LOGS: readonly Replacement[] = [
  { from: "const ROWS_PER_SNAPSHOT = 256;", to: "const ROWS_PER_SNAPSHOT = 12;" },
  { from: "const ROWS_KEPT = 1024;", to: "const ROWS_KEPT = 8;" },
  {
    from: "export const ROW_BYTES_KEPT_MIN = 128 * 1024;",
    to: "export const ROW_BYTES_KEPT_MIN = 2 * 1024;",
  },
].map((each) => ({ file: "shared/replica/open-document.ts", ...each }));

/** Where the program reaches for the operating system, and what it gets instead. */
export const SEAMS: readonly Replacement[] = [
  importedFrom("shared/sqlite/database.ts", "./connect-bun.ts", "connect.ts"),
  ...FILES.map((file) => importedFrom(file, "node:fs/promises", "fs-promises.ts")),
  importedFrom("daemon/sources/write-file.ts", "node:fs", "fs.ts"),
  importedFrom("daemon/sources/write-file.ts", "./swap-names.ts", "fs.ts"),
  importedFrom("daemon/sources/begun-write.ts", "./hold-alone.ts", "fs.ts"),
  importedFrom("daemon/sources/twin-file.ts", "node:fs", "fs.ts"),
  importedFrom("daemon/sources/twin-file.ts", "./file-attributes.ts", "fs.ts"),
  importedFrom("daemon/sources/write-in-place.ts", "node:fs", "fs.ts"),
  importedFrom("daemon/sources/write-in-place.ts", "./hold-alone.ts", "fs.ts"),
  importedFrom("daemon/remotes/open-remotes.ts", "../sync/http-service.ts", "http-service.ts"),
  ...SHORT_LOGS,
];
