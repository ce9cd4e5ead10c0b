import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Notice } from "../../cli/notices/notice.ts";
import { keepNotices, markSeen, readUnseen } from "../../cli/notices/notice-files.ts";
import { homeOf } from "../../daemon/home/home.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newHome() {
  const folder = mkdtempSync(join(tmpdir(), "memsync-notices-"));
  folders.push(folder);
  return homeOf({ MEMSYNC_HOME: folder });
}

const HELD: Notice = { kind: "held", where: "widget", what: "deploy" };
const NOW = new Map([["held-1", HELD]]);

test("what a command said before the daemon looked is logged once, and shown no more", () => {
  const home = newHome();
  markSeen(home, ["held-1"]);
  expect(keepNotices(home, NOW)).toEqual([HELD]);
  expect(keepNotices(home, NOW)).toEqual([]);
  expect(readUnseen(home)).toEqual([]);
  markSeen(home, ["held-1"]);
  expect(keepNotices(home, NOW)).toEqual([]);
});

test("what the daemon logged before a command said it is not logged again", () => {
  const home = newHome();
  expect(keepNotices(home, NOW)).toEqual([HELD]);
  expect(readUnseen(home)).toEqual([HELD]);
  markSeen(home, ["held-1"]);
  expect(keepNotices(home, NOW)).toEqual([]);
  expect(readUnseen(home)).toEqual([]);
  expect(keepNotices(home, new Map())).toEqual([]);
  // It is another time now.
  expect(keepNotices(home, NOW)).toEqual([HELD]);
});
