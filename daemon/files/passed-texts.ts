import type { FileStep } from "../git/file-steps.ts";
import { isSoon } from "./came-by-git.ts";
import type { PassedText, Sight, SinceRead } from "./follow-facts.ts";
import type { CheckedOut } from "./follow-store.ts";
import { hasChangesOf } from "./put-by-git.ts";

/** What is asked about commits of a tracked file. */
export interface CommitsOf {
  readonly textIn: (commit: string) => Promise<string | undefined>;
  /** What git says of the file at a step, where it was read at the commit `from`. */
  readonly sinceRead: (from: string, step: FileStep) => Promise<SinceRead>;
  readonly checkedOutAt: (commit: string) => Promise<CheckedOut>;
}

/** A file as it is found, with the line endings that git commits. */
interface Found {
  readonly saved: { readonly content: string; readonly savedAt: number };
  /** The commit at which the file was read, its text there, and the file's. */
  readonly read: string;
  readonly before: string;
  readonly known: string;
  readonly steps: readonly FileStep[];
}

/**
 * What looks would have found between git's writing of a file and what is there now: what git has
 * put there, and what a person has committed over it or before it. Undefined where one look tells
 * as much, and where something waited to be committed in the file that its first text lacks.
 */
export async function findPassed(
  { textIn, sinceRead, checkedOutAt }: CommitsOf,
  { saved, read, before, known, steps }: Found,
): Promise<Sight["passed"]> {
  const last = steps.at(-1);
  if (!last) return undefined;
  const isCommitted = (await textIn(last.commit)) === saved.content;
  const passed = isCommitted ? steps.slice(0, -1) : steps;
  const isOfGit = ({ putBy }: FileStep) => putBy !== "person";
  if (passed.length === 0 || !steps.some(isOfGit)) return undefined;
  const texts: PassedText[] = [];
  let from = read;
  for (const [nth, step] of passed.entries()) {
    const content = await textIn(step.commit);
    const since = await sinceRead(from, step);
    const { relation } = since.past ?? {};
    if (content === undefined || (relation !== "onward" && relation !== "elsewhere")) {
      return undefined;
    }
    texts.push({
      ...since,
      content,
      savedAt: Math.min(step.at ?? saved.savedAt, saved.savedAt),
      checkedOut: await checkedOutAt(step.commit),
      isSavedOver: isSavedOver(step, { later: steps.slice(nth + 1), isCommitted }),
    });
    from = step.commit;
  }
  if (!hasChangesOf(known, { before, after: texts[0]?.content ?? "" })) return undefined;
  return { texts, rest: isCommitted ? await sinceRead(from, last) : undefined };
}

/** Whether what follows on a text of git's may be from somebody who has not seen it. */
function isSavedOver(
  { at }: FileStep,
  { later, isCommitted }: { readonly later: readonly FileStep[]; readonly isCommitted: boolean },
): boolean {
  const over = later.find(({ putBy }) => putBy === "person");
  return over ? isSoon(at, over.at) : !isCommitted;
}
