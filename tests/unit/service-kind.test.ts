import { expect, test } from "bun:test";
import {
  KIND_UNKNOWN,
  type KindEvent,
  type KnownKind,
  mustAsk,
  stepKind,
} from "../../daemon/sync/service-kind.ts";

const ASK_AGAIN_MS = 600_000;
const EXCHANGED: KindEvent = { kind: "exchanged" };
const ASKED: KindEvent = { kind: "asked", at: 0 };
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
  expect(after(ASKED).kind).toBeUndefined();
  expect(after(ASKED, READ).kind).toBe("plain");
  expect(after(EXCHANGED, ASKED, READ).kind).toBe("plain");
  expect(after(ASKED, READ, EXCHANGED).kind).toBe("extended");
});

test("a plain service is asked again after ten minutes", () => {
  const plain = after(ASKED, READ);
  expect([mustAsk(plain, ASK_AGAIN_MS - 1), mustAsk(plain, ASK_AGAIN_MS)]).toEqual([false, true]);
});

test("a plain service is asked again at once when it was out of reach or begins to show more", () => {
  expect(mustAsk(after(ASKED, READ, UNREACHABLE), 1)).toBe(true);
  expect(mustAsk(after(ASKED, showed(true), READ), 1)).toBe(true);
  expect(mustAsk(after(ASKED, showed(true), READ, ASKED, showed(true)), 1)).toBe(false);
  expect(mustAsk(after(showed(true), ASKED, showed(false), showed(true)), 1)).toBe(true);
});
