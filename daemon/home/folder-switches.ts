import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "./home.ts";

/**
 * What somebody turns on and off by itself, each by the command of this name: folders in which
 * assistants keep what they remember, or find what they are told.
 */
export const FOLDER_KINDS = ["auto-memory", "serena", "rules"] as const;
export type FolderKind = (typeof FOLDER_KINDS)[number];

/** What may be done with the folders of a kind. `off`: they are not even read. */
export type FolderMode = "off" | "read" | "write";

/** `off` until somebody says otherwise. */
export function folderMode(home: Pick<Home, "dir">, kind: FolderKind): FolderMode {
  try {
    const said = readFileSync(switchOf(home, kind), "utf8").trim();
    return said === "read" || said === "write" ? said : "off";
  } catch {
    return "off";
  }
}

/** Says so, for a daemon that runs as well, from its next look on. */
export function switchFolders(home: Pick<Home, "dir">, kind: FolderKind, to: FolderMode): void {
  if (to === "off") rmSync(switchOf(home, kind), { force: true });
  else writeFileSync(switchOf(home, kind), `${to}\n`);
}

/** A file in the home, named after the kind. */
function switchOf({ dir }: Pick<Home, "dir">, kind: FolderKind): string {
  return join(dir, kind);
}
