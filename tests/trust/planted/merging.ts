import { type Mistake, mistakesIn } from "./mistake.ts";

const doubled = mistakesIn("shared/replica/merge/doubled-lines.ts", "unit/doubles.test.ts");

/** Mistakes in merging that the simulation finds by a rare seed alone. */
export const MERGING: readonly Mistake[] = [
  doubled(
    "of two copies the one stays that is not this machine's",
    "machines that clean up while they are apart do not each drop the copy that the other keeps",
    "return (one.ranks[i] ?? 0) < (other.ranks[i] ?? 0) ? [line, twin] : [twin, line];",
    'return line.side === "theirs" ? [line, twin] : [twin, line];',
  ),
];
