import { createHash } from "node:crypto";
import { type Git, gitOutput } from "./run-git.ts";
import { findTreeEntry, readIndexEntry } from "./tracked-entries.ts";
import type { PlacedFile } from "./working-tree.ts";

/** Names by which git may know a text: gitformat-pack(5), hash-function-transition(7). */
const HASHES = ["sha1", "sha256"] as const;

const MS_PER_S = 1000;
/** git's exit code for a name that can't be one of its repository's. */
const FATAL = 128;

/**
 * Whether a file of this name has had just this text in a commit that git keeps, or in a stash:
 * also one that only a reflog knows. What was added and never committed is nothing that git keeps.
 * With `before` only commits from seconds before that moment count. False also where git can't say.
 * Up to four git processes.
 */
export async function isInGit(
  git: Git,
  folder: string,
  { name, text, before }: NamedText,
): Promise<boolean> {
  // git knows whole seconds, and takes this one with it.
  const until = before === undefined ? [] : [`--until=${Math.floor(before / MS_PER_S) - 1}`];
  for (const each of blobNames(text)) {
    const blob = `--find-object=${each}`;
    // A stash is a merge, of which git says nothing without `-m`.
    const kept = ["log", "--all", "--reflog", "-m", "-1", "--format=%H"];
    const args = [...kept, ...until, blob, "--", name];
    const found = await git(folder, ["--literal-pathspecs", ...args]);
    if (found.kind === "done" && found.stdout.length > 0) return true;
  }
  return false;
}

/**
 * Whether git has this text at all, of whatever file: what nobody has committed or staged it has
 * not, so no history need be searched for it. Up to four git processes.
 */
export async function hasBlob(git: Git, { tree }: PlacedFile, text: string): Promise<boolean> {
  for (const name of blobNames(text)) {
    const asked = { args: ["cat-file", "-e", name], absent: [1, FATAL] };
    if ((await gitOutput(git, tree.root, asked)) !== undefined) return true;
  }
  return false;
}

/** Whether just this text is staged, as it is after git has written the file. One git process. */
export async function isStaged(git: Git, file: PlacedFile, text: string): Promise<boolean> {
  const { object } = await readIndexEntry(git, file);
  return object !== undefined && blobNames(text).includes(object);
}

/**
 * Whether git has written the file as it is, with just this text: the index then knows the file by
 * its times, which a program that writes the same text changes. Two git processes.
 */
export async function isWrittenByGit(git: Git, file: PlacedFile, text: string): Promise<boolean> {
  if (!(await isStaged(git, file, text))) return false;
  const pathspec = `:(top,literal,icase)${file.pathInside}`;
  const args = ["diff-files", "--name-only", "--", pathspec];
  return (await gitOutput(git, file.tree.root, { args }))?.length === 0;
}

/** A file of a folder, by its path from there, and a text of it. */
interface NamedText {
  readonly name: string;
  readonly text: string;
  /** In milliseconds since the Unix epoch. */
  readonly before?: number | undefined;
}

/** Whether a file has just this text in a commit. One git process. */
export async function isCommitted(
  git: Git,
  file: PlacedFile,
  { commit, text }: { readonly commit: string; readonly text: string },
): Promise<boolean> {
  const entry = await findTreeEntry(git, file, commit);
  return entry !== undefined && blobNames(text).includes(entry.object);
}

/** Whether git's name of a text is that of this one. */
export function isBlobOf(object: string, text: string): boolean {
  return blobNames(text).includes(object);
}

/** git may have stored it with line feeds only. */
function blobNames(text: string): string[] {
  const forms = [...new Set([text, text.replaceAll("\r\n", "\n")])];
  return forms.flatMap((form) => HASHES.map((hash) => blobName(hash, form)));
}

function blobName(hash: (typeof HASHES)[number], text: string): string {
  const bytes = Buffer.from(text);
  return createHash(hash).update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
