import { join } from "node:path";
import { listFollowable } from "../../daemon/disk/followable-files.ts";
import { readFileAt } from "../../daemon/disk/read-file.ts";
import { fileStanding } from "../../daemon/git/git-state.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import { diffLines, hasWord } from "../../shared/replica/text/line-diff.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { count, firstLine } from "../screen/output.ts";

/** A file that git tracks, as it was before memsync was allowed to write it. */
export interface TrackedFile {
  readonly path: string;
  readonly content: string;
}

/** The folder's file that counts, if git tracks it. `named`: the one that is to count. */
export async function readTrackedFile(
  dir: string,
  named?: string,
): Promise<TrackedFile | undefined> {
  const found = await listFollowable(dir);
  const chosen = named === undefined ? found[0] : found.find(({ name }) => name === named);
  const read = chosen && (await readFileAt(dir, chosen.path));
  if (read?.kind !== "text") return undefined;
  const { kind } = await fileStanding(createGit(), join(dir, read.path));
  return kind === "tracked" ? { path: read.path, content: read.content } : undefined;
}

/**
 * What consent to write brings into a file at once: lines that the project's text has and the file
 * lacks, as others' or ones that were never committed. Undefined where there are none.
 */
export async function sayComingLines(
  env: Environment,
  project: string,
  { path, content }: TrackedFile,
): Promise<string | undefined> {
  const text = await withLocal(env, async (db) => db && (await readLocalText(db, project)));
  const [has, wanted] = [plainLines(content), plainLines(text?.value ?? "")];
  const there = new Set(has);
  const coming = diffLines(has, wanted)
    .flatMap(({ from, added }) => wanted.slice(from, from + added))
    .filter((line) => hasWord(line) && !there.has(line));
  const [first, ...others] = coming;
  if (first === undefined) return undefined;
  const more = others.length > 0 ? ", …" : "";
  const lines = count(coming.length, "line", "lines");
  return `the project's text has ${lines} that ${path} lacks: \`${firstLine(first)}\`${more}`;
}

/** Says what came into the file, once it is agreed to, and how that is undone. */
export async function cameShown(
  env: Environment,
  project: string,
  file: TrackedFile,
): Promise<string | undefined> {
  const coming = await sayComingLines(env, project, file);
  if (coming === undefined) return undefined;
  return (
    `${coming}; all of it comes into the file now, and \`git diff ${file.path}\` shows it. ` +
    "What you delete of it there is deleted on every machine; within a minute " +
    "`memsync conflicts` asks"
  );
}
