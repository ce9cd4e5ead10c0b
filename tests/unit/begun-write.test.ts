import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { clearBegunWrite } from "../../daemon/sources/begun-write.ts";
import type { FileContent } from "../../daemon/sources/file-edit.ts";
import type { FileState } from "../../daemon/sources/follow-store.ts";
import { hashOf, readFileAt } from "../../daemon/sources/read-file.ts";
import { splitForm } from "../../shared/replica/text-form.ts";

const BEFORE = "# Rules\n\nTests come first.\n";
const NEXT = "# Rules\n\nTests come first.\nSmall commits.\n";
const SAVED = "# Rules\n\nTests come first.\nNo sleeps.\n";
const LEFT = ".CLAUDE.md.abcdefg2.memsync";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "memsync-begun-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

function stateOf(content: string): FileState {
  return {
    hash: hashOf(content),
    base: { text: content, spans: [] },
    form: splitForm(content).form,
  };
}

/** What is taken, and what lies there after it. */
async function clear(stands: string, left: Readonly<Record<string, string>>, path = "CLAUDE.md") {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, stands);
  for (const [name, content] of Object.entries(left)) writeFileSync(join(dir, name), content);
  const taken: [string, string][] = [];
  await clearBegunWrite({
    dir,
    known: { ...stateOf(BEFORE), path, next: stateOf(NEXT) },
    found: await readFileAt(dir, path),
    takeLate: async (base: FileState, { content }: FileContent) => {
      taken.push([base.base.text, content]);
    },
  });
  const names = readdirSync(dirname(file)).filter((name) => name.endsWith(".memsync"));
  return { taken, left: names };
}

test("what was to be written and never was is removed, whole or in part", async () => {
  for (const content of [NEXT, NEXT.slice(0, 30), "", "\0"]) {
    expect(await clear(BEFORE, { [LEFT]: content })).toEqual({ taken: [], left: [] });
  }
});

test("what the file held before the names were swapped is removed", async () => {
  expect(await clear(NEXT, { [LEFT]: BEFORE })).toEqual({ taken: [], left: [] });
  expect(await clear(SAVED, { [LEFT]: BEFORE })).toEqual({ taken: [], left: [] });
});

test("a save of the last moment, which lost its name, is taken before it is removed", async () => {
  expect(await clear(NEXT, { [LEFT]: SAVED })).toEqual({ taken: [[BEFORE, SAVED]], left: [] });
});

test("what may be somebody's save or a part of ours stays, and so does what can't be read", async () => {
  expect(await clear(SAVED, { [LEFT]: "# Rules\n" })).toEqual({ taken: [], left: [LEFT] });
  expect(await clear(NEXT, { [LEFT]: "\0" })).toEqual({ taken: [], left: [LEFT] });
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
