import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Notice, Notices } from "../../cli/notices/notice.ts";
import {
  keepNotices,
  listNoticeFiles,
  markSeen,
  readUnseen,
} from "../../cli/notices/notice-files.ts";
import { type Home, homeOf } from "../../daemon/home/home.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newHome() {
  const folder = mkdtempSync(join(tmpdir(), "memsync-notices-"));
  folders.push(folder);
  return homeOf({ MEMSYNC_HOME: folder });
}

/** What the daemon does when nobody else is at it. */
const kept = (home: Home, now: Notices) => keepNotices(home, now, listNoticeFiles(home));

const HELD: Notice = { kind: "held", where: "widget", what: "deploy" };
const NOW = new Map([["held-1", HELD]]);

test("what a command said before the daemon looked is logged once, and shown no more", () => {
  const home = newHome();
  markSeen(home, ["held-1"]);
  expect(kept(home, NOW)).toEqual([HELD]);
  expect(kept(home, NOW)).toEqual([]);
  expect(readUnseen(home)).toEqual([]);
  markSeen(home, ["held-1"]);
  expect(kept(home, NOW)).toEqual([]);
});

test("what the daemon logged before a command said it is not logged again", () => {
  const home = newHome();
  expect(kept(home, NOW)).toEqual([HELD]);
  expect(readUnseen(home)).toEqual([HELD]);
  markSeen(home, ["held-1"]);
  expect(kept(home, NOW)).toEqual([]);
  expect(readUnseen(home)).toEqual([]);
  expect(kept(home, new Map())).toEqual([]);
  // It is another time now.
  expect(kept(home, NOW)).toEqual([HELD]);
});

test("what a command showed while the daemon looked at what was before it is not told as new", () => {
  const home = newHome();
  const before = listNoticeFiles(home);
  markSeen(home, ["held-1"]);
  expect(keepNotices(home, new Map(), before)).toEqual([]);
  expect(kept(home, NOW)).toEqual([HELD]);
  expect(readUnseen(home)).toEqual([]);
});

test("a file that holds no notice is not shown", () => {
  const home = newHome();
  mkdirSync(home.notices);
  for (const [at, text] of ["", "null", "[]", '{"kind":"held","where":"widget"}'].entries()) {
    writeFileSync(join(home.notices, `held-${at}`), text);
  }
  expect(readUnseen(home)).toEqual([]);
});
