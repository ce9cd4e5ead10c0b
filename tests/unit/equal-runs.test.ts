import { expect, test } from "bun:test";
import { diffArrays } from "diff";
import { type EqualRun, equalRuns } from "../../shared/replica/text/equal-runs.ts";
import { inOneTurn } from "../../shared/steps.ts";
import { pick, seededRandom } from "../support/random.ts";

/** What the package finds, as runs. */
function runsOfPackage(before: string[], after: string[], maxEditLength: number): EqualRun[] {
  const runs: EqualRun[] = [];
  let [at, from] = [0, 0];
  for (const { added, removed, count } of diffArrays(before, after, { maxEditLength }) ?? []) {
    if (!added && !removed) runs.push({ at, from, count });
    if (!added) at += count;
    if (!removed) from += count;
  }
  return runs;
}

function listOf(random: () => number, words: readonly string[], lengthMax: number): string[] {
  return Array.from({ length: Math.floor(random() * lengthMax) }, () => pick(random, words));
}

/** Another list, or the same with some items replaced, removed or put elsewhere. */
function changed(random: () => number, list: readonly string[], words: readonly string[]) {
  if (random() < 0.3) return listOf(random, words, 60);
  const next = [...list];
  for (let edits = Math.floor(random() * 8); edits > 0; edits--) {
    const at = Math.floor(random() * (next.length + 1));
    const removed = next.splice(at, Math.floor(random() * 5));
    const to = random() < 0.3 ? Math.floor(random() * (next.length + 1)) : at;
    next.splice(to, 0, ...(random() < 0.5 ? removed : listOf(random, words, 5)));
  }
  return next;
}

/** `MEMSYNC_SEED=1` tries that one; a failure prints its own. */
test("the search finds the edit that the package finds", () => {
  const seed = Number(process.env.MEMSYNC_SEED ?? Date.now() % 1_000_000);
  const random = seededRandom(seed);
  for (let round = 0; round < 4000; round++) {
    const words = ["a", "b", "c", "d", "e", "f", "g"].slice(0, 1 + Math.floor(random() * 7));
    const before = listOf(random, words, 60);
    const after = changed(random, before, words);
    const lengthMax = random() < 0.2 ? Math.floor(random() * 12) : 1500;
    const found = inOneTurn(equalRuns(before, after, lengthMax));
    const runs = found.map(({ at, from, count }) => ({ at, from, count }));
    const expected = { seed, runs: runsOfPackage(before, after, lengthMax) };
    expect({ seed, runs }).toEqual(expected);
  }
});

test("the search for equal runs stops often, so that others get a turn", () => {
  const random = seededRandom(7);
  const [one = [], other = []] = [1, 2].map(() =>
    Array.from({ length: 3000 }, () => pick(random, ["a", "b"])),
  );
  expect([...equalRuns(one, other, 1500)].length).toBeGreaterThan(40);
});
