// Which end-to-end tests a change may break. They start the program, so nearly each of them runs
// nearly each module, and imports tell little. Their names do: `history.test.ts` is of
// `cli/commands/history.ts` and of all in `shared/replica/history/`.
import { join } from "node:path";
import timed from "../tests/timings.json" with { type: "json" };

/** Where the tests are that start the program, those that take long among them. */
const END_TO_END = new Bun.Glob("tests/{e2e,long}/*.test.ts");
/** Tests that take long are of many kinds; what starts the program imports this. */
const STARTS_IT = /^tests\/e2e\/|"\.\.\/support\/lab\.ts"/;

/** The tests of a change that nobody wants to wait for longer, one after the other. */
const WORK_MS_MAX = 60_000;
/** Files that are not in the list of timings take less than this. */
const UNTIMED_MS = 5000;

/** What tells most of a module after which no test is named. */
const OF_ANY = "tests/e2e/offline.test.ts";

/** How much more a test tells that imports the module than one named after its folder. */
const IMPORTED = 3;
const NAMED = 2;
const NEAR = 1;

/** Words of paths that tell nothing of what a module is about. */
const EMPTY: ReadonlySet<string> = new Set([
  ...["a", "and", "for", "in", "of", "on", "the", "to", "ts", "test", "read", "store"],
  ...["cli", "client", "command", "common", "daemon", "server", "shared"],
]);

/** The end-to-end tests of this checkout. */
export interface EndToEndTests {
  /** By path from the top of the repository. */
  readonly texts: ReadonlyMap<string, string>;
  /** Milliseconds by path, of those that last longest. */
  readonly timings: Readonly<Record<string, number>>;
}

/** The end-to-end tests of the checkout in `root`. */
export async function readEndToEnd(root: string): Promise<EndToEndTests> {
  const texts = new Map<string, string>();
  for (const path of [...END_TO_END.scanSync(root)].sort()) {
    const text = await Bun.file(join(root, path)).text();
    if (STARTS_IT.test(`${path}\n${text}`)) texts.set(path, text);
  }
  return { texts, timings: timed.files };
}

/**
 * The end-to-end tests of what differs, which is given by paths: those that differ themselves, and
 * of those that import a differing module or are named after one or after its folder as many as are
 * done within a minute, the nearest first. Of a module for which there is none: one that goes
 * through most of the program.
 *
 * ```
 * endToEndOf(["cli/commands/history.ts"], tests); // ["tests/long/history.test.ts", …]
 * ```
 */
export function endToEndOf(differing: readonly string[], tests: EndToEndTests): string[] {
  const modules = differing.filter((path) =>
    /^(cli|client|daemon|server|shared)\/.+\.ts$/.test(path),
  );
  const msOf = (path: string) => tests.timings[path] ?? UNTIMED_MS;
  const themselves = differing.filter((path) => tests.texts.has(path));
  const near = [...tests.texts]
    .filter(([path]) => !themselves.includes(path))
    .map(([path, text]) => ({
      path,
      score: Math.max(0, ...modules.map((each) => scoreOf(path, text, each))),
    }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || msOf(one.path) - msOf(other.path));
  let leftMs = WORK_MS_MAX;
  const chosen = near.filter(({ path }) => {
    const fits = msOf(path) <= leftMs;
    if (fits) leftMs -= msOf(path);
    return fits;
  });
  const found = [...themselves, ...chosen.map(({ path }) => path)];
  return found.length === 0 && modules.length > 0 ? [OF_ANY] : found;
}

function scoreOf(test: string, text: string, module: string): number {
  const words = wordsOf(test.slice(test.lastIndexOf("/") + 1));
  const [name = "", ...folders] = module.split("/").reverse();
  const named = count(wordsOf(name), words) * NAMED;
  const near = count(wordsOf(folders.join("-")), words) * NEAR;
  return named + near + (text.includes(`/${module}"`) ? IMPORTED : 0);
}

function count(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  return [...some].filter((each) => others.has(each)).length;
}

/** The words of a name, each as of one thing. */
function wordsOf(name: string): ReadonlySet<string> {
  const words = name.split(/[-./]/).map((word) => word.replace(/(?<=..)s$/, ""));
  return new Set(words.filter((word) => word !== "" && !EMPTY.has(word)));
}
