import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE } from "../support/followed-clones.ts";
import { at, EDITED, OTHER, openFolders, TEXT } from "../support/followed-guide.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

setDefaultTimeout(60_000);

const INNER = join(".claude", FILE);

/** What may stand where a folder is to be made, and nothing is to be created behind. */
const IN_THE_WAY: readonly (readonly [string, Put])[] = [
  ["a link out of the folder", (path, outside) => symlink(outside, path)],
  ["a link that leads nowhere", (path) => symlink("nowhere", path)],
  ["a file", (path) => writeFile(path, "x")],
  ["another repository", (path) => mkdir(join(path, ".git"), { recursive: true })],
];

type Put = (path: string, outside: string) => Promise<unknown>;

const lab = clonesOfEach();
/** A machine that has the project's file, and one that has none. */
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await openFolders(lab));
});

for (const isLinkedBefore of [false, true]) {
  const when = isLinkedBefore ? "before there was a text" : "later";
  test(`a machine without an instruction file gets it under the name that the others use: linked ${when}`, async () => {
    if (isLinkedBefore) {
      await b.follow({ write: true });
      await exchange([a, b]);
    }
    await writeFile(at(a, OTHER), TEXT);
    await a.follow();
    await exchange([a, b]);
    if (!isLinkedBefore) await b.follow({ write: true });
    await exchange([a, b]);
    expect(b.file(OTHER)).toBe(TEXT);
    expect(existsSync(at(b, FILE))).toBe(false);
  });
}

test("a machine that only meets others' text tells nobody the name of its file", async () => {
  await a.save(TEXT);
  await a.follow();
  await exchange([a, b]);
  b.put(`${TEXT}More.\n`, OTHER);
  await b.follow();
  await exchange([a, b]);
  const later = await lab.folder("later");
  await exchange([a, later]);
  await later.follow({ write: true });
  expect(readdirSync(later.dir)).toEqual([FILE]);
  await b.save(`${TEXT}More.\nAnd more.\n`, OTHER);
  await exchange([b, a]);
  const last = await lab.folder("last");
  await exchange([b, last]);
  await last.follow({ write: true });
  expect(readdirSync(last.dir)).toEqual([OTHER]);
});

test("a machine without an instruction file gets CLAUDE.md where the others use that, and the last name that somebody edited", async () => {
  await writeFile(at(a, OTHER), TEXT);
  await a.follow();
  await writeFile(at(b, FILE), TEXT);
  await b.follow();
  await exchange([a, b]);
  await b.save(EDITED);
  await exchange([a, b]);
  const c = await lab.folder("c");
  await c.follow({ write: true });
  await exchange([a, b, c]);
  expect(c.file(FILE)).toBe(EDITED);
  expect(existsSync(at(c, OTHER))).toBe(false);
});

for (const [what, put] of IN_THE_WAY) {
  test(`a machine without an instruction file gets CLAUDE.md where their .claude/CLAUDE.md would be behind ${what}`, async () => {
    await mkdir(at(a, ".claude"));
    await writeFile(at(a, INNER), TEXT);
    await a.follow();
    const outside = lab.git.path("outside");
    await mkdir(outside);
    await put(at(b, ".claude"), outside);
    await b.follow({ write: true });
    await exchange([a, b]);
    expect(b.status).toMatchObject({ path: FILE, state: "followed" });
    expect(b.file(FILE)).toBe(TEXT);
    expect(readdirSync(outside)).toEqual([]);
  });
}

test("a machine without an instruction file gets none behind a link out of its folder under a name that was chosen, and is told", async () => {
  await writeFile(at(a, FILE), TEXT);
  await a.follow();
  const outside = lab.git.path("outside");
  await mkdir(outside);
  await symlink(outside, at(b, ".claude"));
  await exchange([a, b]);
  await b.follow({ write: true, file: INNER });
  await exchange([a, b]);
  expect(b.status).toMatchObject({ path: INNER, why: { code: "link-outside" } });
  expect(readdirSync(outside)).toEqual([]);
});

test("a machine without an instruction file gets it in a folder that is made for it", async () => {
  await mkdir(at(a, ".claude"));
  await writeFile(at(a, INNER), TEXT);
  await a.follow();
  await b.follow({ write: true });
  await exchange([a, b]);
  expect(b.file(INNER)).toBe(TEXT);
});

test("an empty file says by which name the text is to come, where nobody has told one", async () => {
  b.put("", OTHER);
  await b.setDoc(TEXT);
  await b.follow();
  await b.settle();
  expect(b.file(OTHER)).toBe(TEXT);
  expect(existsSync(at(b, FILE))).toBe(false);
});
