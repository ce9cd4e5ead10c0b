import { join } from "node:path";
import type { Replacement } from "./replacement.ts";

const DISK = join(import.meta.dir, "disk");

function importedFrom(file: string, from: string, to: string): Replacement {
  return { file, from: `"${from}"`, to: JSON.stringify(join(DISK, to)) };
}

/** They work with people's files and folders, and with git's. */
const FILES = [
  "daemon/links/identify-folder.ts",
  "daemon/files/saves/begun-write.ts",
  "daemon/links/find-moved.ts",
  "daemon/disk/flush-folder.ts",
  "daemon/disk/followable-files.ts",
  "daemon/files/names/folder-place.ts",
  "daemon/git/git-operation.ts",
  "daemon/git/git-refs.ts",
  "daemon/disk/read-file.ts",
  "daemon/git/read-tracked-text.ts",
  "daemon/git/tracked-entries.ts",
  "daemon/git/tree-making.ts",
  "daemon/disk/twin-file.ts",
  "daemon/git/working-tree.ts",
  "daemon/disk/write-file.ts",
  "daemon/disk/write-in-place.ts",
];

/** Logs are cut short after a few rows already, so that a run of a minute sees it. */
const SHORT_LOGS: readonly Replacement[] = [
  { from: "const ROWS_PER_SNAPSHOT = 256;", to: "const ROWS_PER_SNAPSHOT = 12;" },
  { from: "const ROWS_KEPT = 1024;", to: "const ROWS_KEPT = 8;" },
  {
    file: "shared/replica/log/large-logs.ts",
    from: "export const ROW_BYTES_KEPT_MIN = 128 * 1024;",
    to: "export const ROW_BYTES_KEPT_MIN = 2 * 1024;",
  },
].map((each) => ({ file: "shared/replica/store/open-document.ts", ...each }));

/** Where the program reaches for the operating system, and what it gets instead. */
export const SEAMS: readonly Replacement[] = [
  importedFrom("shared/sqlite/database.ts", "./connect-bun.ts", "connect.ts"),
  ...FILES.map((file) => importedFrom(file, "node:fs/promises", "fs-promises.ts")),
  importedFrom("daemon/disk/write-file.ts", "node:fs", "fs.ts"),
  importedFrom("daemon/disk/write-file.ts", "./swap-names.ts", "fs.ts"),
  importedFrom("daemon/files/saves/begun-write.ts", "../../disk/hold-alone.ts", "fs.ts"),
  importedFrom("daemon/disk/twin-file.ts", "node:fs", "fs.ts"),
  importedFrom("daemon/disk/twin-file.ts", "./file-attributes.ts", "fs.ts"),
  importedFrom("daemon/disk/write-in-place.ts", "node:fs", "fs.ts"),
  importedFrom("daemon/disk/write-in-place.ts", "./hold-alone.ts", "fs.ts"),
  importedFrom("daemon/remotes/open-remotes.ts", "../service/http-service.ts", "http-service.ts"),
  ...SHORT_LOGS,
];
