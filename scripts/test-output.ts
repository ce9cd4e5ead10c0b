// What the test runner's output says: how many tests passed, which failed, where and why.

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** Of what a failed step or test said, the end is told again. */
export const FAILURE_LINES = 40;

/** What the runner's closing lines ` 12 pass` and ` 1 fail` say, of each of its runs together. */
export function countsIn(output: string): Counts {
  const sum = (word: string) =>
    [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))]
      .map(([, number]) => Number(number))
      .reduce((total, each) => total + each, 0);
  return { passed: sum("pass"), failed: sum("fail") };
}

/**
 * What the runner said of each failed test: its error, and below it the test's name. After many
 * tests it lists those names again, without the errors.
 */
export function failuresIn(output: string): string[] {
  const failures = new Map<string, string>();
  let said: string[] = [];
  for (const line of output.split("\n")) {
    said.push(line);
    if (line.startsWith("(fail) ") && !failures.has(line)) {
      failures.set(line, said.slice(-FAILURE_LINES).join("\n"));
    }
    if (/^\((pass|fail|skip|todo)\) /.test(line)) said = [];
  }
  return [...failures.values()];
}

/**
 * The test files in which the runner said that a test failed: it names the file first. None where
 * something failed in no test, or the runner counts other failures than it has told, as after a
 * crash: then these files are not all.
 */
export function failedFilesIn(output: string): string[] {
  if (/^ *\d+ errors?$/m.test(output)) return [];
  const files = new Map<string, string>();
  let file: string | undefined;
  for (const line of output.split("\n")) {
    file = /^(tests\/\S+\.test\.ts):$/.exec(line)?.[1] ?? file;
    const isFirst = line.startsWith("(fail) ") && !files.has(line);
    if (isFirst && file !== undefined) files.set(line, file);
  }
  if (files.size !== countsIn(output).failed) return [];
  return [...new Set(files.values())];
}

/** The tests that were not run, whose names say why. */
export function leftOutIn(output: string): string[] {
  return [...new Set(output.match(/^\(skip\) .*$/gm))];
}
