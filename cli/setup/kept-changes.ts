import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isMissing } from "../../daemon/disk/read-file.ts";

/**
 * A change that memsync made to a file of an assistant's settings: at `offset`, in UTF-16 units,
 * `removed` became `inserted`. With it the file gets back every byte that it had.
 *
 * ```
 * const change = spliceBetween(undefined, "{}\n"); // the file did not exist before
 * ```
 */
export interface KeptChange {
  readonly offset: number;
  readonly removed: string;
  readonly inserted: string;
  readonly existed: boolean;
}

export function spliceBetween(before: string | undefined, after: string): KeptChange {
  const from = before ?? "";
  const most = Math.min(from.length, after.length);
  let offset = 0;
  while (offset < most && from[offset] === after[offset]) offset++;
  let tail = 0;
  while (tail < most - offset && from.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return {
    offset,
    removed: from.slice(offset, from.length - tail),
    inserted: after.slice(offset, after.length - tail),
    existed: before !== undefined,
  };
}

/** The text before the change; undefined: there was no file. */
export function undone(
  text: string,
  { offset, removed, inserted, existed }: KeptChange,
): string | undefined {
  if (!existed) return undefined;
  return text.slice(0, offset) + removed + text.slice(offset + inserted.length);
}

/**
 * The text before a change, where somebody has changed something else since: without what was
 * inserted, if that stands in it just so, and once. Undefined where it does not.
 */
export function undoneAround(
  text: string,
  { inserted, removed, existed }: KeptChange,
): string | undefined {
  const [before, after, ...more] = inserted === "" ? [] : text.split(inserted);
  const isFound = before !== undefined && after !== undefined && more.length === 0;
  return existed && isFound ? before + removed + after : undefined;
}

interface Kept {
  /** SHA-256, in hex, of the file's bytes after the last change; empty if it is not known. */
  readonly hash: string;
  /** The oldest first. */
  readonly changes: readonly KeptChange[];
}

/** The changes that can still be undone, by path of the settings, in a file of the home. */
export class KeptChanges {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined where there are none, or where somebody has changed the file since. */
  of(path: string, hash: string): readonly KeptChange[] | undefined {
    const kept = this.#read().get(path);
    return kept?.hash === hash ? kept.changes : undefined;
  }

  /** The changes that were made, whatever somebody has changed since. */
  madeIn(path: string): readonly KeptChange[] {
    return this.#read().get(path)?.changes ?? [];
  }

  /** `changes` empty: nothing is left to undo. */
  keep(path: string, hash: string, changes: readonly KeptChange[]): void {
    const all = this.#read();
    if (changes.length > 0) all.set(path, { hash, changes });
    else all.delete(path);
    this.#write(all);
  }

  #read(): Map<string, Kept> {
    try {
      return new Map(Object.entries(JSON.parse(readFileSync(this.#path, "utf8"))));
    } catch (thrown) {
      if (isMissing(thrown) || thrown instanceof SyntaxError) return new Map();
      throw thrown;
    }
  }

  #write(all: ReadonlyMap<string, Kept>): void {
    if (all.size === 0) {
      rmSync(this.#path, { force: true });
      return;
    }
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const beside = `${this.#path}.new`;
    writeFileSync(beside, JSON.stringify(Object.fromEntries(all)), { mode: 0o600 });
    renameSync(beside, this.#path);
  }
}
