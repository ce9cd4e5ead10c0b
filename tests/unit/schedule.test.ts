import { expect, test } from "bun:test";
import { backoffMs, CALL_DISTANCE_MS, SyncSchedule } from "../../daemon/budget/schedule.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { projectId } from "../support/project-id.ts";

const ONE = projectId("one");
const TWO = projectId("two");
const START = 1_000_000;

test("the first change after quiet is called about at once, and the next a second later", () => {
  const schedule = new SyncSchedule();
  expect(schedule.next(START)).toEqual({ kind: "idle" });
  schedule.markDue(ONE);
  expect(schedule.next(START)).toEqual({ kind: "call", unit: ONE, urgency: "change" });
  schedule.began(ONE);
  schedule.markDue(ONE);
  schedule.succeeded(ONE, START + 5, false);
  const until = START + 5 + CALL_DISTANCE_MS;
  expect(schedule.next(START + 6)).toEqual({ kind: "wait", until, throttled: false });
  expect(schedule.next(until)).toEqual({ kind: "call", unit: ONE, urgency: "change" });
});

test("more of the same backlog goes at once", () => {
  const schedule = new SyncSchedule();
  schedule.began(ONE);
  schedule.succeeded(ONE, START, true);
  expect(schedule.next(START)).toEqual({ kind: "call", unit: ONE, urgency: "change" });
});

test("a unit that is refused delays no other", () => {
  const schedule = new SyncSchedule();
  for (const unit of [ONE, TWO]) schedule.markDue(unit);
  schedule.began(ONE);
  schedule.unitFailed(ONE, START, 0.5);
  expect(schedule.next(START)).toEqual({ kind: "call", unit: TWO, urgency: "change" });
  schedule.began(TWO);
  schedule.succeeded(TWO, START, false);
  expect(schedule.next(START)).toEqual({ kind: "wait", until: START + 500, throttled: false });
});

test("a service that does not answer delays all, longer each time", () => {
  const schedule = new SyncSchedule();
  for (const unit of [ONE, TWO]) schedule.markDue(unit);
  let last = 0;
  for (let failures = 1; failures <= 6; failures++) {
    schedule.began(ONE);
    schedule.serviceFailed(ONE, START, { retryAfterMs: undefined, fraction: 0.999 });
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
  schedule.serviceFailed(ONE, START, { retryAfterMs: undefined, fraction: 0.9 });
  schedule.hurry();
  expect(schedule.next(START)).toEqual({ kind: "call", unit: ONE, urgency: "change" });
  schedule.began(ONE);
  schedule.serviceFailed(ONE, START, { retryAfterMs: 7000, fraction: 0.1 });
  schedule.hurry();
  expect(schedule.next(START)).toEqual({ kind: "wait", until: START + 7000, throttled: false });
  expect(schedule.next(START + 6999)).toEqual({
    kind: "wait",
    until: START + 7000,
    throttled: false,
  });
  expect(schedule.next(START + 7000)).toEqual({ kind: "call", unit: ONE, urgency: "change" });
});

test("backoff is a fraction of a span that doubles up to a minute", () => {
  expect([1, 2, 3, 7, 8, 50].map((failures) => backoffMs(failures, 0.5))).toEqual([
    500, 1000, 2000, 30_000, 30_000, 30_000,
  ]);
  expect(backoffMs(5, 0)).toBe(0);
});

test("of what may go, what a person waits for goes first, then what has waited longest", () => {
  const schedule = new SyncSchedule();
  schedule.markDue(ONE, "ask");
  schedule.markDue(TWO, "person");
  expect(schedule.next(START)).toEqual({ kind: "call", unit: TWO, urgency: "person" });
  schedule.markDue("own");
  schedule.markDue(TWO, "ask");
  schedule.began(TWO);
  expect(schedule.next(START)).toEqual({ kind: "call", unit: "own", urgency: "change" });
  schedule.markDue(ONE);
  expect(schedule.next(START)).toEqual({ kind: "call", unit: ONE, urgency: "change" });
});

test("where requests are few, no unit waits for ever behind another", () => {
  const schedule = new SyncSchedule();
  const called: string[] = [];
  for (let now = START; now < START + 60_000; now += 10_000) {
    for (const unit of [ONE, TWO]) schedule.markDue(unit);
    const step = schedule.next(now);
    if (step.kind !== "call") throw new Error("it calls");
    called.push(step.unit);
    schedule.began(step.unit);
    schedule.succeeded(step.unit, now, false);
  }
  expect(called).toEqual([ONE, TWO, ONE, TWO, ONE, TWO]);
});

test("the account's requests hold back what is less urgent, and say so", () => {
  const schedule = new SyncSchedule();
  const late = START + 500;
  const later = { person: 0, edit: late, change: late, retry: late, ask: START + 900 };
  schedule.markDue(ONE, "ask");
  expect(schedule.next(START, (urgency) => later[urgency])).toEqual({
    kind: "wait",
    until: START + 900,
    throttled: false,
  });
  schedule.markDue(TWO);
  expect(schedule.next(START, (urgency) => later[urgency])).toEqual({
    kind: "wait",
    until: START + 500,
    throttled: true,
  });
  schedule.markDue(ONE, "person");
  expect(schedule.next(START, (urgency) => later[urgency])).toMatchObject({ unit: ONE });
});

test("a new unit that gathers for a moment and then waits for requests is said to wait", () => {
  const schedule = new SyncSchedule();
  schedule.gather([ONE], START);
  const minute = START + 60_000;
  expect(schedule.next(START, () => minute)).toEqual({
    kind: "wait",
    until: minute,
    throttled: true,
  });
});

test("a clock that stood still makes no wait longer that the service asked for", () => {
  const schedule = new SyncSchedule();
  schedule.markDue(ONE);
  schedule.began(ONE);
  schedule.serviceFailed(ONE, START, { retryAfterMs: 60_000, fraction: 0 });
  schedule.slept(50_000);
  expect(schedule.next(START)).toMatchObject({ kind: "wait", until: START + 10_000 });
});

test("what is due goes along with another unit's call, though its last one was just now", () => {
  const schedule = new SyncSchedule();
  schedule.began(TWO);
  schedule.succeeded(TWO, START, false);
  schedule.markDue(TWO);
  schedule.markDue("own", "ask");
  schedule.markDue(ONE);
  expect(schedule.next(START + 1)).toMatchObject({ kind: "call", unit: ONE });
  expect(schedule.along(START + 1)).toEqual([TWO, ONE, "own"]);
});

test("what was refused goes along with no call before its time", () => {
  const schedule = new SyncSchedule();
  schedule.markDue(ONE);
  schedule.began(ONE);
  schedule.unitFailed(ONE, START, 0.5);
  schedule.markDue(TWO);
  expect(schedule.along(START)).toEqual([TWO]);
  expect(schedule.along(START + 500)).toEqual([ONE, TWO]);
});

test("what a call did not come to is as urgent as before, and goes before what has more", () => {
  const schedule = new SyncSchedule();
  schedule.markDue(ONE);
  schedule.markDue(TWO, "person");
  for (const unit of [ONE, TWO]) schedule.began(unit);
  schedule.leftOut(TWO);
  schedule.succeeded(ONE, START, true);
  expect(schedule.next(START)).toEqual({ kind: "call", unit: TWO, urgency: "person" });
  for (let round = 0; round < 3; round++) {
    for (const unit of [ONE, TWO]) schedule.began(unit);
    schedule.markDue(TWO);
    schedule.succeeded(ONE, START, true);
    expect(schedule.along(START)).toEqual([TWO, ONE]);
  }
});

test("what comes to be followed waits for more, not for ever, and for nobody in a hurry", () => {
  const schedule = new SyncSchedule();
  const ids = Array.from({ length: 30 }, (_, at) => projectId(`${at}`));
  let now = START;
  const come = (id: ProjectId) => {
    now += 400;
    schedule.gather([id], now);
  };
  for (const id of ids.slice(0, 3)) come(id);
  expect(schedule.next(now)).toEqual({ kind: "wait", until: now + 500, throttled: false });
  expect(schedule.next(now + 500)).toMatchObject({ kind: "call", unit: ids[0] });
  expect(schedule.along(now + 500)).toEqual(ids.slice(0, 3));
  for (const id of ids) come(id);
  expect(schedule.next(now)).toMatchObject({ kind: "call" });
  schedule.gather([ONE], now);
  schedule.hurry();
  expect(schedule.next(now)).toMatchObject({ kind: "call" });
});

/** From the first of them on one comes every nine seconds. Resolves to when the last one came. */
function comeSlowly(schedule: SyncSchedule, ids: readonly ProjectId[]): number {
  for (const [at, id] of ids.entries()) {
    schedule.gather([id], START + at * 9000);
    for (let ms = 0; ms < 9000; ms += 400) {
      const now = START + at * 9000 + ms;
      schedule.gatherOn(now);
      expect(schedule.next(now).kind).toBe("wait");
    }
  }
  return START + (ids.length - 1) * 9000;
}

test("however long more go on to come, what came first waits two minutes", () => {
  const schedule = new SyncSchedule();
  const ids = Array.from({ length: 13 }, (_, at) => projectId(`${at}`));
  comeSlowly(schedule, ids);
  for (let ms = 117_000; ms < 120_000; ms += 400) {
    schedule.gather([ONE], START + ms);
    schedule.gatherOn(START + ms);
    expect(schedule.next(START + ms).kind).toBe("wait");
  }
  schedule.gatherOn(START + 120_000);
  expect(schedule.next(START + 120_000)).toMatchObject({ kind: "call", unit: ids[0] });
});

test("where more are on their way, what has come waits ten seconds for the next, or fills a call", () => {
  const schedule = new SyncSchedule();
  const ids = Array.from({ length: 50 }, (_, at) => projectId(`${at}`));
  const now = comeSlowly(schedule, ids.slice(0, 12)) + 9800;
  schedule.gatherOn(now);
  expect(schedule.next(now)).toEqual({ kind: "wait", until: now + 200, throttled: false });
  expect(schedule.next(now + 200)).toMatchObject({ kind: "call" });
  schedule.gather(ids.slice(12), now);
  expect(schedule.next(now)).toMatchObject({ kind: "call", unit: ids[0] });
});

test("an edit of what gathers waits for nobody, and takes the others along", () => {
  const schedule = new SyncSchedule();
  schedule.gather([ONE, TWO], START);
  schedule.markDue(ONE, "edit");
  expect(schedule.next(START)).toMatchObject({ kind: "call", unit: ONE, urgency: "edit" });
  expect(schedule.along(START)).toEqual([ONE, TWO]);
});

test("what has come and was called about keeps its distance while others come", () => {
  const schedule = new SyncSchedule();
  schedule.gather([ONE], START);
  schedule.began(ONE);
  schedule.markDue(ONE);
  schedule.succeeded(ONE, START + 500, false);
  schedule.gather([TWO], START + 600);
  schedule.began(TWO);
  expect(schedule.next(START + 700)).toMatchObject({ kind: "wait", until: START + 1500 });
});

test("what was refused is tried again as less than a change, until it is written again", () => {
  const schedule = new SyncSchedule();
  schedule.markDue(ONE, "edit");
  schedule.began(ONE);
  schedule.unitFailed(ONE, START, 0);
  expect(schedule.next(START)).toMatchObject({ urgency: "retry" });
  schedule.markDue(ONE, "edit");
  expect(schedule.next(START)).toMatchObject({ urgency: "edit" });
  schedule.began(ONE);
  schedule.succeeded(ONE, START, true);
  expect(schedule.next(START)).toMatchObject({ urgency: "edit" });
});

test("edits, changes and retries take turns where the account allows one of them", () => {
  const schedule = new SyncSchedule();
  schedule.markDue(ONE, "retry");
  schedule.markDue(TWO, "edit");
  expect(schedule.next(START)).toMatchObject({ unit: ONE });
  schedule.began(ONE);
  schedule.markDue(ONE, "edit");
  expect(schedule.next(START)).toMatchObject({ unit: TWO });
});
