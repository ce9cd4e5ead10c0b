import { Fleet } from "./fleet.ts";

const SECOND_MS = 1000;
const HOUR_MS = 60 * 60 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
const MACHINES = 10;
const MINUTE_LIMIT = 60;
const DAY_LIMIT = 10_000;
/** With sockets, what one machine writes is shown on all others after so long at most. */
const SHOWN_MS_MAX = 120 * SECOND_MS;
/** Without, a machine also has to ask or to write itself before it hears of it. */
const HEARD_MS_MAX = 300 * SECOND_MS;
const ASKED_PART_MAX = 0.3;
/** A person on a busy machine waits no longer for an answer. */
const PERSON_MS_MAX = 2 * SECOND_MS;
/** In the end nothing is missing after this. */
const REST_MS = 5 * 60 * SECOND_MS;

/** What is in a run; `beginsAt` is a time of day, in milliseconds UTC. */
export interface BusyDay {
  readonly seed: number;
  readonly sockets: boolean;
  readonly beginsAt: number;
  readonly busyMs: number;
  /** Of the rest of the day, in which nobody writes. */
  readonly quietMs: number;
}

/** What came of it; milliseconds. */
export interface BusyDayResult {
  readonly problems: readonly string[];
  readonly requests: number;
  readonly refused: number;
  readonly mostInAMinute: number;
  readonly quietRequests: number;
  readonly shownMsMedian: number;
  readonly shownMsMax: number;
}

/** Ten machines that write all the time, and then none that does, against a plan's limits. */
export async function runBusyDay(day: BusyDay): Promise<BusyDayResult> {
  const { seed, sockets, beginsAt, busyMs, quietMs } = day;
  const fleet = new Fleet({ seed, machines: MACHINES, sockets, beginsAt });
  await fleet.begin();
  fleet.work(busyMs);
  await fleet.drive(() => fleet.runFor(busyMs / 2));
  const personMs = await fleet.drive(() => fleet.syncNow());
  await fleet.drive(() => fleet.runFor(busyMs / 2 + REST_MS));
  const missing = fleet.arrivals.missing();
  const quietFrom = fleet.scheduler.now;
  await fleet.drive(() => fleet.runFor(quietMs));
  const { requests, arrivals, scheduler } = fleet;
  const delays = arrivals.delays.toSorted((one, other) => one - other);
  const result = {
    requests: requests.charged.length,
    refused: requests.refused.length,
    mostInAMinute: requests.mostInAMinute(),
    quietRequests: requests.between(quietFrom, scheduler.now),
    shownMsMedian: delays[Math.floor(delays.length / 2)] ?? 0,
    shownMsMax: delays.at(-1) ?? 0,
  };
  await fleet.end();
  const shownMsAllowed = sockets ? SHOWN_MS_MAX : HEARD_MS_MAX;
  // For a while machines ask as if something still went on.
  const askedMs = quietMs + HOUR_MS;
  const quietAllowed = sockets ? 0 : (ASKED_PART_MAX * DAY_LIMIT * askedMs) / DAY_MS;
  const found = [
    [result.mostInAMinute > MINUTE_LIMIT, `${result.mostInAMinute} requests in 60 seconds`],
    [mostInADay(fleet, beginsAt) > DAY_LIMIT, "more requests than a day allows"],
    [requests.early > 0, `${requests.early} requests before Retry-After was over`],
    [missing > 0, `${missing} writes are not shown where they should be`],
    [result.shownMsMax > shownMsAllowed, `a write was shown after ${result.shownMsMax} ms`],
    [result.quietRequests > quietAllowed, `${result.quietRequests} requests of idle machines`],
    [personMs > PERSON_MS_MAX, `a person waited ${personMs} ms`],
  ] as const;
  return { ...result, problems: found.flatMap(([isWrong, problem]) => (isWrong ? [problem] : [])) };
}

/** By days of UTC, as the service counts. */
function mostInADay({ requests, scheduler }: Fleet, beginsAt: number): number {
  let most = 0;
  for (let from = -beginsAt; from < scheduler.now; from += DAY_MS) {
    most = Math.max(most, requests.between(from, from + DAY_MS));
  }
  return most;
}
