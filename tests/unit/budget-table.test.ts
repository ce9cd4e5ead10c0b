import { expect, test } from "bun:test";
import { Budget, type Limits, type Urgency } from "../../daemon/budget/budget.ts";
import type { ToldQuota } from "../../daemon/budget/quota-headers.ts";
import { readTransitions } from "../support/transition-table.ts";

const NOW = Date.UTC(2026, 0, 1, 8);
const DAY_MS = 24 * 60 * 60_000;
const LIMITS: readonly Limits[] = ["published", "told", "none"];
const URGENCIES: readonly Urgency[] = ["person", "edit", "change", "retry", "ask"];

function quotas(minute = 60): ToldQuota[] {
  return [
    { name: "minute", limit: 60, windowMs: 60_000, remaining: minute, moreInMs: 30_000 },
    { name: "day", limit: 10_000, windowMs: DAY_MS, remaining: 9000, moreInMs: DAY_MS / 2 },
  ];
}

function budgetWith(limits: Limits, minute?: number): Budget {
  const budget = new Budget(undefined, NOW);
  if (limits === "told") budget.answered(quotas(minute), NOW, 0);
  if (limits === "none") budget.unlimited();
  return budget;
}

function send(budget: Budget, requests: number): Budget {
  for (let i = 0; i < requests; i++) budget.sent(NOW);
  return budget;
}

/** This many requests were made before, today, and none is saved up. */
function usedBefore(budget: Budget, requests: number): Budget {
  const record = budget.record(0);
  const day = { ...record.day, sent: requests };
  return new Budget({ ...record, saved: 0, day }, NOW);
}

/** What happens to what is known of the limits, by the table's headings. */
const EVENTS: Readonly<Record<string, (budget: Budget) => Budget>> = {
  "quotas told": (budget) => {
    budget.answered(quotas(), NOW, 0);
    return budget;
  },
  "nothing told": (budget) => {
    budget.answered(undefined, NOW, 0);
    return budget;
  },
  unlimited: (budget) => {
    budget.unlimited();
    return budget;
  },
  refused: (budget) => {
    budget.refused(1000, NOW, 0);
    return budget;
  },
  restart: (budget) => new Budget(budget.record(8), NOW),
};

/** A budget in which nothing stands in a request's way but one thing, by the table's words. */
const HINDRANCES: Readonly<Record<string, (limits: Limits) => Budget>> = {
  refusal(limits) {
    const budget = budgetWith(limits);
    budget.refused(7000, NOW, 0);
    return budget;
  },
  room: (limits) => {
    const isTold = limits === "told";
    return isTold ? budgetWith(limits, 0) : send(budgetWith(limits), 60);
  },
  pace: (limits) => send(budgetWith(limits), 50),
  "pace after 820": (limits) => usedBefore(budgetWith(limits), 820),
  "pace after 900": (limits) => usedBefore(budgetWith(limits), 900),
  asking(limits) {
    const budget = budgetWith(limits);
    budget.began("ask", NOW);
    return budget;
  },
};

test("what is known of the limits changes as the table of the document says", async () => {
  const found: (readonly [string, string])[] = LIMITS.flatMap((limits) =>
    Object.entries(EVENTS).map(([event, happen]) => {
      return [`${limits} ${event}`, happen(budgetWith(limits)).limits] as const;
    }),
  );
  const table = await readTransitions("docs/design/sync.md", "limits");
  expect([...found].sort()).toEqual([...table].sort());
});

test("a request waits for what the table of the document says, and for nothing else", async () => {
  const found: (readonly [string, string])[] = LIMITS.flatMap((limits) =>
    URGENCIES.map((urgency) => {
      const waitsFor = Object.entries(HINDRANCES).filter(([, hinder]) => {
        return hinder(limits).notBefore(urgency, NOW) > NOW;
      });
      const names = waitsFor.map(([name]) => name);
      // What waits for the pace earlier waits for it later, too.
      const later = names.filter((name) => name.startsWith("pace")).slice(1);
      const first = names.filter((name) => !later.includes(name));
      return [`${limits} ${urgency}`, first.join(", ")] as const;
    }),
  );
  const table = await readTransitions("docs/design/sync.md", "waits for");
  expect([...found].sort()).toEqual([...table].sort());
});
