import type { Replacement } from "../simulate/replacement.ts";

/** The test that fails with a mistake; its file from the folder of the tests. */
export interface FailingTest {
  readonly file: string;
  readonly test: string;
}

/** A mistake that somebody could make in the program, and the test that tells of it. */
export interface Mistake {
  readonly name: string;
  readonly found: FailingTest;
  readonly replacements: readonly Replacement[];
}

/** Mistakes that tests of one file find, in one file of the program. */
export function mistakesIn(file: string, tests: string) {
  return (name: string, test: string, from: string, to: string): Mistake => ({
    name,
    found: { file: tests, test },
    replacements: [{ file, from, to }],
  });
}
