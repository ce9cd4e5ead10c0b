import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Real histories; where they come from is said in the folder's own README. */
const REAL = join(import.meta.dir, "..", "..", "..", "shared", "data");

/** Whether the real data lies beside this checkout. */
export const HAS_REAL_DATA = existsSync(REAL);

/** The real data, or elsewhere its small form: fewer and shorter files of the kind, made up. */
export const DATA_FOLDER = HAS_REAL_DATA ? REAL : join(import.meta.dir, "..", "data");

/** Successive versions of one instruction file, oldest first. */
export interface FileHistory {
  readonly name: string;
  readonly versions: readonly string[];
}

/** One change to a project's memories. */
export type MemoryChange =
  | { readonly op: "set"; readonly key: string; readonly value: string }
  | { readonly op: "delete"; readonly key: string };

/** The changes of one commit to the memories that a project has in its folder. */
export type MemoryCommit = readonly MemoryChange[];

/** A real project's history, or its small form, which is made up; oldest first. */
export function memoryCommits(form: "real" | "small"): MemoryCommit[] {
  const small = join(import.meta.dir, "..", "data", "serena", "small.jsonl");
  const path = form === "small" ? small : join(REAL, "memories", "oraios+serena.jsonl");
  const commits = new Map<string, MemoryChange[]>();
  for (const change of linesOf<MemoryChange & { readonly commit: string }>(path)) {
    commits.set(change.commit, [...(commits.get(change.commit) ?? []), change]);
  }
  return [...commits.values()];
}

/** Every history there is. */
export function fileHistories(): FileHistory[] {
  const folder = join(DATA_FOLDER, "instruction-files");
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  if (names.length === 0) throw new Error(`${folder} holds no history`);
  return names.sort().map((name) => ({
    name,
    versions: linesOf<{ content: string }>(join(folder, name)).map(({ content }) => content),
  }));
}

/** One history by its file's name; any of the small form, which has none of the real ones. */
export function fileHistory(name: string): FileHistory {
  const found = fileHistories().find((history) => !HAS_REAL_DATA || history.name === name);
  if (found) return found;
  throw new Error(`there is no history ${name}`);
}

/** The changes to one project's memories, in order. */
export function memoryChanges(): MemoryChange[] {
  const folder = join(DATA_FOLDER, "memories");
  const names = readdirSync(folder).sort();
  return names.flatMap((name) => linesOf<MemoryChange>(join(folder, name)));
}

function linesOf<Line>(path: string): Line[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Line);
}
