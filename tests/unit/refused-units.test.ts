import { expect, test } from "bun:test";
import { isRefused, listRefused } from "../../daemon/refused-units.ts";
import type { DaemonStatus, UnitStatus } from "../../daemon/status.ts";

const SYNCED: UnitStatus = {
  memories: 1,
  waiting: 0,
  contacted: true,
  refused: null,
  notes: [],
};
const REFUSED: UnitStatus = { ...SYNCED, waiting: 1, refused: "it answered 403" };
const WAITING: UnitStatus = { ...SYNCED, waiting: 1 };

interface Given {
  readonly units: readonly UnitStatus[];
  readonly own?: UnitStatus;
  readonly online?: boolean;
  readonly heldBack?: boolean;
  readonly fileState?: "followed" | "waiting";
}

function statusOf({ units, own = SYNCED, online = true, heldBack, fileState }: Given) {
  const held_back = heldBack ? { since: "", until: "" } : null;
  const folders = [{ dir: "/a", path: "CLAUDE.md", state: fileState ?? "followed", note: null }];
  const projects = units.map((unit, at) => ({ ...unit, name: `p${at}`, folders }));
  return {
    projects,
    remotes: [{ own, service: { online, held_back } }],
  } as unknown as DaemonStatus;
}

test("a sync is refused when waiting would bring nothing more", () => {
  const isSo = (given: Given) => isRefused(statusOf(given));
  expect(isSo({ units: [REFUSED, SYNCED] })).toBe(true);
  expect(isSo({ units: [{ ...REFUSED, waiting: 0, contacted: false }] })).toBe(true);
  expect(isSo({ units: [SYNCED], own: REFUSED })).toBe(true);
  expect(isSo({ units: [REFUSED], fileState: "waiting" })).toBe(true);
  expect(isSo({ units: [SYNCED] })).toBe(false);
  expect(isSo({ units: [REFUSED, WAITING] })).toBe(false);
  expect(isSo({ units: [REFUSED], own: WAITING })).toBe(false);
  expect(isSo({ units: [REFUSED], online: false })).toBe(false);
  expect(isSo({ units: [REFUSED], heldBack: true })).toBe(false);
  expect(isSo({ units: [REFUSED, SYNCED], fileState: "waiting" })).toBe(false);
});

test("what is refused is named, where something of it is not synced", () => {
  const status = statusOf({ units: [SYNCED, REFUSED, { ...REFUSED, waiting: 0 }], own: REFUSED });
  expect(listRefused(status)).toEqual([
    { name: "p1", why: "it answered 403" },
    { name: "user and global", why: "it answered 403" },
  ]);
});
