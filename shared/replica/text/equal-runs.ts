import { ITEMS_PER_STEP, type Steps } from "../../steps.ts";

/** `count` items from `at` of one list equal those from `from` of the other. */
export interface EqualRun {
  readonly at: number;
  readonly from: number;
  readonly count: number;
}

/** The furthest point that was reached on a diagonal, and the equal runs before, last first. */
interface Path {
  /** The last item of `before` that is passed. */
  at: number;
  runs: LinkedRun | undefined;
}

interface LinkedRun extends EqualRun {
  readonly earlier: LinkedRun | undefined;
}

/**
 * The equal runs of a smallest edit that turns `before` into `after`, in order; none if it has over
 * `editLengthMax` items. This is Myers' search as the package `diff` does it: of several smallest
 * edits it finds the same one, which every replica has to find.
 */
export function* equalRuns(
  before: readonly string[],
  after: readonly string[],
  editLengthMax: number,
): Steps<readonly EqualRun[]> {
  const search = new Search(before, after);
  if (search.follow({ at: -1, runs: undefined }, 0)) return search.found();
  const lengthMax = Math.min(before.length + after.length, editLengthMax);
  for (let length = 1; length <= lengthMax; length++) {
    if (yield* search.lengthen(length)) return search.found();
  }
  return [];
}

class Search {
  readonly #before: readonly string[];
  readonly #after: readonly string[];
  /** By diagonal: how far `before` is ahead of `after`. */
  readonly #paths = new Map<number, Path>();
  /** Beyond these diagonals one list is at its end, so no shorter edit comes from there. */
  #lowest = Number.NEGATIVE_INFINITY;
  #highest = Number.POSITIVE_INFINITY;
  #whole: Path | undefined;
  /** Paths and items since the last step. */
  #passed = 0;

  constructor(before: readonly string[], after: readonly string[]) {
    this.#before = before;
    this.#after = after;
  }

  /** Looks at all edits of a length, from those that are one shorter. True: one is complete. */
  *lengthen(length: number): Steps<boolean> {
    const [first, last] = [Math.max(this.#lowest, -length), length];
    for (let diagonal = first; diagonal <= Math.min(this.#highest, last); diagonal += 2) {
      const path = this.#step(diagonal);
      if (path && this.follow(path, diagonal)) return true;
      if (this.#passed < ITEMS_PER_STEP) continue;
      this.#passed = 0;
      yield;
    }
    return false;
  }

  /** The better of the two paths beside a diagonal, with one item more removed or added. */
  #step(diagonal: number): Path | undefined {
    const removing = this.#paths.get(diagonal - 1);
    const adding = this.#paths.get(diagonal + 1);
    // Nobody else will go on from there.
    this.#paths.delete(diagonal - 1);
    const added = adding ? adding.at - diagonal : -1;
    const mayAdd = added >= 0 && added < this.#after.length;
    const mayRemove = removing !== undefined && removing.at + 1 < this.#before.length;
    if (adding && mayAdd && !(mayRemove && removing.at >= adding.at)) {
      return { at: adding.at, runs: adding.runs };
    }
    if (mayRemove) return { at: removing.at + 1, runs: removing.runs };
    this.#paths.delete(diagonal);
    return undefined;
  }

  /** Passes the equal items that come next on a path. True: it is at the end of both lists. */
  follow(path: Path, diagonal: number): boolean {
    const before = this.#before;
    const after = this.#after;
    const start = path.at + 1;
    let at = start;
    while (
      at < before.length &&
      at - diagonal < after.length &&
      before[at] === after[at - diagonal]
    ) {
      at++;
    }
    this.#passed += 1 + at - start;
    path.at = at - 1;
    if (at > start) {
      path.runs = { at: start, from: start - diagonal, count: at - start, earlier: path.runs };
    }
    const [isBeforeOver, isAfterOver] = [at >= before.length, at - diagonal >= after.length];
    this.#paths.set(diagonal, path);
    if (isBeforeOver && isAfterOver) this.#whole = path;
    else if (isBeforeOver) this.#highest = Math.min(this.#highest, diagonal - 1);
    else if (isAfterOver) this.#lowest = Math.max(this.#lowest, diagonal + 1);
    return isBeforeOver && isAfterOver;
  }

  /** The runs of the complete edit. */
  found(): readonly EqualRun[] {
    const runs: EqualRun[] = [];
    for (let run = this.#whole?.runs; run; run = run.earlier) runs.push(run);
    return runs.reverse();
  }
}
