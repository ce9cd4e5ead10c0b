import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** git's exit code for an unknown commit. */
const FATAL = 128;
/** At most this many commits between two are listed, the newest ones. */
const ON_THE_WAY_MAX = 5000;

/** Commits that changed a file, as `git rev-list` finds them from `commits`; newest first. */
export async function changesOf(
  git: Git,
  { tree, pathInside }: PlacedFile,
  { commits, countMax }: { readonly commits: readonly string[]; readonly countMax: number },
): Promise<string[]> {
  const asked = ["--literal-pathspecs", "rev-list", `--max-count=${countMax}`, ...commits, "--"];
  const printed = await gitOutput(git, tree.root, {
    args: [...asked, pathInside],
    absent: [FATAL],
  });
  return String(printed ?? "")
    .split("\n")
    .filter((line) => line !== "");
}

/** Whether git still has a commit, which it may have deleted once nothing named it any more. */
export async function hasCommit(git: Git, { tree }: PlacedFile, commit: string): Promise<boolean> {
  const asked = ["cat-file", "-e", `${commit}^{commit}`];
  return (await gitOutput(git, tree.root, { args: asked, absent: [1, FATAL] })) !== undefined;
}

/** The commits on the ways from one to others that descend from it, without the first. */
export async function commitsFrom(
  git: Git,
  { tree }: PlacedFile,
  { one, others }: { readonly one: string; readonly others: readonly string[] },
): Promise<string[]> {
  const asked = [
    "rev-list",
    "--ancestry-path",
    `--max-count=${ON_THE_WAY_MAX}`,
    ...others,
    `^${one}`,
  ];
  const printed = await gitOutput(git, tree.root, { args: [...asked, "--"], absent: [FATAL] });
  return String(printed ?? "")
    .split("\n")
    .filter((line) => line !== "");
}

/** False also where a shallow clone does not reach that far back. */
export async function isAncestor(
  git: Git,
  { tree }: PlacedFile,
  { one, other }: { readonly one: string; readonly other: string },
): Promise<boolean> {
  const asked = ["merge-base", "--is-ancestor", one, other];
  return (await gitOutput(git, tree.root, { args: asked, absent: [1, FATAL] })) !== undefined;
}

/** The last commits of both histories; none where they have none, as in a shallow clone. */
export async function mergeBasesOf(
  git: Git,
  { tree }: PlacedFile,
  { one, other }: { readonly one: string; readonly other: string },
): Promise<string[]> {
  const asked = ["merge-base", "--all", one, other];
  const printed = await gitOutput(git, tree.root, { args: asked, absent: [1, FATAL] });
  return String(printed ?? "")
    .split("\n")
    .filter((line) => line !== "");
}

/**
 * A file's bytes in a commit, with the repository's line endings; undefined where it is not there.
 */
export async function bytesAt(
  git: Git,
  { tree, pathInside }: PlacedFile,
  commit: string,
): Promise<Buffer | undefined> {
  return await gitOutput(git, tree.root, {
    args: ["cat-file", "blob", `${commit}:${pathInside}`],
    absent: [FATAL],
  });
}
