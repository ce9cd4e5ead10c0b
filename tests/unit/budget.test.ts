import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Budget, type BudgetRecord, type Urgency } from "../../daemon/budget/budget.ts";
import type { ToldQuota } from "../../daemon/budget/quota-headers.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 0, 1, 8);

/** A minute and a day as the server tells them. */
function quotas(minute: number, day: number, now: number, moreInMs = 30_000): ToldQuota[] {
  return [
    { name: "minute", limit: 60, windowMs: MINUTE_MS, remaining: minute, moreInMs },
    {
      name: "day",
      limit: 10_000,
      windowMs: DAY_MS,
      remaining: day,
      moreInMs: DAY_MS - (now % DAY_MS),
    },
  ];
}

function told(minute = 60, day = 10_000): Budget {
  const budget = new Budget(undefined, START);
  budget.answered(quotas(minute, day, START), START, 0);
  return budget;
}

/** Makes every call that may be made in the time; gives when they were made. */
function spend(budget: Budget, urgency: Urgency, from: number, to: number): number[] {
  const times: number[] = [];
  for (let now = from; now < to; ) {
    const at = budget.notBefore(urgency, now);
    if (at > now) {
      now = at;
      continue;
    }
    budget.began(urgency, now);
    budget.sent(now);
    times.push(now);
    now += SECOND_MS;
  }
  return times;
}

describe("where an answer tells what is left", () => {
  test("a smaller plan is not taken for a crowd that used up the difference", () => {
    const budget = new Budget(undefined, START);
    const ofTeam = ([minute, day]: ToldQuota[]) => [
      { ...minute, limit: 120, remaining: 120 },
      { ...day, limit: 50_000, remaining: 49_900 },
    ];
    budget.answered(ofTeam(quotas(0, 0, START)) as ToldQuota[], START, 0.5);
    const { share } = budget;
    const later = START + 5 * MINUTE_MS;
    budget.answered(quotas(59, 9_900, later), later, 0.5);
    expect(budget.share).toBe(share);
    const soon = later + 20 * SECOND_MS;
    expect(budget.view(soon)[0]).toMatchObject({ remaining: 59 });
    expect(budget.notBefore("change", soon)).toBeLessThanOrEqual(soon);
  });

  test("when the time of more is over there is one more, and all after the whole minute", () => {
    const budget = told(57);
    const shown = (seconds: number) => budget.view(START + seconds * SECOND_MS)[0];
    expect(shown(29)).toMatchObject({ remaining: 57, moreAt: START + 30 * SECOND_MS });
    expect(shown(30)).toMatchObject({ remaining: 58, moreAt: START + MINUTE_MS });
    expect(shown(60)).toMatchObject({ remaining: 60 });
    budget.sent(START + 40 * SECOND_MS);
    expect(shown(50)).toMatchObject({ remaining: 57, moreAt: START + MINUTE_MS });
  });

  test("the first call after quiet goes at once, and fifty may follow, but for a reserve", () => {
    const budget = told();
    const times = spend(budget, "change", START, START + 50 * SECOND_MS);
    expect(times.length).toBe(50);
    const few = told(20);
    expect(spend(few, "change", START, START + 25 * SECOND_MS).length).toBe(14);
  });

  for (const fraction of [0, 0.5, 0.99]) {
    test(`after another client's burst an edit goes when all is left again (${fraction})`, () => {
      const budget = told();
      const now = START + 30 * SECOND_MS;
      budget.sent(now);
      budget.refused(50 * SECOND_MS, now, fraction);
      budget.answered(quotas(0, 9_940, now, 50 * SECOND_MS), now, fraction);
      const at = budget.notBefore("edit", now);
      expect(at).toBeGreaterThanOrEqual(now + 50 * SECOND_MS);
      expect(at).toBeLessThanOrEqual(now + MINUTE_MS);
      // Whoever waits until then has nothing more to wait for, and would not have had before.
      expect(budget.notBefore("edit", at)).toBeLessThanOrEqual(at);
      for (let before = now; before < at; before += SECOND_MS) {
        expect(budget.notBefore("edit", before)).toBe(at);
      }
    });
  }

  test("own requests that are over make room at the moment at which they are", () => {
    const budget = new Budget(undefined, START);
    for (let at = 0; at < 18; at++) budget.sent(START + at * SECOND_MS);
    const now = START + 20 * SECOND_MS;
    const moreInMs = 40 * SECOND_MS;
    const minute = { name: "minute", limit: 20, windowMs: MINUTE_MS, remaining: 2, moreInMs };
    budget.answered([minute, ...quotas(2, 9_982, now).slice(1)], now, 0.9);
    expect(budget.notBefore("change", now)).toBe(START + MINUTE_MS);
  });

  test("a person gets what the background leaves", () => {
    const budget = told(6);
    expect(budget.notBefore("change", START)).toBeGreaterThan(START);
    expect(budget.notBefore("person", START)).toBe(START);
    expect(spend(budget, "person", START, START + 20 * SECOND_MS).length).toBe(6);
    expect(budget.notBefore("person", START + 20 * SECOND_MS)).toBe(START + 30 * SECOND_MS);
  });

  test("what is left is spread over eight hours, or the time until there is more", () => {
    const budget = told();
    spend(budget, "change", START, START + HOUR_MS);
    const hour = spend(budget, "change", START + HOUR_MS, START + 2 * HOUR_MS);
    // A quarter of nine tenths of what is left, over eight hours.
    expect(hour.length).toBeGreaterThan(0.25 * 0.8 * (9700 / 8));
    expect(hour.length).toBeLessThan(0.25 * 0.9 * (10_000 / 8) + 1);
  });

  test("a day that is used up stops all until it ends, and not longer", () => {
    const budget = told(60, 0);
    const end = START + DAY_MS - (START % DAY_MS);
    spend(budget, "change", START, START + 2);
    expect(budget.notBefore("person", START)).toBe(end);
    expect(budget.notBefore("change", START)).toBeGreaterThanOrEqual(end);
    expect(budget.notBefore("change", end + MINUTE_MS)).toBeLessThanOrEqual(end + MINUTE_MS);
  });

  for (const moreInMs of [30 * SECOND_MS, 12 * HOUR_MS, undefined]) {
    test(`what is used up, of a limit that is never told, stops nothing for ever (${moreInMs})`, () => {
      const budget = new Budget(undefined, START);
      spend(budget, "change", START, START + 2 * HOUR_MS);
      const now = START + 2 * HOUR_MS;
      const quota = { name: "some", limit: undefined, windowMs: undefined, remaining: 0, moreInMs };
      budget.answered([quota], now, 0);
      const more = now + (moreInMs ?? MINUTE_MS);
      expect(spend(budget, "change", now, more).length).toBe(0);
      expect(spend(budget, "change", more, more + HOUR_MS).length).toBeGreaterThan(10);
    });
  }

  test("what others use counts: a share falls while all use too much, and rises again", () => {
    const budget = told();
    const before = budget.share;
    let left = 10_000;
    let now = START;
    for (let minute = 0; minute < 20; minute++) {
      now += MINUTE_MS;
      left -= 60;
      budget.sent(now);
      budget.answered(quotas(30, left, now), now, 0.5);
    }
    const busy = budget.share;
    expect(busy).toBeLessThan(before);
    for (let minute = 0; minute < 20; minute++) {
      now += MINUTE_MS;
      left -= 1;
      budget.sent(now);
      budget.active(now);
      budget.answered(quotas(50, left, now), now, 0.5);
    }
    expect(budget.share).toBeGreaterThan(busy * 3);
  });

  test("others that were just seen to be fast are reckoned with", () => {
    const budget = told(60, 10_000);
    budget.sent(START + SECOND_MS);
    budget.answered(quotas(40, 9980, START + SECOND_MS), START + SECOND_MS, 0);
    expect(budget.notBefore("change", START + SECOND_MS)).toBe(START + SECOND_MS);
    // Nineteen by others in a second: two seconds later there may be two left.
    expect(budget.notBefore("change", START + 3 * SECOND_MS)).toBeGreaterThan(
      START + 3 * SECOND_MS,
    );
  });
});

describe("a refusal", () => {
  test("a refusal halves the share, and nobody comes back before Retry-After", () => {
    const budget = told();
    const before = budget.share;
    budget.refused(7000, START, 0.5);
    expect(budget.share).toBe(before / 2);
    for (const urgency of ["person", "change", "ask"] as const) {
      expect(budget.notBefore(urgency, START)).toBeGreaterThanOrEqual(START + 7000);
      expect(budget.notBefore(urgency, START + 6999)).toBeGreaterThanOrEqual(START + 7000);
    }
    expect(budget.notBefore("person", START + 7000)).toBeLessThanOrEqual(START + 7000);
  });

  test("a refusal spreads machines that wait for the same moment", () => {
    const at = (fraction: number) => {
      const budget = told();
      budget.refused(7000, START, fraction);
      return budget.notBefore("change", START);
    };
    expect(at(0.9)).toBeGreaterThan(at(0.1));
  });
});

describe("where nobody tells", () => {
  test("the published limits are kept by own counting", () => {
    const budget = new Budget(undefined, START);
    const times = spend(budget, "person", START, START + 10 * MINUTE_MS);
    for (const from of times) {
      const inMinute = times.filter((time) => time >= from && time < from + MINUTE_MS);
      expect(inMinute.length).toBeLessThanOrEqual(60);
    }
    expect(times.length).toBeGreaterThan(500);
  });

  test("ten machines together stay within a day's limit, and none stops", () => {
    for (const urgency of ["edit", "change", "retry", "ask"] as const) {
      const budget = new Budget(undefined, START);
      const times: number[] = [];
      for (let hour = 0; hour < 8; hour++) {
        times.push(...spend(budget, urgency, START + hour * HOUR_MS, START + (hour + 1) * HOUR_MS));
      }
      expect(times.length * 10).toBeLessThan(10_000);
      const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
      const most = urgency === "ask" ? 10 * MINUTE_MS : 5 * MINUTE_MS + 1;
      expect(Math.max(...gaps)).toBeLessThanOrEqual(most);
    }
  });

  test("what was done here goes ahead of the pace, and what is asked or refused does not", () => {
    const inTenMinutes = (urgency: Urgency) => {
      return spend(new Budget(undefined, START), urgency, START, START + 10 * MINUTE_MS).length;
    };
    expect(inTenMinutes("edit")).toBe(540);
    expect(inTenMinutes("change")).toBe(540);
    expect(inTenMinutes("retry")).toBeLessThan(50 + 600 / 30);
    expect(inTenMinutes("ask")).toBeLessThan(10);
  });

  test("changes leave something of the day for edits, and edits for asking", () => {
    const budget = new Budget(undefined, START);
    const later = START + HOUR_MS;
    const changes = spend(budget, "change", START, later).length;
    expect(changes).toBeGreaterThanOrEqual(820);
    expect(changes).toBeLessThan(860);
    expect(spend(budget, "edit", later, later + MINUTE_MS).length).toBe(54);
    expect(spend(budget, "edit", later, later + HOUR_MS).length).toBeLessThan(100);
    expect(spend(budget, "ask", later + HOUR_MS, later + 2 * HOUR_MS).length).toBeGreaterThan(0);
  });

  test("a call at the pace pays for all of its requests", () => {
    const budget = new Budget(undefined, START);
    spend(budget, "change", START, START + HOUR_MS);
    const now = START + HOUR_MS;
    const one = budget.notBefore("change", now);
    for (let request = 0; request < 4; request++) budget.sent(one);
    const paceMs = (budget.notBefore("change", one) - one) / 4;
    expect(paceMs).toBeGreaterThan(2 * MINUTE_MS);
    budget.sent(one);
    budget.sent(one);
    expect(budget.notBefore("change", one) - one).toBeLessThan(5.5 * paceMs);
  });

  test("a machine that was refused twice keeps to its part of each minute for a while", () => {
    const budget = new Budget(undefined, START);
    budget.refused(0, START, 0);
    budget.refused(0, START + 10 * SECOND_MS, 0);
    const from = START + 20 * SECOND_MS;
    expect(spend(budget, "edit", from, from + 10 * MINUTE_MS).length).toBe(30);
    const later = from + 2 * HOUR_MS;
    for (let at = from; at < later; at += 10 * MINUTE_MS) budget.answered(undefined, at, 0);
    expect(spend(budget, "edit", later, later + MINUTE_MS).length).toBe(54);
  });

  test("a service without limits is asked as often as one likes", () => {
    const budget = new Budget(undefined, START);
    budget.unlimited();
    expect(spend(budget, "change", START, START + HOUR_MS).length).toBe(3600);
    expect(budget.view(START)).toEqual([]);
    budget.refused(5000, START, 0);
    expect(budget.notBefore("change", START)).toBe(START + 5000);
  });

  test("a request that never left costs nothing", () => {
    const budget = new Budget(undefined, START);
    for (let at = 0; at < 500; at++) {
      budget.sent(START);
      budget.unsent(START);
    }
    expect(budget.view(START).map(({ remaining }) => remaining)).toEqual([60, 10_000]);
    expect(spend(budget, "change", START, START + 45 * SECOND_MS).length).toBe(45);
  });
});

describe("why a call waits", () => {
  const untold = (urgency: Urgency, requests: number) => {
    const budget = new Budget(undefined, START);
    spend(budget, urgency, START, START + requests * SECOND_MS);
    return [budget, START + requests * SECOND_MS] as const;
  };

  test("a minute that is used up is the reason, though the day has a pace", () => {
    const [budget, now] = untold("edit", 58);
    const minute = { code: "requests-used", limit: 60, windowMs: MINUTE_MS } as const;
    expect(budget.whyLater("edit", now)).toEqual(minute);
    expect(told(0).whyLater("change", START)).toEqual(minute);
    expect(told(0).whyLater("person", START)).toEqual(minute);
  });

  test("a day that is used up is the reason, for a person, too", () => {
    const day = { code: "requests-used", limit: 10_000, windowMs: DAY_MS } as const;
    expect(told(60, 0).whyLater("person", START)).toEqual(day);
  });

  test("the pace is the reason once what goes ahead of it is used", () => {
    const [budget, now] = untold("edit", 3600);
    const why = budget.whyLater("edit", now);
    expect(why).toMatchObject({ code: "requests-pace" });
    const [telling, later] = [told(), START + 2 * MINUTE_MS];
    spend(telling, "change", START, later);
    telling.answered(quotas(40, 9900, later), later, 0);
    const paced = { code: "requests-pace", everyMs: expect.any(Number) };
    expect(telling.whyLater("change", later)).toEqual(paced as never);
  });

  test("a pause that the service asked for is the reason, and others that it refuses for", () => {
    const budget = told();
    budget.refused(7000, START, 0);
    expect(budget.whyLater("change", START)).toEqual({ code: "requests-refused" });
    const shared = new Budget(undefined, START);
    for (const at of [START, START + 10 * SECOND_MS]) shared.refused(0, at, 0);
    const from = START + 20 * SECOND_MS;
    spend(shared, "edit", from, from + 10 * SECOND_MS);
    const why = shared.whyLater("edit", from + 10 * SECOND_MS);
    expect(why).toEqual({ code: "requests-shared", limit: 3 });
  });
});

describe("asking", () => {
  test("asking takes under a third of a day, however long something goes on", () => {
    const budget = told();
    const times: number[] = [];
    let left = 10_000;
    for (let now = START; now < START + 15 * HOUR_MS; now += 10 * SECOND_MS) {
      budget.active(now);
      if (budget.notBefore("ask", now) > now) continue;
      budget.began("ask", now);
      budget.sent(now);
      times.push(now);
      budget.answered(quotas(50, --left, now), now, 0.5);
    }
    expect(times.length).toBeGreaterThan(1500);
    expect(times.length).toBeLessThan(3000);
  });

  test("asking is rare while nothing goes on", () => {
    const budget = told();
    const later = START + HOUR_MS;
    expect(spend(budget, "ask", later, later + HOUR_MS).length).toBeLessThan(70);
  });
});

describe("a restart", () => {
  const restart = (budget: Budget, now: number, held = 0) => {
    const record = JSON.parse(JSON.stringify(budget.record(held))) as BudgetRecord;
    return new Budget(record, now);
  };

  test("a restart forgets nothing that was spent", () => {
    const budget = told();
    spend(budget, "change", START, START + 50 * SECOND_MS);
    const now = START + 60 * SECOND_MS;
    const again = restart(budget, now);
    expect(again.notBefore("change", now)).toBe(budget.notBefore("change", now));
    expect(again.view(now)).toEqual(budget.view(now));
    expect(again.share).toBe(budget.share);
  });

  test("a restart counts as spent what was held", () => {
    const again = restart(told(), START, 8);
    expect(again.view(START).map(({ remaining }) => remaining)).toEqual([52, 9992]);
    expect(spend(again, "change", START, START + 60 * SECOND_MS).length).toBeLessThan(50);
  });

  test("obeys a Retry-After that is not over", () => {
    const budget = told();
    budget.refused(60_000, START, 0);
    const again = restart(budget, START + 10_000);
    expect(again.notBefore("person", START + 10_000)).toBe(START + 60_000);
  });

  test("a restart with a clock that was set back stops nothing for longer than before", () => {
    const budget = told();
    spend(budget, "change", START, START + 45 * SECOND_MS);
    budget.refused(60_000, START + 45_000, 0);
    const back = START - 3 * DAY_MS;
    const again = restart(budget, back);
    expect(again.notBefore("person", back)).toBeLessThanOrEqual(back + 60_000);
    expect(again.notBefore("person", back)).toBeGreaterThan(back);
  });
});

test("whatever a service tells, a time to go on comes out", () => {
  const number = fc.oneof(fc.nat(100), fc.constantFrom(0, 1, 1e12, 2.6e9));
  const optional = fc.option(number, { nil: undefined });
  const quota = fc.record({
    name: fc.constantFrom("a", "b"),
    limit: optional,
    windowMs: optional,
    remaining: number,
    moreInMs: optional,
  });
  fc.assert(
    fc.property(fc.array(fc.array(quota, { minLength: 1, maxLength: 2 })), (answers) => {
      const budget = new Budget(undefined, START);
      let now = START;
      for (const answer of answers) {
        now += 700;
        budget.answered(answer, now, 0.5);
        for (const urgency of ["person", "change", "ask"] as const) {
          expect(Number.isNaN(budget.notBefore(urgency, now))).toBe(false);
        }
        budget.sent(now);
      }
    }),
  );
});
