import { expect, test } from "bun:test";
import type { SyncUnit } from "../../daemon/budget/sync-units.ts";
import { NewUnits } from "../../daemon/sync/new-units.ts";
import { projectId } from "../support/project-id.ts";

const ONE = projectId("one");
const TWO = projectId("two");
const MINUTE = 60_000;

/** Units of which only those in `awaited` have a text that is yet to be taken. */
function units(awaited: readonly SyncUnit[] = [], isLinking = () => false): NewUnits {
  return new NewUnits({ isLinking, isTextAwaited: (unit) => awaited.includes(unit) });
}

test("a unit is new from when it came until its first text is taken, or two minutes are over", () => {
  const fresh = units();
  expect(fresh.has(ONE, 0)).toBe(false);
  fresh.came([ONE]);
  expect([fresh.has(ONE, 60 * MINUTE), fresh.isHeard(ONE)]).toEqual([true, false]);
  fresh.heard([ONE, TWO], 0);
  expect([fresh.isHeard(ONE), fresh.isHeard(TWO)]).toEqual([true, false]);
  expect(fresh.has(ONE, 2 * MINUTE - 1)).toBe(true);
  expect(fresh.has(ONE, 2 * MINUTE)).toBe(false);
  fresh.forget(ONE);
  expect([fresh.has(ONE, 0), fresh.isHeard(ONE)]).toEqual([false, false]);
  fresh.heard([ONE], 0);
  expect(fresh.has(ONE, 0)).toBe(false);
});

test("more is coming while folders are linked, and while a text that was asked for is not here", () => {
  let isLinking = true;
  const fresh = units([ONE], () => isLinking);
  expect(fresh.isMoreComing(0)).toBe(true);
  isLinking = false;
  fresh.came([ONE, TWO]);
  // The text of what the service was not heard about waits for that.
  expect(fresh.isMoreComing(0)).toBe(false);
  fresh.heard([ONE, TWO], 0);
  expect(fresh.isMoreComing(0)).toBe(true);
  fresh.forget(ONE);
  expect(fresh.isMoreComing(0)).toBe(false);
});

test("a text that never comes is waited for two minutes", () => {
  const fresh = units([ONE]);
  fresh.came([ONE]);
  fresh.heard([ONE], MINUTE);
  expect(fresh.isMoreComing(3 * MINUTE - 1)).toBe(true);
  expect(fresh.isMoreComing(3 * MINUTE)).toBe(false);
});

test("asking changes nothing", () => {
  const awaited: SyncUnit[] = [];
  const fresh = units(awaited);
  fresh.came([ONE]);
  fresh.heard([ONE], 0);
  expect(fresh.isMoreComing(0)).toBe(false);
  awaited.push(ONE);
  expect([fresh.has(ONE, 0), fresh.isMoreComing(0)]).toEqual([true, true]);
});
