import { existsSync, lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import type { Git, GitResult } from "../../daemon/git/run-git.ts";

/** Longer than a file system's clock stands still: what is written later has a later time. */
const TICK_MS = 20;

/** These read a repository's refs, index, logs and objects, and no file that a person works on. */
const ANSWERS = new Set([
  ...["rev-parse", "for-each-ref", "symbolic-ref", "merge-base"],
  ...["log", "rev-list", "cat-file", "ls-tree"],
]);
/** Of what is listed of files, this is all from the index. */
const INDEX = ["ls-files", "-s", "-t"];
/** They stand before the command, and say how names are meant. */
const MANNERS = new Set(["--literal-pathspecs", "--no-replace-objects"]);

/** Hooks are not run by questions. */
const LEFT_OUT = new Set(["hooks"]);
/** Here a file comes or goes, and never changes: its folder tells of it. */
const OBJECTS = "objects";

interface State {
  /** Equal for as long as nothing below `.git` is written. */
  readonly text: string;
  /** When something was written there last. */
  readonly changedMs: number;
}

/**
 * Runs git, but for a question that was answered while everything below `.git` was as it is now:
 * the answer is the same then. A look at a followed file asks git a dozen times, and a test that
 * lets minutes go by looks a hundred times at a repository in which nothing happens.
 */
export function remembering(git: Git): Git {
  const known = new Map<string, { readonly state: string; readonly result: GitResult }>();
  const folders = new KnownFolders();
  return async (folder, args) => {
    const before = isOfRepository(args) ? stateAt(folder, folders) : undefined;
    if (before === undefined) return await git(folder, args);
    const question = JSON.stringify([folder, ...args]);
    const last = known.get(question);
    if (last?.state === before.text) return last.result;
    const askedAtMs = Date.now();
    const result = await git(folder, args);
    const isSettled = before.changedMs < askedAtMs - TICK_MS && result.kind !== "failed";
    if (isSettled && stateAt(folder, folders)?.text === before.text) {
      known.set(question, { state: before.text, result });
    }
    return result;
  };
}

function isOfRepository(args: readonly string[]): boolean {
  const asked = args.slice(args.findIndex((word) => !MANNERS.has(word)));
  const [command = ""] = asked;
  return ANSWERS.has(command) || INDEX.every((word, at) => asked[at] === word);
}

/** Undefined where there is no repository with a `.git` of its own, or it cannot be read. */
function stateAt(folder: string, folders: KnownFolders): State | undefined {
  try {
    const real = realpathSync(folder);
    const top = findTop(real);
    if (top === undefined) return undefined;
    const { uid, mode, ino } = lstatSync(top);
    const written: string[] = [`${real} ${top} ${uid} ${mode} ${ino}`];
    const changedMs = addTo(written, `${top}/.git`, { folders, isOfObjects: false });
    return { text: written.join("\n"), changedMs };
  } catch {
    return undefined;
  }
}

/** The nearest folder with a `.git` that is a folder; undefined if something else comes before. */
function findTop(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = lstatSync(join(at, ".git"), { throwIfNoEntry: false });
    if (found) return found.isDirectory() ? at : undefined;
    const isBare = existsSync(join(at, "HEAD"));
    if (isBare || dirname(at) === at) return undefined;
  }
}

/** Adds what tells of a change to anything at `path`; returns when the last one was. */
function addTo(
  written: string[],
  path: string,
  { folders, isOfObjects }: { readonly folders: KnownFolders; readonly isOfObjects: boolean },
): number {
  const stats = lstatSync(path);
  written.push(`${path} ${told(stats)}`);
  if (!stats.isDirectory()) return stats.ctimeMs;
  let last = stats.ctimeMs;
  const { names, inside } = folders.read(path, stats);
  for (const name of isOfObjects ? inside : names) {
    if (LEFT_OUT.has(name)) continue;
    const below = { folders, isOfObjects: isOfObjects || name === OBJECTS };
    const changed = addTo(written, `${path}/${name}`, below);
    if (changed > last) last = changed;
  }
  return last;
}

/** No program can set `ctime`. */
function told({ ino, size, uid, mode, ctimeMs }: Stats): string {
  return `${ino} ${size} ${uid} ${mode} ${ctimeMs}`;
}

interface Listing {
  /** The folder as it was when it was read. */
  readonly told: string;
  readonly names: readonly string[];
  /** Those of them that are folders. */
  readonly inside: readonly string[];
}

/** What is in folders, which are not read again while they are as they were. */
class KnownFolders {
  readonly #known = new Map<string, Listing>();

  read(path: string, stats: Stats): Listing {
    const last = this.#known.get(path);
    const now = told(stats);
    if (last?.told === now) return last;
    const readAtMs = Date.now();
    const entries = readdirSync(path, { withFileTypes: true });
    const inside = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const listing = { told: now, names: entries.map(({ name }) => name), inside };
    if (stats.ctimeMs < readAtMs - TICK_MS) this.#known.set(path, listing);
    return listing;
  }
}
