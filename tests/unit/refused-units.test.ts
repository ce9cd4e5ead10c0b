import { expect, test } from "bun:test";
import { isRefused, listRefusals } from "../../daemon/status/refused-units.ts";
import type { DaemonStatus, UnitStatus } from "../../daemon/status/status.ts";
import { isSynced } from "../../daemon/status/synced-projects.ts";
import { madeUpStatus, SYNCED } from "../support/made-up-status.ts";

const REFUSED: UnitStatus = { ...SYNCED, waiting: 1, refused: "it answered 403" };
const WAITING: UnitStatus = { ...SYNCED, waiting: 1 };

interface Given {
  readonly units: readonly UnitStatus[];
  readonly own?: UnitStatus;
  readonly online?: boolean;
  readonly isThrottled?: boolean;
  readonly fileState?: "followed" | "waiting" | "failing";
  /** The second remote, to which the last unit is bound, has no token. */
  readonly blocked?: boolean;
  /** The service of the first remote refuses its token. */
  readonly tokenRefused?: boolean;
}

function statusOf(given: Given) {
  const { units, own = SYNCED, online = true, isThrottled, fileState, blocked } = given;
  const token_refused = given.tokenRefused === true;
  const throttled = isThrottled ? { since: "", until: "" } : null;
  const folders = [
    { dir: "/a", path: "CLAUDE.md", state: fileState ?? "followed", note: null, also: [] },
  ];
  const projects = units.map((unit, at) => {
    const remote = blocked && at === units.length - 1 ? "acme" : "work";
    return { ...unit, name: `p${at}`, remote, folders };
  });
  const called = { name: "https://work.example.com", online, throttled, blocked: false };
  const said = { token_refused, message: "it answered 401" };
  const work = { name: "work", default: true, own, service: { ...called, ...said } };
  const service = { online: false, throttled: null, blocked: true, message: "no token" };
  const acme = { name: "acme", own: SYNCED, service };
  const remotes = blocked ? [work, acme] : [work];
  return { ...madeUpStatus([]), projects, remotes } as unknown as DaemonStatus;
}

test("a sync is refused when waiting would bring nothing more", () => {
  const isSo = (given: Given) => isRefused(statusOf(given));
  expect(isSo({ units: [REFUSED, SYNCED] })).toBe(true);
  expect(isSo({ units: [{ ...REFUSED, waiting: 0, contacted: false }] })).toBe(true);
  expect(isSo({ units: [SYNCED], own: REFUSED })).toBe(true);
  expect(isSo({ units: [REFUSED], fileState: "waiting" })).toBe(true);
  expect(isSo({ units: [SYNCED, WAITING], blocked: true })).toBe(true);
  expect(isSo({ units: [SYNCED, SYNCED], blocked: true })).toBe(true);
  expect(isSo({ units: [WAITING, WAITING], blocked: true })).toBe(false);
  expect(isSo({ units: [SYNCED], fileState: "failing" })).toBe(true);
  expect(isSo({ units: [SYNCED] })).toBe(false);
  expect(isSo({ units: [WAITING], fileState: "failing" })).toBe(false);
  expect(isSo({ units: [REFUSED, WAITING] })).toBe(false);
  expect(isSo({ units: [REFUSED], own: WAITING })).toBe(false);
  expect(isSo({ units: [REFUSED], online: false })).toBe(false);
  expect(isSo({ units: [REFUSED], isThrottled: true })).toBe(false);
  expect(isSo({ units: [REFUSED, SYNCED], fileState: "waiting" })).toBe(false);
});

test("what can't be looked at, or sent, is not synced", () => {
  expect(isSynced(statusOf({ units: [SYNCED] }))).toBe(true);
  expect(isSynced(statusOf({ units: [SYNCED], fileState: "failing" }))).toBe(false);
  const { remotes, ...status } = statusOf({ units: [SYNCED] });
  const elsewhere = remotes.map((remote) => ({ ...remote, name: "another" }));
  expect(isSynced({ ...status, remotes: elsewhere })).toBe(false);
});

test("with a token that is refused nothing is synced, and that is said once", () => {
  const status = statusOf({ units: [SYNCED, REFUSED], tokenRefused: true });
  expect([isSynced(status), isRefused(status)]).toEqual([false, true]);
  expect(listRefusals(status)).toEqual([
    "https://work.example.com refuses the token (it answered 401): `memsync login` gives the " +
      "service another one, or MEMSYNC_TOKEN at the daemon's next start",
  ]);
});

test("a file that can't be looked at is named", () => {
  expect(listRefusals(statusOf({ units: [SYNCED], fileState: "failing" }))).toEqual([
    "/a/CLAUDE.md is not followed: looking at it fails",
  ]);
});

test("what is refused is named, where something of it is not synced", () => {
  const status = statusOf({ units: [SYNCED, REFUSED, { ...REFUSED, waiting: 0 }], own: REFUSED });
  expect(listRefusals(status)).toEqual([
    "the service refuses p1: it answered 403",
    "the service refuses user and global: it answered 403",
  ]);
  expect(listRefusals(statusOf({ units: [REFUSED, REFUSED], blocked: true }))).toEqual([
    "acme can't be called: no token",
    "the service refuses p0: it answered 403",
  ]);
});
