import type { Ratio } from "./row.ts";
import type { Finished } from "./table.ts";

/**
 * Ratios by what they compare: those in docs/measured.md, or better ones of a run before. They
 * outlive a machine, so that a later run on any can be held against them.
 */
const RECORDED: Readonly<Record<string, number>> = {
  "read beside a bare server": 2.32,
  "emulator: a file of tests beside MSW": 0.9,
  "start from source beside a bare server": 10,
  "push beside a bare server": 0.18,
  "bulk beside bare rows": 7,
  "growth: push among 10,000 memories beside 100": 1,
  "push beside Hocuspocus": 0.33,
  "push-one beside a bare commit": 4.54,
  "live beside Hocuspocus": 7.53,
  "delta beside a small project": 0.99,
  "crowd: read beside an empty database": 1.06,
  "crowd: push beside an empty database": 0.94,
};

/** From here on a ratio is called worse: others come from what else the machine does. */
export const WORSE_BY = 1.2;

/** From here on something has collapsed, whatever else a busy machine does. */
export const COLLAPSED_BY = 2;

/** How many times worse than recorded; below 1 where it is better. */
function worseBy({ name, value, better }: Ratio): number | undefined {
  const recorded = RECORDED[name];
  if (recorded === undefined) return undefined;
  return better === "higher" ? recorded / value : value / recorded;
}

/**
 * A line for each ratio of the run that is more than `by` times worse than recorded; none where all
 * is well.
 */
export function worseThanRecorded(finished: readonly Finished[], by = WORSE_BY): string[] {
  return finished.flatMap(({ row, result }) => {
    if (result.figures.some(({ target }) => target === UNFINISHED))
      return [`${row.name}: did not finish`];
    return result.figures.flatMap(({ ratio }) => {
      const factor = ratio && worseBy(ratio);
      if (!ratio || factor === undefined || factor <= by) return [];
      const recorded = RECORDED[ratio.name];
      return [
        `${ratio.name}: ${factor.toFixed(2)} × worse (${ratio.value.toFixed(2)}, was ${recorded})`,
      ];
    });
  });
}

/** The target of a row that failed. */
export const UNFINISHED = "to finish";
