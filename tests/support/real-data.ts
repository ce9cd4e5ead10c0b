import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Real histories; where they come from is said in the folder's own README. */
const FOLDER = join(import.meta.dir, "..", "..", "..", "shared", "data");

/** Whether the data lies beside this checkout; elsewhere what replays it is skipped, visibly. */
export const HAS_REAL_DATA = existsSync(FOLDER);

/** Successive versions of one instruction file, oldest first. */
export interface FileHistory {
  readonly name: string;
  readonly versions: readonly string[];
}

/** One change to a project's memories. */
export type MemoryChange =
  | { readonly op: "set"; readonly key: string; readonly value: string }
  | { readonly op: "delete"; readonly key: string };

/** Every history there is; none where the data is not beside this checkout. */
export function fileHistories(): FileHistory[] {
  if (!HAS_REAL_DATA) return [];
  const folder = join(FOLDER, "instruction-files");
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  if (names.length === 0) throw new Error(`${folder} holds no history`);
  return names.sort().map((name) => ({
    name,
    versions: linesOf<{ content: string }>(join(folder, name)).map(({ content }) => content),
  }));
}

/** One history by its file's name. */
export function fileHistory(name: string): FileHistory {
  if (!HAS_REAL_DATA) return { name, versions: [] };
  const found = fileHistories().find((history) => history.name === name);
  if (found) return found;
  throw new Error(`there is no history ${name}`);
}

/** The changes to one project's memories, in order. */
export function memoryChanges(): MemoryChange[] {
  if (!HAS_REAL_DATA) return [];
  return linesOf<MemoryChange>(join(FOLDER, "memories", "oraios+serena.jsonl"));
}

function linesOf<Line>(path: string): Line[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Line);
}
