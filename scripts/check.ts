// All that must hold before a change is taken: `npm run check`, and with `-- --browser` all that
// CI runs. With `-- --changed` it is what a minute or two allow: of the tests those that look at
// every file, those that import what differs from the branch `main`, and those that start the
// program and are named after what differs. Goes on after a failure,
// so that one run tells of all of them: at the end each is told again, whole, for whoever sees
// nothing but the end of it. What failed is run once more with nothing beside it: what fails again
// has failed, and what passes is told as unstable, with what it said. The last line sums up the
// tests.
import { join } from "node:path";
import { endToEndOf, readEndToEnd } from "./changed-tests.ts";
import {
  type Counts,
  countsIn,
  FAILURE_LINES,
  failedFilesIn,
  failuresIn,
  leftOutIn,
} from "./test-output.ts";

interface Outcome extends Counts {
  readonly step: Step;
  /** What was said of each failure. */
  readonly failures: readonly string[];
  /** Where a test failed. */
  readonly failedFiles: readonly string[];
  /** The lines of tests that were not run here. */
  readonly leftOut: readonly string[];
}

/** A script of the package and what it is given. */
type Step = readonly [script: string, ...given: string[]];

/** Each test file is in one of these runs; on Node and on a PostgreSQL some are once more. */
const CHECKS: readonly Step[] = [["types"], ["lint"]];
const TESTS: readonly Step[] = [["test", "--no-browser"], ["test:long"]];
/**
 * One after the other, for the first two build `dist`, and the last is one process; but beside
 * `TESTS`, which wait now and then.
 */
const TESTS_BESIDE: readonly Step[] = [["test:node"], ["test:package"], ["test:postgres"]];
const TESTS_IN_A_BROWSER: readonly Step[] = [["test:browser"]];

/** Any test file, however long it takes. */
const UNHURRIED = ["--path-ignore-patterns", "none", "--timeout", "600000"];

/** What types every command of the documents. */
const OF_DOCUMENTS = "tests/documents/";
/** Folders of tests that call what they import. */
const OF_MODULES = ["tests/unit/", "tests/http/", "tests/protocol/"].map((path) => `./${path}`);

/** Before a commit: the runner takes the tests alone that import what differs from it. */
const CHANGED_SINCE = "--changed=";

const ROOT = join(import.meta.dir, "..");
const MS_PER_S = 1000;

/** Takes what a script says, as it says it. */
type Listener = (text: string) => void;

/** Runs a script of the package; resolves to its status and what it said. */
async function run(
  step: Step,
  hear: Listener,
): Promise<{ readonly status: number; readonly output: string }> {
  const child = Bun.spawn([process.execPath, "run", "--silent", ...step], {
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

const say: Listener = (text) => void process.stdout.write(text);

/** One step. A step that failed without a failed test, or ran no test, counts as one failed. */
async function check(step: Step, hear: Listener): Promise<Outcome> {
  const startedAt = performance.now();
  const script = step.join(" ");
  hear(`\n== ${script}\n`);
  const { status, output } = await run(step, hear);
  const runsTests = !CHECKS.includes(step);
  const { passed, failed } = runsTests ? countsIn(output) : { passed: 0, failed: 0 };
  // What has changed may be imported by no test.
  const mayRunNone = step.some((each) => each.startsWith(CHANGED_SINCE));
  const inVain = status !== 0 || (runsTests && passed === 0 && !mayRunNone);
  const seconds = ((performance.now() - startedAt) / MS_PER_S).toFixed(1);
  hear(`== ${script}: ${inVain ? "failed" : "done"} after ${seconds} s\n`);
  const failures = inVain ? failuresIn(output) : [];
  if (inVain && failures.length === 0) {
    failures.push([`${script}:`, ...output.split("\n").slice(-FAILURE_LINES)].join("\n"));
  }
  const leftOut = leftOutIn(output);
  const failedFiles = failedFilesIn(output);
  const counted = inVain ? Math.max(failed, 1) : failed;
  return { step, passed, failed: counted, failures, failedFiles, leftOut };
}

/** Of tests of the source the files in which one failed, and of others the whole step. */
function repetitionOf({ step, failedFiles }: Outcome): Step | undefined {
  if (CHECKS.includes(step)) return undefined;
  if (!TESTS.some(([script]) => script === step[0])) return step;
  const files = failedFiles.map((file) => `./${file}`);
  return files.length === 0 ? undefined : ["test", ...UNHURRIED, ...files];
}

/** A step that failed beside others, and what it said then, if it passes alone. */
async function repeat(outcome: Outcome): Promise<Outcome & { readonly unstable: string[] }> {
  const repetition = outcome.failed === 0 ? undefined : repetitionOf(outcome);
  if (repetition === undefined) return { ...outcome, unstable: [] };
  const { failed, failures } = await check(repetition, say);
  const recovered = Math.max(outcome.failed - failed, 0);
  const unstable = failed === 0 ? [...outcome.failures] : [];
  return { ...outcome, passed: outcome.passed + recovered, failed, failures, unstable };
}

async function checkAll(steps: readonly Step[], hear: Listener): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const step of steps) outcomes.push(await check(step, hear));
  return outcomes;
}

/** What git prints; nothing where it fails. */
async function git(...args: readonly string[]): Promise<string> {
  const child = Bun.spawn(["git", ...args], { cwd: ROOT, stdio: ["ignore", "pipe", "ignore"] });
  return (await child.stdout.text()).trim();
}

/**
 * The tests of what differs from `main`: of those that start the program as many as `endToEndOf`
 * finds. A document's commands are run where a document differs.
 */
async function testsOfChanges(): Promise<Step[]> {
  const base = (await git("merge-base", "HEAD", "main")) || "HEAD";
  const differing = await git("diff", "--name-only", "--diff-filter=d", base);
  const added = await git("ls-files", "--others", "--exclude-standard");
  const paths = `${differing}\n${added}`.split("\n");
  const files = endToEndOf(paths, await readEndToEnd(ROOT));
  if (paths.some((path) => path.endsWith(".md"))) files.push(OF_DOCUMENTS);
  const always = ["tests/tidy/", ...files].map((path) => `./${path}`);
  return [
    ["test", ...UNHURRIED, ...always],
    ["test", CHANGED_SINCE + base, ...OF_MODULES],
  ];
}

/** What these say is told when the others have said all of theirs. */
let saidBeside = "";
const beside = (text: string) => {
  saidBeside += text;
};

async function testAll(): Promise<readonly Outcome[]> {
  if (process.argv.includes("--changed")) return await checkAll(await testsOfChanges(), say);
  const browsers = process.argv.includes("--browser") ? TESTS_IN_A_BROWSER : [];
  const tested = await Promise.all([
    checkAll(TESTS, say),
    checkAll([...TESTS_BESIDE, ...browsers], beside),
  ]);
  say(saidBeside);
  return tested.flat();
}

const checked = await checkAll(CHECKS, say);
const tested = await testAll();
const outcomes: Awaited<ReturnType<typeof repeat>>[] = [];
for (const outcome of [...checked, ...tested]) outcomes.push(await repeat(outcome));
const total = (of: (each: Outcome) => number) => outcomes.reduce((sum, each) => sum + of(each), 0);
const failed = total((each) => each.failed);
for (const failure of outcomes.flatMap(({ failures }) => failures)) {
  say(`\n== failed\n${failure.trim()}\n`);
}
for (const failure of outcomes.flatMap(({ unstable }) => unstable)) {
  say(`\n== unstable: it failed beside others, and passed alone\n${failure.trim()}\n`);
}
const leftOut = outcomes.flatMap((each) => each.leftOut);
if (leftOut.length > 0) say(`\n== not run here\n${leftOut.join("\n")}\n`);
say(`\n${total((each) => each.passed)} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
