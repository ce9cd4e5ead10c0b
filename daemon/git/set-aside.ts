import { bytesAt } from "./file-commits.ts";
import { BRANCHES } from "./git-refs.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** At most this many commits that are not checked out are read, newest first. */
const COMMITS_MAX = 20;
/** At most this many branches and stashes are noted. */
const NOTED_MAX = 300;
/** git's exit code where there is no such commit. */
const FATAL = 128;

const STASH = "refs/stash";

/**
 * The commits at the tips of the branches, and all stashes. What git keeps beyond these was made
 * later: an order that no clock can change. Two git processes.
 */
export async function listKept(git: Git, { tree }: PlacedFile): Promise<readonly string[]> {
  const ask = async (...args: string[]) =>
    String((await gitOutput(git, tree.root, { args, absent: [FATAL] })) ?? "").split("\n");
  const tips = await ask("for-each-ref", "--format=%(objectname)", BRANCHES);
  const stashes = await ask("log", "-g", "--format=%H", STASH, "--");
  const names = new Set([...stashes, ...tips].filter((line) => line !== ""));
  return [...names].slice(0, NOTED_MAX);
}

/** A text of a file that git keeps outside of the checked-out history. */
interface KeptText {
  readonly commit: string;
  readonly bytes: Buffer;
  /** The commit was made, or came here, after the others that were noted. */
  readonly isLater: boolean;
}

/**
 * The texts of a file that git keeps outside of the checked-out history: those of the latest stash,
 * which has a second one for the index, and those of commits on other branches. `noted`: what
 * `listKept` gave before; all counts as later where nobody knows. At most some twenty git
 * processes; four where there are none.
 */
export async function readKeptTexts(
  git: Git,
  file: PlacedFile,
  {
    commit,
    noted = [],
  }: { readonly commit: string; readonly noted?: readonly string[] | undefined },
): Promise<readonly KeptText[]> {
  const { tree, pathInside } = file;
  const ask = async (...args: string[]) => {
    const printed = await gitOutput(git, tree.root, { args, absent: [FATAL, 1] });
    return String(printed ?? "")
      .split("\n")
      .filter((line) => line !== "");
  };
  const find = (...without: string[]) =>
    ask(
      ...["--literal-pathspecs", "rev-list", `--max-count=${COMMITS_MAX}`, "--full-history"],
      // A commit that was noted may be gone by now.
      ...["--ignore-missing", "--branches", ...without, "--", pathInside],
    );
  const later = await find(`^${commit}`, ...noted.map((each) => `^${each}`));
  const all = new Set([...later, ...(await find(`^${commit}`))]);
  const [stash] = await ask("rev-parse", "--verify", "-q", STASH);
  const isStashLater = stash !== undefined && !noted.includes(stash);
  const named = [
    ...[STASH, `${STASH}^2`].map((name) => ({ name, isLater: isStashLater })),
    ...[...all].map((name) => ({ name, isLater: later.includes(name) })),
  ];
  const texts = await Promise.all(
    named.map(async ({ name, isLater }) => {
      return { commit: name, isLater, bytes: await bytesAt(git, file, name) };
    }),
  );
  return texts.flatMap(({ bytes, ...each }) => (bytes ? [{ ...each, bytes }] : []));
}
