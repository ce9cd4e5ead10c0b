import type { FileStep } from "../../git/file-steps.ts";
import type { PassedText, Sight } from "../state/follow-facts.ts";
import type { CheckedOut } from "../state/follow-store.ts";
import { isSoon } from "./came-by-git.ts";
import type { PassedStep } from "./passed-steps.ts";
import { hasChangesOf } from "./put-by-git.ts";

/** What is asked about commits of a tracked file. */
export interface CommitsOf {
  readonly textIn: (commit: string) => Promise<string | undefined>;
  readonly checkedOutAt: (commit: string) => Promise<CheckedOut>;
}

/** A file as it is found, with the line endings that git commits. */
interface Found {
  readonly saved: { readonly content: string; readonly savedAt: number };
  /** The text of the commit at which the file was read, and the file's. */
  readonly before: string;
  readonly known: string;
  readonly steps: readonly PassedStep[];
}

/**
 * What looks would have found since the last one: what others' commits have put there, and what a
 * person has committed over it or before it. Undefined where one look tells as much, and where what
 * waited to be committed in the file is undone in it, and in what its commits say.
 */
export async function findPassed(
  { textIn, checkedOutAt }: CommitsOf,
  { saved, before, known, steps }: Found,
): Promise<Sight["passed"]> {
  const last = steps.at(-1);
  const isCommitted = last?.content === saved.content;
  const passed = isCommitted ? steps.slice(0, -1) : steps;
  const [first] = passed;
  const isAnyOthers = steps.some(({ madeBy }) => madeBy !== "person");
  if (!first || !last || !isAnyOthers) return undefined;
  const isLeft = (after: string | undefined) =>
    after !== undefined && hasChangesOf(known, { before, after });
  const stood = first.isShown ? first.content : await textIn(first.commit);
  if (!isLeft(saved.content) && !isLeft(stood)) return undefined;
  const texts = passed.map(async (step, nth): Promise<PassedText> => {
    return {
      ...step.since,
      content: step.content,
      savedAt: Math.min(step.at ?? saved.savedAt, saved.savedAt),
      checkedOut: await checkedOutAt(step.commit),
      isSavedOver: isSavedOver(step, { later: steps.slice(nth + 1), isCommitted }),
    };
  });
  return { texts: await Promise.all(texts), rest: isCommitted ? last.since : undefined };
}

/** Whether what follows on a text of others may be from somebody who has not seen it. */
function isSavedOver(
  { at }: FileStep,
  { later, isCommitted }: { readonly later: readonly FileStep[]; readonly isCommitted: boolean },
): boolean {
  const over = later.filter(({ madeBy }) => madeBy === "person" || madeBy === "anybody");
  return over.length > 0 ? over.some((each) => isSoon(at, each.at)) : !isCommitted;
}
