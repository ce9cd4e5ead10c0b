import { type BigIntStats, existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Git, GitResult } from "../../daemon/git/run-git.ts";

/** Longer than a file system's clock stands still: what is written later has a later time. */
const TICK_NS = 50_000_000n;
const NS_PER_MS = 1_000_000n;

/** These commands read a repository's refs and index, and no file that a person works on. */
const ANSWERS: readonly (readonly string[])[] = [
  ["ls-files", "-s", "-t"],
  ["for-each-ref"],
  ["rev-parse"],
];

/** They say nothing of refs and index: objects never change, and hooks are not run. */
const LEFT_OUT = new Set(["objects", "hooks"]);

interface State {
  /** Equal for as long as nothing below `.git` is written. */
  readonly text: string;
  /** When something was written there last. */
  readonly changedNs: bigint;
}

/**
 * Runs git, but for a question that was answered while everything below `.git` was as it is now:
 * the answer is the same then. A look at a followed file asks git three times, and a test that lets
 * minutes go by looks a hundred times at a repository in which nothing happens.
 */
export function remembering(git: Git): Git {
  const known = new Map<string, { readonly state: string; readonly result: GitResult }>();
  return async (folder, args) => {
    const before = isAboutRefs(args) ? stateAt(folder) : undefined;
    if (before === undefined) return await git(folder, args);
    const question = JSON.stringify([folder, ...args]);
    const last = known.get(question);
    if (last?.state === before.text) return last.result;
    const askedAtNs = BigInt(Date.now()) * NS_PER_MS;
    const result = await git(folder, args);
    const isSettled = before.changedNs < askedAtNs - TICK_NS;
    if (isSettled && stateAt(folder)?.text === before.text) {
      known.set(question, { state: before.text, result });
    }
    return result;
  };
}

function isAboutRefs(args: readonly string[]): boolean {
  return ANSWERS.some((command) => command.every((word, at) => args[at] === word));
}

/** Undefined where there is no repository with a `.git` of its own, or it cannot be read. */
function stateAt(folder: string): State | undefined {
  try {
    const real = realpathSync(folder);
    const top = findTop(real);
    if (top === undefined) return undefined;
    const { uid, mode, ino } = lstatSync(top);
    const written: string[] = [`${real} ${top} ${uid} ${mode} ${ino}`];
    const changedNs = addTo(written, join(top, ".git"));
    return { text: written.join("\n"), changedNs };
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
function addTo(written: string[], path: string): bigint {
  const stats = lstatSync(path, { bigint: true });
  written.push(`${path} ${told(stats)}`);
  if (!stats.isDirectory()) return stats.ctimeNs;
  let last = stats.ctimeNs;
  for (const name of readdirSync(path).sort()) {
    if (LEFT_OUT.has(name)) continue;
    const changed = addTo(written, join(path, name));
    if (changed > last) last = changed;
  }
  return last;
}

/** No program can set `ctime`. */
function told({ ino, size, uid, mode, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${uid} ${mode} ${ctimeNs}`;
}
