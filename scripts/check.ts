// All that must hold before a change is taken, as CI runs it: `npm run check`. Goes on after a
// failure, so that one run tells of all of them: at the end each is told again, whole, for whoever
// sees nothing but the end of it. The last line sums up the tests.
import { join } from "node:path";

interface Counts {
  readonly passed: number;
  readonly failed: number;
}

interface Outcome extends Counts {
  /** What was said of each failure. */
  readonly failures: readonly string[];
}

/** Scripts of the package; those of `TESTS` print what they ran. */
const CHECKS = ["format", "types", "lint"];
const TESTS = ["test", "test:node", "test:package"];

const ROOT = join(import.meta.dir, "..");
const MS_PER_S = 1000;
/** Of what a failed step or test said, the end is told again. */
const FAILURE_LINES = 40;

/** Runs a script of the package, its output passed on; resolves to its status and what it said. */
async function run(script: string): Promise<{ readonly status: number; readonly output: string }> {
  const child = Bun.spawn([process.execPath, "run", "--silent", script], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const outputs = await Promise.all([
    passOn(child.stdout, process.stdout),
    passOn(child.stderr, process.stderr),
  ]);
  return { status: await child.exited, output: outputs.join("\n") };
}

async function passOn(
  output: ReadableStream<Uint8Array>,
  to: NodeJS.WritableStream,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of output) {
    to.write(chunk);
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

/** What the runner's closing lines ` 12 pass` and ` 1 fail` say, of each of its runs together. */
function countsIn(output: string): Counts {
  const sum = (word: string) =>
    [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))]
      .map(([, number]) => Number(number))
      .reduce((total, each) => total + each, 0);
  return { passed: sum("pass"), failed: sum("fail") };
}

/** What the runner said of each failed test: its error, and below it the test's name. */
function failuresIn(output: string): string[] {
  const failures: string[] = [];
  let said: string[] = [];
  for (const line of output.split("\n")) {
    said.push(line);
    if (line.startsWith("(fail) ")) failures.push(said.slice(-FAILURE_LINES).join("\n"));
    if (/^\((pass|fail|skip|todo)\) /.test(line)) said = [];
  }
  return failures;
}

/** One step. A step that failed without a failed test, or ran no test, counts as one failed. */
async function check(script: string): Promise<Outcome> {
  const startedAt = performance.now();
  process.stdout.write(`\n== ${script}\n`);
  const { status, output } = await run(script);
  const { passed, failed } = TESTS.includes(script) ? countsIn(output) : { passed: 0, failed: 0 };
  const inVain = status !== 0 || (TESTS.includes(script) && passed === 0);
  const seconds = ((performance.now() - startedAt) / MS_PER_S).toFixed(1);
  process.stdout.write(`== ${script}: ${inVain ? "failed" : "done"} after ${seconds} s\n`);
  const failures = inVain ? failuresIn(output) : [];
  if (inVain && failures.length === 0) {
    failures.push([`${script}:`, ...output.split("\n").slice(-FAILURE_LINES)].join("\n"));
  }
  return { passed, failed: inVain ? Math.max(failed, 1) : failed, failures };
}

let passed = 0;
let failed = 0;
const failures: string[] = [];
for (const script of [...CHECKS, ...TESTS]) {
  const outcome = await check(script);
  passed += outcome.passed;
  failed += outcome.failed;
  failures.push(...outcome.failures);
}
for (const failure of failures) process.stdout.write(`\n== failed\n${failure.trim()}\n`);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
