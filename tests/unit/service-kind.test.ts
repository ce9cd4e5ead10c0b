import { expect, test } from "bun:test";
import {
  KIND_UNKNOWN,
  type KindEvent,
  type KnownKind,
  mustAsk,
  stepKind,
} from "../../daemon/sync/service-kind.ts";
import { readTransitions } from "../support/transition-table.ts";

const ASK_AGAIN_MS = 600_000;
const EXCHANGED: KindEvent = { kind: "exchanged" };
const PUBLISHED: KindEvent = { kind: "published", at: 0 };
const READ: KindEvent = { kind: "read" };
const UNREACHABLE: KindEvent = { kind: "unreachable" };
const showed = (more: boolean): KindEvent => ({ kind: "showed", more });

function after(...events: readonly KindEvent[]): KnownKind {
  return events.reduce(stepKind, KIND_UNKNOWN);
}

test("a service of which nothing is known, or that has the exchange, is asked each time", () => {
  expect([KIND_UNKNOWN.kind, mustAsk(KIND_UNKNOWN, 0)]).toEqual([undefined, true]);
  const extended = after(EXCHANGED);
  expect([extended.kind, mustAsk(extended, 0)]).toEqual(["extended", true]);
});

test("an answer without an exchange makes none plain before it was read", () => {
  expect(after(PUBLISHED).kind).toBeUndefined();
  expect(after(PUBLISHED, READ).kind).toBe("plain");
  expect(after(EXCHANGED, PUBLISHED, READ).kind).toBe("plain");
  expect(after(PUBLISHED, READ, EXCHANGED).kind).toBe("extended");
});

test("a plain service is asked again after ten minutes", () => {
  const plain = after(PUBLISHED, READ);
  expect([mustAsk(plain, ASK_AGAIN_MS - 1), mustAsk(plain, ASK_AGAIN_MS)]).toEqual([false, true]);
});

test("a plain service is asked again at once when it was out of reach or begins to show more", () => {
  expect(mustAsk(after(PUBLISHED, READ, UNREACHABLE), 1)).toBe(true);
  expect(mustAsk(after(PUBLISHED, showed(true), READ), 1)).toBe(true);
  expect(mustAsk(after(PUBLISHED, showed(true), READ, PUBLISHED, showed(true)), 1)).toBe(false);
  expect(mustAsk(after(showed(true), PUBLISHED, showed(false), showed(true)), 1)).toBe(true);
});

/** What is known, and the time of the world's steady clock. */
interface Moment {
  readonly known: KnownKind;
  readonly now: number;
}

const hear = (...events: readonly KindEvent[]) => {
  return ({ known, now }: Moment): Moment => ({ known: events.reduce(stepKind, known), now });
};

/** As the columns of the table name them. */
const EVENTS: Readonly<Record<string, (moment: Moment) => Moment>> = {
  exchanged: hear(EXCHANGED),
  published: (moment) => hear({ kind: "published", at: moment.now }, READ)(moment),
  "shows more": hear(showed(true)),
  "shows less": hear(showed(false)),
  unreachable: hear(UNREACHABLE),
  "ten minutes": ({ known, now }) => ({ known, now: now + ASK_AGAIN_MS }),
};

function stateOf({ known, now }: Moment): string {
  if (known.kind !== "plain") return known.kind ?? "unknown";
  return mustAsk(known, now) ? "due" : "plain";
}

/** Moments that differ in nothing that could lead to another state. */
const keyOf = (moment: Moment) => {
  const { kind, isToAsk, showedMore } = moment.known;
  return JSON.stringify([stateOf(moment), kind, isToAsk, showedMore]);
};

test("each event leads what is known of a service where the table says", async () => {
  const found = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const open: Moment[] = [{ known: KIND_UNKNOWN, now: 0 }];
  for (let moment = open.pop(); moment !== undefined; moment = open.pop()) {
    if (seen.has(keyOf(moment))) continue;
    seen.add(keyOf(moment));
    for (const [name, lead] of Object.entries(EVENTS)) {
      const next = lead(moment);
      const cell = `${stateOf(moment)} ${name}`;
      found.set(cell, (found.get(cell) ?? new Set()).add(stateOf(next)));
      open.push(next);
    }
  }
  const cells = [...found].map(([cell, to]) => [cell, [...to].sort().join(" or ")] as const);
  const table = await readTransitions("docs/design/published-only.md", "kind");
  expect(cells.sort()).toEqual([...table].sort());
});
