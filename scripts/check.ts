// All that must hold before a change is taken, as CI runs it: `npm run check`. Goes on after a
// failure, so that one run tells of all of them; the last line sums up the tests.
import { join } from "node:path";

interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** Scripts of the package; those of `TESTS` print what they ran. */
const CHECKS = ["format", "types", "lint"];
const TESTS = ["test", "test:node", "test:package"];

const ROOT = join(import.meta.dir, "..");
const MS_PER_S = 1000;

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

/** One step. A step that failed without a failed test, or ran no test, counts as one failed. */
async function check(script: string): Promise<Counts> {
  const startedAt = performance.now();
  process.stdout.write(`\n== ${script}\n`);
  const { status, output } = await run(script);
  const { passed, failed } = TESTS.includes(script) ? countsIn(output) : { passed: 0, failed: 0 };
  const inVain = status !== 0 || (TESTS.includes(script) && passed === 0);
  const seconds = ((performance.now() - startedAt) / MS_PER_S).toFixed(1);
  process.stdout.write(`== ${script}: ${inVain ? "failed" : "done"} after ${seconds} s\n`);
  return { passed, failed: inVain ? Math.max(failed, 1) : failed };
}

let passed = 0;
let failed = 0;
for (const script of [...CHECKS, ...TESTS]) {
  const counts = await check(script);
  passed += counts.passed;
  failed += counts.failed;
}
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
