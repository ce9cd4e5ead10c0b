import { isCommitted } from "../../git/blob-in-git.ts";
import { carriedOver } from "../../git/carried-over.ts";
import { changesOf, hasCommit } from "../../git/file-commits.ts";
import type { Head } from "../../git/git-refs.ts";
import type { Git } from "../../git/run-git.ts";
import { isMadeHere, readVisited } from "../../git/visited-commits.ts";
import type { PlacedFile } from "../../git/working-tree.ts";
import { fileText } from "../lines/file-state.ts";
import type { Readable, Visited } from "../state/follow-facts.ts";
import type { FollowedState } from "../state/follow-store.ts";
import { asCommitted, textInCommit } from "./passed-steps.ts";

/** Of more commits of the file than this nobody asks whether they were merged. */
const CHANGES_MAX = 100;

/** A file as it is found, and what is checked out. */
interface FoundAt {
  readonly file: Readable;
  readonly hasEndings: boolean;
  readonly head: Head;
  readonly headEntry: string | undefined;
  readonly known: FollowedState | undefined;
}

/**
 * What a file had at commits that were checked out since it was read, and left again, with what
 * waited to be committed in it. Undefined where there are none.
 */
export async function readVisitedTexts(
  git: Git,
  placed: PlacedFile,
  { file, hasEndings, head: { branch, commit: to }, headEntry, known }: FoundAt,
): Promise<Visited | undefined> {
  if (!known || file.kind === "absent" || to === undefined || branch === undefined)
    return undefined;
  const { commit: read, headEntry: since } = known.checkedOut;
  if (read === undefined || since === undefined || since === headEntry) return undefined;
  const visited = await readVisited(git, placed, since);
  if (!visited || !(await hasCommit(git, placed, read))) return undefined;
  const { path } = file;
  const textIn = async (commit: string) =>
    (await textInCommit(git, placed, { commit, path })) ?? "";
  const before = await textIn(read);
  const saved = asCommitted(fileText(known), hasEndings);
  const texts = visited.commits.map(async (from) => {
    const text = await textIn(from);
    const isOwnWork = await isMadeHere(git, placed, { from, to, branch });
    return { text: carriedOver(text, before, saved) ?? text, isOwnWork };
  });
  const { leftAt, isCommittedSince } = visited;
  const isAsThere = await isCommitted(git, placed, { commit: to, text: file.content });
  const commits = ["--full-history", ...visited.commits, `^${read}`];
  const changes = await changesOf(git, placed, { commits, countMax: CHANGES_MAX });
  return {
    texts: await Promise.all(texts),
    changes,
    leftAt,
    isPut: isAsThere && !isCommittedSince,
  };
}
