import { bytesAt } from "./file-commits.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** At most this many commits that are not checked out are read, newest first. */
const COMMITS_MAX = 20;
/** git's exit code where there is no such commit. */
const FATAL = 128;

/**
 * The texts of a file that git keeps outside of the checked-out history: those of the latest stash,
 * which has a second one for the index, and those of commits on other branches. At most some twenty
 * git processes; three where there are none.
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
