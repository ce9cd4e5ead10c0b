import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DATA_FOLDER } from "../support/real-data.ts";

/** Two versions that grew from one base at the same time. */
export interface Fork {
  readonly name: string;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/** The successive versions of one file, oldest first. */
export interface History {
  readonly name: string;
  readonly versions: readonly string[];
}

/** Every history. */
export function readHistories(): History[] {
  return listFiles("instruction-files").map((name) => {
    const versions = readRecords("instruction-files", name).map(({ content }) => content ?? "");
    return { name: name.replace(".jsonl", ""), versions };
  });
}

/**
 * Every real merge, and of each history each three neighbouring versions: the first as base of the
 * other two, and the second as base of the first and third.
 */
export function readForks(): Fork[] {
  const forks = listFiles("merges").flatMap((file) =>
    readRecords("merges", file).map(({ merge = "", base = "", ours = "", theirs = "" }) => {
      return { name: `merge ${merge.slice(0, 7)}`, base, ours, theirs };
    }),
  );
  for (const { name, versions } of readHistories()) {
    for (let i = 0; i + 2 < versions.length; i++) {
      const [first = "", second = "", third = ""] = versions.slice(i, i + 3);
      forks.push({ name: `${name} ${i} from first`, base: first, ours: second, theirs: third });
      forks.push({ name: `${name} ${i} from second`, base: second, ours: first, theirs: third });
    }
  }
  return forks;
}

function listFiles(folder: string): string[] {
  return readdirSync(join(DATA_FOLDER, folder)).sort();
}

function readRecords(folder: string, file: string): Record<string, string | undefined>[] {
  const lines = readFileSync(join(DATA_FOLDER, folder, file), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line));
}
