import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claudeCodeSessions } from "../../daemon/assistants/claude-code/sessions.ts";
import { geminiSessions } from "../../daemon/assistants/gemini/sessions.ts";
import { daysMs, leavingSoon } from "../../daemon/assistants/transcripts/retention.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "memsync-retention-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const settings = (text: string) => writeFileSync(join(home, "settings.json"), text);

/** Files of these ages, in days, one in each folder named. */
const filesOf = (ages: Readonly<Record<string, number>>) =>
  Object.entries(ages).map(([path, days]) => ({
    path,
    size: 1,
    modifiedMs: -daysMs(days),
    inode: path,
    form: "lines" as const,
  }));
const soon = (ages: Readonly<Record<string, number>>, retention: object) =>
  leavingSoon(filesOf(ages), { setting: "any", ...retention }, 0)
    .map(({ path }) => path)
    .sort();

test("what is within a week of its end leaves soon, of a short time its second half", () => {
  const ages = { "/p/new": 1, "/p/old": 22, "/p/older": 24, "/p/over": 90 };
  expect(soon(ages, { ageMs: daysMs(30) })).toEqual(["/p/older", "/p/over"]);
  expect(soon(ages, { ageMs: daysMs(4) })).toEqual(["/p/old", "/p/older", "/p/over"]);
  expect(soon({ "/p/new": 1 }, { ageMs: daysMs(4) })).toEqual([]);
});

test("where only so many stay, the next session takes a place of one in its folder", () => {
  const ages = { "/p/one": 1, "/p/two": 2, "/q/three": 3, "/p/four": 4 };
  expect(soon(ages, { count: 3 })).toEqual(["/p/four"]);
  expect(soon(ages, {})).toEqual([]);
});

test("Claude Code keeps transcripts for a month, or as long as its settings say", async () => {
  const days = async () => ((await claudeCodeSessions(home).retention?.())?.ageMs ?? 0) / daysMs(1);
  expect(await days()).toBe(30);
  settings('{"cleanupPeriodDays": 90}');
  expect(await days()).toBe(90);
  for (const refused of ['{"cleanupPeriodDays": 0}', '{"cleanupPeriodDays": "7"}', "{", "[]"]) {
    settings(refused);
    expect(await days()).toBe(30);
  }
});

test("Gemini keeps them for a month, as its settings say, or for ever", async () => {
  const retention = async (text: string) => {
    settings(text);
    const { setting: _, ...rest } = (await geminiSessions(home).retention?.()) ?? {};
    return rest;
  };
  expect(await geminiSessions(home).retention?.()).toMatchObject({ ageMs: daysMs(30) });
  const of = (what: object) => JSON.stringify({ general: { sessionRetention: what } });
  expect(await retention(of({ maxAge: "2w", maxCount: 9 }))).toEqual({
    ageMs: daysMs(14),
    count: 9,
  });
  expect(await retention(`// mine\n${of({ enabled: true })}`)).toEqual({ ageMs: daysMs(30) });
  expect(await retention(of({ enabled: false }))).toEqual({});
  expect(await retention(of({ maxAge: "for ever" }))).toEqual({});
});
