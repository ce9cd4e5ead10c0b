import { expect, test } from "bun:test";
import { backoffMs, CALL_DISTANCE_MS, SyncSchedule } from "../../daemon/sync/schedule.ts";
import type { ProjectId } from "../../shared/ids.ts";

const ONE = "proj_one" as ProjectId;
const TWO = "proj_two" as ProjectId;
const START = 1_000_000;

test("the first change after quiet is called about at once, and the next a second later", () => {
  const schedule = new SyncSchedule();
  expect(schedule.next(START)).toEqual({ kind: "idle" });
  schedule.markDue(ONE);
  expect(schedule.next(START)).toEqual({ kind: "call", unit: ONE });
  schedule.began(ONE);
  schedule.markDue(ONE);
  schedule.succeeded(ONE, START + 5, false);
  const until = START + 5 + CALL_DISTANCE_MS;
  expect(schedule.next(START + 6)).toEqual({ kind: "wait", until });
  expect(schedule.next(until)).toEqual({ kind: "call", unit: ONE });
});

test("more of the same backlog goes at once", () => {
  const schedule = new SyncSchedule();
  schedule.began(ONE);
  schedule.succeeded(ONE, START, true);
  expect(schedule.next(START)).toEqual({ kind: "call", unit: ONE });
});

test("a unit that is refused delays no other", () => {
  const schedule = new SyncSchedule();
  for (const unit of [ONE, TWO]) schedule.markDue(unit);
  schedule.began(ONE);
  schedule.unitFailed(ONE, START, 0.5);
  expect(schedule.next(START)).toEqual({ kind: "call", unit: TWO });
  schedule.began(TWO);
  schedule.succeeded(TWO, START, false);
  expect(schedule.next(START)).toEqual({ kind: "wait", until: START + 500 });
});

test("a service that does not answer delays all, longer each time", () => {
  const schedule = new SyncSchedule();
  for (const unit of [ONE, TWO]) schedule.markDue(unit);
  let last = 0;
  for (let failures = 1; failures <= 6; failures++) {
    schedule.began(ONE);
    schedule.serviceFailed(ONE, START, undefined, 0.999);
    const step = schedule.next(START);
    if (step.kind !== "wait") throw new Error("it waits");
    expect(step.until - START).toBeGreaterThan(last);
    last = step.until - START;
  }
});

test("hurry ends a backoff, and never a wait that the service asked for", () => {
  const schedule = new SyncSchedule();
  schedule.markDue(ONE);
  schedule.began(ONE);
  schedule.serviceFailed(ONE, START, undefined, 0.9);
  schedule.hurry();
  expect(schedule.next(START)).toEqual({ kind: "call", unit: ONE });
  schedule.began(ONE);
  schedule.serviceFailed(ONE, START, 7000, 0.1);
  schedule.hurry();
  expect(schedule.next(START)).toEqual({ kind: "wait", until: START + 7000 });
  expect(schedule.next(START + 6999)).toEqual({ kind: "wait", until: START + 7000 });
  expect(schedule.next(START + 7000)).toEqual({ kind: "call", unit: ONE });
});

test("backoff is a fraction of a span that doubles up to a minute", () => {
  expect([1, 2, 3, 7, 8, 50].map((failures) => backoffMs(failures, 0.5))).toEqual([
    500, 1000, 2000, 30_000, 30_000, 30_000,
  ]);
  expect(backoffMs(5, 0)).toBe(0);
});
