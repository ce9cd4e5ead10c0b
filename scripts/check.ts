// All that must hold before a change is taken: `npm run check`, and with `-- --browser` all that
// CI runs. Goes on after a failure, so that one run tells of all of them: at the end each is told
// again, whole, for whoever sees nothing but the end of it. The last line sums up the tests.
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
const TESTS = ["test"];
/** These build `dist`, so one after the other, but beside `TESTS`, which mostly wait. */
const TESTS_OF_BUILDS = ["test:node", "test:package"];
if (process.argv.includes("--browser")) TESTS_OF_BUILDS.push("test:browser");

const ROOT = join(import.meta.dir, "..");
const MS_PER_S = 1000;
/** Of what a failed step or test said, the end is told again. */
const FAILURE_LINES = 40;

/** Takes what a script says, as it says it. */
type Listener = (text: string) => void;

/** Runs a script of the package; resolves to its status and what it said. */
async function run(
  script: string,
  hear: Listener,
): Promise<{ readonly status: number; readonly output: string }> {
  const child = Bun.spawn([process.execPath, "run", "--silent", script], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const outputs = await Promise.all([textOf(child.stdout, hear), textOf(child.stderr, hear)]);
  return { status: await child.exited, output: outputs.join("\n") };
}

async function textOf(output: ReadableStream<Uint8Array>, hear: Listener): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of output) {
    const said = decoder.decode(chunk, { stream: true });
    hear(said);
    text += said;
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

/**
 * What the runner said of each failed test: its error, and below it the test's name. After many
 * tests it lists those names again, without the errors.
 */
function failuresIn(output: string): string[] {
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

/** One step. A step that failed without a failed test, or ran no test, counts as one failed. */
async function check(script: string, hear: Listener): Promise<Outcome> {
  const startedAt = performance.now();
  hear(`\n== ${script}\n`);
  const { status, output } = await run(script, hear);
  const runsTests = !CHECKS.includes(script);
  const { passed, failed } = runsTests ? countsIn(output) : { passed: 0, failed: 0 };
  const inVain = status !== 0 || (runsTests && passed === 0);
  const seconds = ((performance.now() - startedAt) / MS_PER_S).toFixed(1);
  hear(`== ${script}: ${inVain ? "failed" : "done"} after ${seconds} s\n`);
  const failures = inVain ? failuresIn(output) : [];
  if (inVain && failures.length === 0) {
    failures.push([`${script}:`, ...output.split("\n").slice(-FAILURE_LINES)].join("\n"));
  }
  return { passed, failed: inVain ? Math.max(failed, 1) : failed, failures };
}

const say: Listener = (text) => void process.stdout.write(text);

async function checkAll(scripts: readonly string[], hear: Listener): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const script of scripts) outcomes.push(await check(script, hear));
  return outcomes;
}

/** What these say is told when the others have said all of theirs. */
let saidBeside = "";
const beside = (text: string) => {
  saidBeside += text;
};

const checked = await checkAll(CHECKS, say);
const tested = await Promise.all([checkAll(TESTS, say), checkAll(TESTS_OF_BUILDS, beside)]);
say(saidBeside);
const outcomes = [...checked, ...tested.flat()];
const total = (of: (each: Outcome) => number) => outcomes.reduce((sum, each) => sum + of(each), 0);
const failed = total((each) => each.failed);
for (const failure of outcomes.flatMap(({ failures }) => failures)) {
  say(`\n== failed\n${failure.trim()}\n`);
}
say(`\n${total((each) => each.passed)} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
