import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { clearBegunWrite, mayBeWritten } from "../../daemon/files/saves/begun-write.ts";
import type { FileContent } from "../../daemon/files/state/file-edit.ts";
import { PLAIN_FORM } from "../../shared/replica/text/text-form.ts";
import { DISK } from "../support/disk.ts";

const BEFORE = "# Rules\n\nTests come first.\n";
const NEXT = "# Rules\n\nTests come first.\nSmall commits, naïve or not.\n";
const SAVED = "# Rules\n\nTests come first.\nNo sleeps.\n";
const LEFT = ".CLAUDE.md.abcdefg2.memsync";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(DISK, "memsync-begun-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** What is taken, and what lies there after it. */
async function clear(
  stands: string,
  left: Readonly<Record<string, string | Buffer>>,
  path = "CLAUDE.md",
) {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, stands);
  for (const [name, content] of Object.entries(left)) writeFileSync(join(dir, name), content);
  const taken: string[] = [];
  await clearBegunWrite({
    path: file,
    former: BEFORE,
    intended: NEXT,
    takeLate: async ({ content }: FileContent) => void taken.push(content),
  });
  const names = readdirSync(dirname(file)).filter((name) => name.endsWith(".memsync"));
  return { taken, left: names };
}

test("what was to be written is removed, whole or in part, even within a character", async () => {
  const cut = Buffer.from(NEXT).subarray(0, Buffer.from(NEXT).indexOf(0xc3) + 1);
  for (const stands of [BEFORE, NEXT, SAVED]) {
    for (const content of [NEXT, NEXT.slice(0, 30), "", cut]) {
      expect(await clear(stands, { [LEFT]: content })).toEqual({ taken: [], left: [] });
    }
  }
});

test("what the file was known to hold is removed", async () => {
  for (const stands of [NEXT, SAVED]) {
    expect(await clear(stands, { [LEFT]: BEFORE })).toEqual({ taken: [], left: [] });
  }
});

test("a save of the last moment, which lost its name, is taken before it is removed", async () => {
  for (const stands of [NEXT, BEFORE, "# Something else\n"]) {
    expect(await clear(stands, { [LEFT]: SAVED })).toEqual({ taken: [SAVED], left: [] });
  }
});

test("what is no text stays", async () => {
  for (const content of ["\0", Buffer.from([0xff, 0xfe]), NEXT.padEnd(2 ** 21)]) {
    expect(await clear(NEXT, { [LEFT]: content })).toEqual({ taken: [], left: [LEFT] });
  }
});

test("nothing else in the folder is touched", async () => {
  const others = [".CLAUDE.md.ABCDEFGH.memsync", ".AGENTS.md.abcdefg2.memsync", "a.memsync"];
  const all = Object.fromEntries(others.map((name) => [name, NEXT]));
  const { left } = await clear(NEXT, all);
  expect(left.sort()).toEqual(others.sort());
});

test("a file in a folder of its own has them beside it", async () => {
  const path = join(".claude", "CLAUDE.md");
  mkdirSync(join(dir, ".claude"));
  const found = await clear(NEXT, { [join(".claude", LEFT)]: BEFORE }, path);
  expect(found).toEqual({ taken: [], left: [] });
});

test("after a kill a write may have been made, unless the file is untouched", () => {
  const stateOf = (hash: string) => ({ hash, base: { text: "", spans: [] }, form: PLAIN_FORM });
  const next = { ...stateOf("next"), overSavedAt: 1000.25 };
  const asked = (hash: string, savedAt: number, isUnsure = true) => {
    return mayBeWritten(stateOf("former"), next, {
      file: { content: "", hash, savedAt },
      isUnsure,
    });
  };
  expect(asked("next", 1000)).toBe(true);
  expect(asked("former", 1000)).toBe(false);
  expect(asked("former", 2000)).toBe(true);
  expect(asked("other", 1000)).toBe(true);
  expect([asked("other", 2000, false), asked("absent", 2000)]).toEqual([false, false]);
});
