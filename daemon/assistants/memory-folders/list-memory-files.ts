import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import type { Reason } from "../../../shared/reasons.ts";
import { isMissing } from "../../disk/read-file.ts";
import type { FolderFormat } from "../folders/folder-format.ts";

/**
 * More files than this are no notes: a person has put something else there. What comes from
 * elsewhere fills no folder over it.
 */
export const FILES_MAX = 1000;
/** At most this many entries are counted. */
const ENTRIES_MAX = 20_000;

/** What is in a folder of memories, by its path in it, with `/` between names, in order. */
export type ListedFolder =
  | {
      readonly kind: "names";
      /** By their names these are files of the folder, in whatever case. They may be else. */
      readonly names: readonly string[];
      /** Symbolic links without the ending of its files; nobody looks where they lead. */
      readonly links: readonly string[];
    }
  | { readonly kind: "problem"; readonly why: Reason };

/**
 * Lists the files of a folder, which need not exist. Follows no link. Names with a dot before them
 * are temporary files, memsync's own as well.
 */
export async function listMemoryFiles(path: string, format: FolderFormat): Promise<ListedFolder> {
  const names: string[] = [];
  const links: string[] = [];
  const waiting = [""];
  for (let left = ENTRIES_MAX; waiting.length > 0 && left > 0; ) {
    const below = waiting.pop() ?? "";
    const entries = await entriesOf(join(path, below));
    if ("code" in entries) return { kind: "problem", why: entries };
    for (const entry of entries) {
      left -= 1;
      if (entry.name.startsWith(".")) continue;
      const name = below === "" ? entry.name : `${below}/${entry.name}`;
      const isNamedSo = name.toLowerCase().endsWith(format.ending);
      if (format.isDeep && entry.isDirectory()) waiting.push(name);
      else if (isNamedSo) names.push(name);
      else if (format.isDeep && entry.isSymbolicLink()) links.push(name);
    }
  }
  if (names.length > FILES_MAX) {
    return { kind: "problem", why: { code: "memory-too-many", files: names.length } };
  }
  return { kind: "names", names: names.sort(), links: links.sort() };
}

async function entriesOf(folder: string): Promise<readonly Dirent[] | Reason> {
  return await readdir(folder, { withFileTypes: true }).catch((thrown) => {
    if (isMissing(thrown)) return [];
    return { code: "unreadable", said: messageOf(thrown) } as const;
  });
}
