import { expect, test } from "bun:test";
import { EMBEDDED, UNKNOWN_SERVICE } from "../../daemon/home/remote.ts";
import { failureBy } from "../../daemon/service/failure.ts";
import { serviceState } from "../../daemon/status/service-state.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { madeUpStatus, statusLines } from "../support/made-up-status.ts";

const URL = "https://memory.example.com";
const NAMES = [URL, EMBEDDED, UNKNOWN_SERVICE];
const BOTH = [true, false];
const SOCKETS = [undefined, "live", "silent", "down", "absent", "refused"] as const;
const SLOWER = failureBy({ code: "call-answered", status: 429, said: "slower" });
const REASONS = [undefined, failureBy({ code: "call-answered", status: 500, said: "no" })];
const BUSY = [undefined, Date.parse("2026-01-01T00:01:00.000Z")];
const CONTACTS = [null, "2026-01-01T00:00:00.000Z"];

/** Everything that can be known of a service, be it likely or not. */
const ALL = NAMES.flatMap((name) =>
  BOTH.flatMap((isBlocked) =>
    BOTH.flatMap((online) =>
      BOTH.flatMap((plain) =>
        BOTH.flatMap((tokenRefused) =>
          SOCKETS.flatMap((socket) =>
            REASONS.flatMap((why) =>
              BUSY.map((busyUntil) => {
                const contact = { online, plain, tokenRefused, socket, why, busyUntil };
                return { name, isBlocked, contact };
              }),
            ),
          ),
        ),
      ),
    ),
  ),
);

const WORDS = [
  "connected",
  "reconnecting",
  "answers",
  "connecting",
  "busy: ",
  "offline: ",
  "refuses the token ",
  "can't be called: ",
];
const WORD = new RegExp(
  `^service {3}(kept here alone: |embedded, kept in |\\S+ {3}(${WORDS.join("|")}))`,
);

test("whatever is known of a service, its line has a word for how it stands", () => {
  expect(ALL).toHaveLength(3 * 2 * 2 * 2 * 2 * 6 * 2 * 2);
  for (const facts of ALL) {
    for (const last_contact_at of CONTACTS) {
      for (const calm of BOTH) {
        const state = serviceState(facts);
        const { name, contact } = facts;
        const { online, plain, why, busyUntil } = contact;
        const status = madeUpStatus([]);
        const [remote] = status.remotes;
        const busy_until = busyUntil === undefined ? null : timestampOf(busyUntil);
        const message = why?.message ?? null;
        const said = { name, state, online, plain, message, last_contact_at, busy_until };
        const remotes = remote ? [{ ...remote, service: { ...remote.service, ...said } }] : [];
        const [line] = statusLines({ ...status, remotes }, { calm });
        expect(line).toMatch(WORD);
        expect(line).not.toContain("null");
        expect(line).not.toContain("undefined");
      }
    }
  }
});

test("a service that answered last and whose socket is gone is reconnecting", () => {
  const known = { online: true, plain: false, tokenRefused: false, why: undefined };
  const contact = { ...known, busyUntil: undefined };
  const stateWith = (socket: (typeof SOCKETS)[number], others: Partial<typeof contact> = {}) =>
    serviceState({ name: URL, isBlocked: false, contact: { ...contact, socket, ...others } });
  expect(stateWith("live")).toBe("connected");
  expect(stateWith("down")).toBe("reconnecting");
  expect(stateWith(undefined)).toBe("connecting");
  expect(stateWith("absent")).toBe("asked");
  expect(stateWith("down", { plain: true })).toBe("asked");
  expect(stateWith("refused", { tokenRefused: true })).toBe("token-refused");
  expect(stateWith("down", { online: false })).toBe("connecting");
});

test("a busy service is neither offline nor not reached yet, and is asked again at a time", () => {
  const heard = { online: false, plain: false, tokenRefused: false, socket: undefined };
  const contact = { ...heard, why: SLOWER, busyUntil: 1 };
  expect(serviceState({ name: URL, isBlocked: false, contact })).toBe("busy");
  const status = madeUpStatus([]);
  const [remote] = status.remotes;
  const busy_until = "2026-01-01T00:01:00.000Z";
  const said = {
    name: URL,
    state: "busy",
    online: false,
    message: contact.why.message,
    busy_until,
  } as const;
  const remotes = remote ? [{ ...remote, service: { ...remote.service, ...said } }] : [];
  const lineAt = (now: string) => statusLines({ ...status, remotes }, { now: Date.parse(now) })[0];
  expect(lineAt("2026-01-01T00:00:35.000Z")).toBe(
    `service   ${URL}   busy: it answered 429: slower; asked again in 25 s; what is saved here goes then`,
  );
  expect(lineAt("2026-01-01T00:02:00.000Z")).toContain("asked again now");
});
