import { bytesAt } from "./file-commits.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** At most this many commits that are not checked out are read, newest first. */
const COMMITS_MAX = 20;
const MS_PER_S = 1000;
/** git's exit code where there is no such commit. */
const FATAL = 128;

/** A text of a file, and the commit that has it. */
interface NamedText {
  readonly commit: string;
  readonly bytes: Buffer;
}

/**
 * The texts of a file that git keeps outside of the checked-out history: those of the latest stash,
 * which has a second one for the index, and those of commits on other branches. At most some twenty
 * git processes; three where there are none.
 */
export async function readKeptTexts(
  git: Git,
  file: PlacedFile,
  commit: string,
): Promise<readonly NamedText[]> {
  const { tree, pathInside } = file;
  const range = ["--full-history", "--branches", `^${commit}`, "--", pathInside];
  const asked = ["--literal-pathspecs", "rev-list", `--max-count=${COMMITS_MAX}`, ...range];
  const printed = await gitOutput(git, tree.root, { args: asked, absent: [FATAL] });
  const commits = String(printed ?? "").split("\n");
  const names = ["refs/stash", "refs/stash^2", ...commits.filter((line) => line !== "")];
  const texts = await Promise.all(
    names.map(async (name) => ({ commit: name, bytes: await bytesAt(git, file, name) })),
  );
  return texts.flatMap(({ commit, bytes }) => (bytes ? [{ commit, bytes }] : []));
}

/** What a commit or a stash was made from, and when. */
interface Making {
  /** The file's text in the commit before; undefined where there was none. */
  readonly before: Buffer | undefined;
  /** In milliseconds since the Unix epoch, whole seconds. */
  readonly at: number;
}

/** How a commit or a stash came to its text of a file. Two git processes. */
export async function readMaking(git: Git, file: PlacedFile, commit: string): Promise<Making> {
  const asked = ["log", "-1", "--no-show-signature", "--format=%ct", commit, "--"];
  const printed = await gitOutput(git, file.tree.root, { args: asked, absent: [FATAL] });
  const before = await bytesAt(git, file, `${commit}^`);
  return { before, at: Number(String(printed ?? "0")) * MS_PER_S };
}
