import { expect, test } from "bun:test";
import { failureBy } from "../../daemon/service/failure.ts";
import {
  type ContactEvent,
  contactNow,
  type HeardContact,
  NO_CONTACT,
  stepContact,
  toldOf,
} from "../../daemon/sync/contact.ts";
import { readTransitions } from "../support/transition-table.ts";

const NO_ROUTE = failureBy({ code: "call-failed", said: "no route" });
const refusal = (status: number) => failureBy({ code: "call-answered", status, said: "no" });
const REACHED: ContactEvent = { kind: "reached", at: 1 };
const TOKEN_REFUSED: ContactEvent = { kind: "token-refused", at: 2, why: refusal(401) };
const UNREACHED: ContactEvent = { kind: "unreached", why: NO_ROUTE };
const BUSY: ContactEvent = { kind: "busy", until: 3, why: refusal(429) };
const LIVE: ContactEvent = { kind: "socket", at: 0, state: "live" };
const SILENT: ContactEvent = { kind: "socket", at: 0, state: "silent" };
const DOWN: ContactEvent = { kind: "socket", at: 0, state: "down" };
const ABSENT: ContactEvent = { kind: "socket", at: 0, state: "absent" };

function after(...events: readonly ContactEvent[]): HeardContact {
  return events.reduce(stepContact, NO_CONTACT);
}

/** What is told after these, of a service for which no call waits. */
function told(...events: readonly ContactEvent[]): unknown {
  const of = toldOf(contactNow(after(...events), undefined));
  return of && [of.event, of.reason, of.code];
}

const EVENTS: Readonly<Record<string, ContactEvent>> = {
  reached: REACHED,
  "token refused": TOKEN_REFUSED,
  unreached: UNREACHED,
  busy: BUSY,
  silent: SILENT,
  heard: LIVE,
  closed: DOWN,
};

const stateOf = (heard: HeardContact) => toldOf(contactNow(heard, undefined))?.event ?? "unknown";

test("each event leads the contact where the table of the document says", async () => {
  const found = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const open: HeardContact[] = [NO_CONTACT];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const key = JSON.stringify(state);
    if (seen.has(key)) continue;
    seen.add(key);
    for (const [name, event] of Object.entries(EVENTS)) {
      const next = stepContact(state, event);
      const cell = `${stateOf(state)} ${name}`;
      found.set(cell, (found.get(cell) ?? new Set()).add(stateOf(next)));
      open.push(next);
    }
  }
  const cells = [...found].map(([cell, to]) => [cell, [...to].sort().join(" or ")] as const);
  const table = await readTransitions("docs/design/sync.md", "contact");
  expect(cells.sort()).toEqual([...table].sort());
});

test("nothing is told of a service before anything is known", () => {
  expect(told()).toBeUndefined();
  expect(told(LIVE)).toBeUndefined();
});

test("the last call says whether a service is connected, refuses the token or is offline", () => {
  expect(told(UNREACHED)).toEqual(["offline", "no route", "call-failed"]);
  for (const before of [REACHED, TOKEN_REFUSED, UNREACHED]) {
    expect(told(before, REACHED)).toEqual(["connected", null, null]);
    expect(told(before, TOKEN_REFUSED)).toEqual([
      "refused",
      "it answered 401: no",
      "call-answered",
    ]);
    expect(told(before, UNREACHED)).toEqual(["offline", "no route", "call-failed"]);
  }
});

test("a silent socket makes a service offline until anything is heard of it", () => {
  expect(told(REACHED, LIVE, SILENT)).toEqual(["offline", "it does not answer", "no-answer"]);
  expect(told(REACHED, LIVE, SILENT, DOWN)).toEqual(["offline", "it does not answer", "no-answer"]);
  expect(told(REACHED, LIVE, SILENT, LIVE)).toEqual(["connected", null, null]);
  expect(told(REACHED, LIVE, SILENT, REACHED)).toEqual(["connected", null, null]);
  expect(told(REACHED, LIVE, SILENT, TOKEN_REFUSED)).toEqual([
    "refused",
    "it answered 401: no",
    "call-answered",
  ]);
});

test("a call that waits for ten seconds makes a service offline, and a shorter wait does not", () => {
  const online = (waitedMs: number) => contactNow(after(REACHED), { since: 5, waitedMs }).online;
  expect([online(9_999), online(10_000)]).toEqual([true, false]);
  expect(contactNow(after(REACHED), { since: 5, waitedMs: 1 }).unansweredSince).toBe(5);
  expect(contactNow(after(UNREACHED), { since: 5, waitedMs: 10_000 }).why).toEqual(NO_ROUTE);
});

test("the last contact with a service is when its socket ended, unless that was silent", () => {
  const ended: ContactEvent = { kind: "socket", at: 9, state: "down" };
  const silent: ContactEvent = { kind: "socket", at: 8, state: "silent" };
  expect(after(REACHED, LIVE, ended).lastContactAt).toBe(9);
  expect(after(REACHED, LIVE, silent).lastContactAt).toBe(1);
  expect(after(REACHED, LIVE, silent, ended).lastContactAt).toBe(1);
  expect(after(REACHED, ended).lastContactAt).toBe(1);
});

test("a socket that is not offered stays so when one more attempt fails", () => {
  expect(after(REACHED, ABSENT, DOWN).socket).toBe("absent");
  expect(after(REACHED, ABSENT, LIVE, DOWN).socket).toBe("down");
});
