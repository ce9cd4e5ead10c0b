import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import type { LocalConflict, TextConflict } from "../local/local-conflicts.ts";
import type { TextChoice } from "./save.ts";
import { type Settled, settle, settledAlong, settledWith } from "./settle-conflict.ts";

/** What choosing a version of a conflict changes. */
export interface Chosen {
  readonly choice: TextChoice;
  readonly settled: Settled;
  /** Other conflicts of the text that it settles as well. */
  readonly along: readonly TextConflict[];
}

/** `chosen` is 0 or 1; `others`: all conflicts of the home. Throws as `settle` does. */
export function chooseVersion(
  conflict: TextConflict,
  chosen: number,
  others: readonly LocalConflict[],
): Chosen {
  const { content, seenSeq } = conflict;
  const settled = settle(conflict, chosen);
  // The chosen text is written anew: if another machine has chosen the other version meanwhile,
  // both stay.
  const steps = [content, settled.without, settled.content];
  const values = steps.filter((text, at) => at > 0 && text !== steps[at - 1]);
  const along = settledAlong(conflict, others, settled.content);
  const covered = settledWith(conflict, chosen, settled.content);
  // The choice means what it brings back, so conflicts from before that come back with those lines
  // are settled.
  const back = conflict.over.filter((each) => !isOver(each, settled.content));
  const settles = [{ ...conflict, covered: [...covered, ...back] }, ...along];
  return { choice: { base: content, values, seenSeq, settles }, settled, along };
}
