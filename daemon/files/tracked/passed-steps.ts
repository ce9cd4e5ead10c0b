import { textFrom } from "../../disk/read-file.ts";
import { bytesAt } from "../../git/file-commits.ts";
import { type FileStep, readFileSteps, type TwoSides } from "../../git/file-steps.ts";
import { committedEndings } from "../../git/git-endings.ts";
import { textsWherePart } from "../../git/git-past.ts";
import type { Head } from "../../git/git-refs.ts";
import { readHeadText } from "../../git/git-state.ts";
import { type Git, GitTrouble } from "../../git/run-git.ts";
import type { PlacedFile } from "../../git/working-tree.ts";
import { fileText } from "../lines/file-state.ts";
import type { SinceRead } from "../state/follow-facts.ts";
import type { FollowedState } from "../state/follow-store.ts";
import { hasReadSides, shownByMarks } from "./shown-by-git.ts";

/** A text that a file had at a commit, and what git says of it there. */
export interface PassedStep extends FileStep {
  readonly since: SinceRead;
}

/** What is asked about the commits since a file was read. */
export interface StepsSince {
  readonly path: string;
  readonly head: Head;
  readonly known: FollowedState | undefined;
  /** What git says of the text that the last of them has. */
  readonly put: SinceRead;
  readonly hasEndings: boolean;
  /** Whether some machine has read the file at a commit. */
  readonly isTold: (commit: string) => boolean;
}

/**
 * The texts that a file had at the commits since it was read, or since its branch was set to
 * another history.
 */
export async function readPassedSteps(
  git: Git,
  file: PlacedFile,
  { path, head: { branch, commit: to }, known, put, hasEndings, isTold }: StepsSince,
): Promise<PassedStep[]> {
  const { past } = put;
  const isPut = past?.relation === "elsewhere";
  if (!known || to === undefined || (!isPut && past?.relation !== "onward")) return [];
  const from = isPut ? past.putAt : known.checkedOut.commit;
  const committed = await textInCommit(git, file, { commit: to, path });
  const text = isPut ? put.committed : asCommitted(fileText(known), hasEndings);
  if (from === undefined || committed === undefined || text === undefined) return [];
  const before = (await textInCommit(git, file, { commit: from, path })) ?? text;
  // An editor from before has what was committed here, too, which a rebase puts on others' commits.
  const had = `${text}\n${fileText(known)}`;
  const shown = known.marked && shownByMarks(known.marked, had);
  const hasRead = (content: string, sides: TwoSides) => hasReadSides(sides, content, had);
  const asked = { from, to, branch, text, before, committed, shown, hasRead };
  const steps = await readFileSteps(git, file, asked);
  const onward = steps.map(async (step): Promise<PassedStep> => {
    const told = step.changes.find(isTold);
    const bytes = told === undefined ? undefined : await bytesAt(git, file, told);
    const { changes, commit: putAt, content, madeBy, at } = step;
    const parted =
      told === undefined ? [] : await textsWherePart(git, file, { read: from, told: [told] });
    const way = { relation: "onward", changes, told: bytes ? [bytes] : [], parted, putAt } as const;
    return { ...step, since: { past: way, committed: content, madeBy, putAt: at } };
  });
  const all = await Promise.all(onward);
  if (!isPut) return all;
  const madeBy = "others";
  const first = { commit: from, content: text, madeBy, at: undefined, changes: [] } as const;
  return [{ ...first, since: { ...put, madeBy } }, ...all];
}

/** A commit's version of a tracked file; undefined where that is no text. */
export async function textInCommit(
  git: Git,
  file: PlacedFile,
  { commit, path }: { readonly commit: string | undefined; readonly path: string },
): Promise<string | undefined> {
  const head = await readHeadText(git, file, commit);
  if (head.kind === "unknown") throw new GitTrouble(head.why);
  const text = head.kind === "text" ? textFrom(path, head.bytes, 0) : undefined;
  return text?.kind === "text" ? text.content : undefined;
}

/** A file's text with the line endings that git commits. */
export function asCommitted(content: string, hasGitEndings: boolean): string {
  return hasGitEndings ? committedEndings(content) : content;
}
