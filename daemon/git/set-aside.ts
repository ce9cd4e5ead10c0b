import { bytesAt } from "./file-commits.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** So many commits that are not checked out are looked at, the latest first. */
const COMMITS_MAX = 20;
/** There is no such commit. */
const FATAL = 128;

/**
 * The texts of a file that git keeps where the checked-out commit does not lead to: those of the
 * latest stash, which has one for the index besides, and of commits on other branches. Some twenty
 * git processes at most; three where there are none.
 */
export async function readKeptTexts(
  git: Git,
  file: PlacedFile,
  commit: string,
): Promise<readonly Buffer[]> {
  const { tree, pathInside } = file;
  const range = ["--full-history", "--branches", `^${commit}`, "--", pathInside];
  const asked = ["--literal-pathspecs", "rev-list", `--max-count=${COMMITS_MAX}`, ...range];
  const printed = await gitOutput(git, tree.root, { args: asked, absent: [FATAL] });
  const commits = String(printed ?? "").split("\n");
  const names = ["refs/stash", "refs/stash^2", ...commits.filter((line) => line !== "")];
  const texts = await Promise.all(names.map((name) => bytesAt(git, file, name)));
  return texts.filter((text) => text !== undefined);
}
