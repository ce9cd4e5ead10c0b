import { expect, test } from "bun:test";
import { isOffline, isRefused } from "../../daemon/status/refused-units.ts";
import { isSynced } from "../../daemon/status/synced-projects.ts";
import { madeUpProject, madeUpStatus } from "../support/made-up-status.ts";

const DELETED = { at: "2026-01-01T00:00:00.000Z", machine: null };

function statusWith(fields: Partial<ReturnType<typeof madeUpProject> & { sending: number }>) {
  const made = { ...madeUpProject(1), name: null, folders: [], plain: false, sending: 0 };
  const unlinked = [{ ...made, ...fields }];
  return { ...madeUpStatus([]), unlinked };
}

test("what is linked nowhere is not waited for, but for a deletion that is to be sent", () => {
  expect(isSynced(statusWith({ waiting: 2 }))).toBe(true);
  expect(isSynced(statusWith({ waiting: 2, deleted: DELETED }))).toBe(true);
  expect(isSynced(statusWith({ waiting: 2, sending: 1, deleted: DELETED }))).toBe(false);
});

test("a deletion that its service refuses, or that can't be sent, is not waited for", () => {
  const waits = { waiting: 2, sending: 2, deleted: DELETED };
  expect(isRefused(statusWith(waits))).toBe(false);
  expect(isRefused(statusWith({ ...waits, refused: "it answered 403" }))).toBe(true);
  const status = statusWith(waits);
  const [remote] = status.remotes;
  const service = { ...status.service, online: false, live: false, message: "no network" };
  expect(isOffline(status, 0)).toBe(false);
  expect(isOffline({ ...status, remotes: remote ? [{ ...remote, service }] : [] }, 0)).toBe(true);
});
