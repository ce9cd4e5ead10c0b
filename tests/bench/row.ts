import type { Chart } from "./plot.ts";
import type { Programs } from "./programs.ts";

/** `not judged`: the row has no target that this run can hold it to; the note says why. */
export type Verdict = "met" | "MISSED" | "not judged";

/** A figure of memsync beside another's of the same run. */
export interface Ratio {
  /** What it compares. */
  readonly name: string;
  readonly value: number;
  readonly better: "higher" | "lower";
}

/** One line of the table. */
export interface Figure {
  readonly figure: string;
  readonly target: string;
  readonly verdict: Verdict;
  /** For `--check`. */
  readonly ratio?: Ratio;
}

export interface RowResult {
  readonly figures: readonly Figure[];
  /** What a reader must know to judge the figures. */
  readonly notes: readonly string[];
  /** For `--plot`. */
  readonly charts?: readonly Chart[];
}

/** What a row is given to run with. */
export interface Bench {
  /** Ended when the row ends, however it does. */
  readonly programs: Programs;
  /** A new, empty folder on the measured disk, removed when the row ends. */
  folder(): Promise<string>;
  /** Writes of the row `live`. */
  readonly writes: number;
  /** For so long the row `idle` looks. */
  readonly seconds: number;
  /** A look whether anything has collapsed: few rounds, beside bare programs alone. */
  readonly short: boolean;
}

/** One row of the targets. */
export interface Row {
  readonly name: string;
  run(bench: Bench): Promise<RowResult>;
}

export function verdictOf(met: boolean): Verdict {
  return met ? "met" : "MISSED";
}
