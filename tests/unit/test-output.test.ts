import { expect, test } from "bun:test";
import { countsIn, failedFilesIn, failuresIn, leftOutIn } from "../../scripts/test-output.ts";

/** What two runs say, of which the first ran its files beside each other. */
const OUTPUT = `
tests/unit/one.test.ts:
(pass) one holds [1.00ms]

tests/e2e/two.test.ts:
error: expected 1
(fail) two holds [2.00ms]

tests/unit/one.test.ts:
(skip) one holds elsewhere

tests/e2e/three.test.ts:
(pass) three holds [1.00ms]

1 tests failed:
(fail) two holds [2.00ms]

 2 pass
 1 skip
 1 fail
 9 expect() calls

 5 pass
 0 fail
`;

test("the counts of a step are those of all its runs", () => {
  expect(countsIn(OUTPUT)).toEqual({ passed: 7, failed: 1 });
});

test("a failure is told once, with its error, and by its file", () => {
  expect(failuresIn(OUTPUT)).toEqual([
    "\ntests/e2e/two.test.ts:\nerror: expected 1\n(fail) two holds [2.00ms]",
  ]);
  expect(failedFilesIn(OUTPUT)).toEqual(["tests/e2e/two.test.ts"]);
});

test("where something failed in no test, no file is to blame", () => {
  expect(failedFilesIn(`${OUTPUT}\n 1 error\n`)).toEqual([]);
});

test("where a worker crashed, or the runner itself, no file is to blame", () => {
  const failed = "tests/e2e/two.test.ts:\n(fail) two holds [2.00ms]\n";
  const crashed = "tests/unit/one.test.ts:\n✗ tests/unit/one.test.ts (worker crashed: SIGKILL)\n";
  expect(failedFilesIn(`${failed}${crashed}\n 4 pass\n 2 fail\n`)).toEqual([]);
  expect(failedFilesIn(failed)).toEqual([]);
});

test("what was not run is told by its name", () => {
  expect(leftOutIn(OUTPUT)).toEqual(["(skip) one holds elsewhere"]);
});
