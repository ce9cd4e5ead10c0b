import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
} from "node:fs";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach, FILE } from "../support/followed-clones.ts";
import {
  at,
  EDITED,
  expectAll,
  followGuide,
  OTHER,
  openFolders,
  POINTER,
  TEXT,
} from "../support/followed-guide.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";

setDefaultTimeout(60_000);

const lab = clonesOfEach();
/** A folder whose file is followed both ways, and another machine of the project. */
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  ({ a, b } = await openFolders(lab));
});

test("a symbolic link to another file of the folder stands for that file, which is written", async () => {
  await writeFile(at(a, OTHER), TEXT);
  await symlink(OTHER, at(a, FILE));
  await a.follow();
  await b.follow();
  await exchange([a, b]);
  await b.save(TEXT);
  expect(a.status).toMatchObject({ path: OTHER, state: "followed" });
  expect(a.beside).toEqual([]);
  await b.save(EDITED);
  await exchange([a, b]);
  expect(await readFile(at(a, OTHER), "utf8")).toBe(EDITED);
  expect(readlinkSync(at(a, FILE))).toBe(OTHER);
  await a.save(`${EDITED}\nOf a.\n`, OTHER);
  await expectAll({ a, b }, `${EDITED}\nOf a.\n`);
  expect(lstatSync(at(a, FILE)).isSymbolicLink()).toBe(true);
});

test("a symbolic link to a file below the folder is followed there", async () => {
  mkdirSync(at(a, "docs"));
  await writeFile(at(a, "docs/guide.md"), TEXT);
  await symlink("docs/guide.md", at(a, FILE));
  await a.follow();
  expect(a.status).toMatchObject({ path: "docs/guide.md", state: "followed" });
  expect(await a.doc()).toBe(TEXT);
});

test("a symbolic link that is deleted shares its target no more, and deletes nothing", async () => {
  mkdirSync(at(a, "docs"));
  await writeFile(at(a, "docs/guide.md"), TEXT);
  await symlink("docs/guide.md", at(a, FILE));
  await a.follow();
  rmSync(at(a, FILE));
  await a.save("My diary.\n", "docs/guide.md");
  await a.settleAfterGrace();
  expect(a.status).toMatchObject({ path: FILE, state: "left-alone", why: { code: "gone" } });
  await a.save(`${EDITED}\nMy diary.\n`, "docs/guide.md");
  await a.settleAfterGrace();
  expect([await a.doc(), await a.conflicts()]).toEqual([TEXT, []]);
  expect(a.file("docs/guide.md")).toBe(`${EDITED}\nMy diary.\n`);
  await a.save(TEXT);
  expect(a.status).toMatchObject({ path: FILE, state: "followed" });
  expect(await a.doc()).toBe(TEXT);
});

test("a symbolic link that is deleted and made again is followed where it leads", async () => {
  await writeFile(at(a, "guide.md"), TEXT);
  await writeFile(at(a, "other.md"), EDITED);
  await symlink("guide.md", at(a, FILE));
  await a.follow();
  for (const [target, text] of [
    ["guide.md", TEXT],
    ["other.md", EDITED],
  ] as const) {
    rmSync(at(a, FILE));
    await a.settle();
    expect(a.status).toMatchObject({ path: FILE, state: "waiting" });
    await symlink(target, at(a, FILE));
    await a.settleAfterGrace();
    expect(a.status).toMatchObject({ path: target, state: "followed" });
    expect(await a.doc()).toBe(text);
  }
  expect(await a.conflicts()).toEqual([]);
});

test("a symbolic link that is deleted leaves a target followed that counts by itself", async () => {
  await writeFile(at(a, OTHER), TEXT);
  await symlink(OTHER, at(a, FILE));
  await a.follow();
  rmSync(at(a, FILE));
  await a.settleAfterGrace();
  await a.save(EDITED, OTHER);
  expect(a.status).toMatchObject({ path: OTHER, state: "followed" });
  expect(await a.doc()).toBe(EDITED);
  // What is made beside it later is no save of the link's.
  await a.save("# Claude\n");
  expect([await a.doc(), a.status.path, a.beside]).toEqual([EDITED, OTHER, [FILE]]);
});

for (const target of [OTHER, "guide.md"]) {
  for (const isStopped of [false, true]) {
    const when = isStopped ? " while no daemon runs" : "";
    test(`a file that takes a symbolic link's place${when} is an edit of the text: ${target}`, async () => {
      await writeFile(at(a, target), TEXT);
      await symlink(target, at(a, FILE));
      await a.follow();
      await b.follow();
      await exchange([a, b]);
      await b.save(TEXT);
      await a.pass(120_000);
      if (isStopped) await a.stop();
      await writeFile(at(a, "saved"), EDITED);
      renameSync(at(a, "saved"), at(a, FILE));
      if (isStopped) {
        a = await lab.folder("a");
        await a.follow();
      }
      await a.settleAfterGrace();
      expect(a.status).toMatchObject({ path: FILE, state: "followed" });
      expect(a.beside).toEqual(target === OTHER ? [OTHER] : []);
      expect(a.file(target)).toBe(TEXT);
      await expectAll({ a, b }, EDITED);
      await a.save(`${EDITED}\nOf a.\n`);
      await a.save("My diary.\n", target);
      await expectAll({ a, b }, `${EDITED}\nOf a.\n`);
      expect(await a.conflicts()).toEqual([]);
    });
  }
}

test("a file that takes a symbolic link's place and the former target may both have been edited", async () => {
  await writeFile(at(a, OTHER), TEXT);
  await symlink(OTHER, at(a, FILE));
  await a.follow();
  await a.stop();
  const [ofOther, ofOwn] = [TEXT.replace("make ship", "bun ship"), EDITED];
  await writeFile(at(a, OTHER), `${ofOther}\nOf the target.\n`);
  rmSync(at(a, FILE));
  await writeFile(at(a, FILE), ofOwn);
  a = await lab.folder("a");
  await a.follow();
  await a.settleAfterGrace();
  expect(a.status).toMatchObject({ path: FILE, state: "followed" });
  for (const line of ["bun ship", "make release", "Of the target."]) {
    expect(await a.doc()).toContain(line);
  }
  expect(await a.conflicts()).not.toEqual([]);
  expect(a.file(OTHER)).toBe(`${ofOther}\nOf the target.\n`);
});

test("a file that takes a symbolic link's place and has another text deletes nothing", async () => {
  await writeFile(at(a, OTHER), TEXT);
  await symlink(OTHER, at(a, FILE));
  await a.follow();
  rmSync(at(a, FILE));
  await a.save("");
  await a.settleAfterGrace();
  expect([a.status.path, await a.doc()]).toEqual([OTHER, TEXT]);
  await a.save("Ask first.\n");
  await a.settleAfterGrace();
  expect(a.status).toMatchObject({ path: FILE, state: "followed" });
  expect(await a.doc()).toContain("Ask first.");
  expect(await a.doc()).toContain("Build with make.");
  expect((await a.conflicts()).map(({ kind }) => kind)).toEqual(["renewed"]);
});

test("a file that takes a symbolic link's place and only imports the target leaves that followed", async () => {
  await writeFile(at(a, OTHER), TEXT);
  await symlink(OTHER, at(a, FILE));
  await a.follow();
  rmSync(at(a, FILE));
  await a.save(POINTER);
  await a.settleAfterGrace();
  expect(a.status).toMatchObject({ path: OTHER, state: "followed" });
  expect(await a.doc()).toBe(TEXT);
  await a.save(EDITED, OTHER);
  expect(await a.doc()).toBe(EDITED);
});

for (const [target, code] of [
  [".env", "link-to-other"],
  [".envrc.md", "link-to-other"],
  [".hidden/guide.md", "link-to-other"],
  ["requirements.txt", "link-to-other"],
  ["bin/tool", "link-to-other"],
  ["tool.md", "link-to-program"],
] as const) {
  test(`a symbolic link to what is no instruction file is left alone: ${target}`, async () => {
    mkdirSync(dirname(at(a, target)), { recursive: true });
    await writeFile(at(a, target), TEXT);
    if (target === "tool.md") chmodSync(at(a, target), 0o755);
    await symlink(target, at(a, FILE));
    await b.follow();
    await b.save("# Others'\n");
    await a.receive(b);
    await a.follow({ write: true });
    await a.settleAfterGrace();
    expect(a.status).toMatchObject({ path: FILE, state: "left-alone", why: { code } });
    expect([await a.doc(), a.file(target)]).toEqual(["# Others'\n", TEXT]);
    rmSync(at(a, target));
    await a.settleAfterGrace();
    if (code === "link-to-other") expect(existsSync(at(a, target))).toBe(false);
  });
}

test("a symbolic link that git tracks to what it ignores is left alone, one that it ignores is not", async () => {
  const files = { ".gitignore": "notes.md\nAGENTS.md\n" };
  await lab.git.repository("c", files);
  const c = await lab.folder("c");
  await writeFile(at(c, "notes.md"), TEXT);
  await symlink("notes.md", at(c, FILE));
  await c.follow({ write: true });
  expect(c.status).toMatchObject({ path: "notes.md", state: "followed" });
  await lab.git.run(c.dir, "add", FILE);
  await c.settleAfterGrace();
  const why = { code: "link-to-ignored" };
  expect(c.status).toMatchObject({ path: FILE, state: "left-alone", why });
  await c.save(EDITED, "notes.md");
  await c.setDoc("# Others'\n");
  await c.settleAfterGrace();
  expect([await c.doc(), c.file("notes.md")]).toEqual(["# Others'\n", EDITED]);
  rmSync(at(c, FILE));
  await symlink(OTHER, at(c, FILE));
  await writeFile(at(c, OTHER), TEXT);
  await c.settleAfterGrace();
  expect(c.status).toMatchObject({ path: OTHER, state: "followed" });
});

test("out of the folder is left alone, and says where it leads", async () => {
  const outside = lab.git.path("outside.md");
  await writeFile(outside, TEXT);
  await symlink(outside, at(a, FILE));
  await a.follow({ write: true });
  expect(a.status).toMatchObject({ path: FILE, state: "left-alone" });
  expect(a.status.note).toContain(`a symbolic link to ${outside}, which is outside`);
  await a.setDoc("# Others'\n");
  expect(await readFile(outside, "utf8")).toBe(TEXT);
});

test("into another repository, into git's own, or to itself is left alone", async () => {
  await lab.git.repository("a/inner", { [OTHER]: TEXT });
  mkdirSync(at(a, ".git"));
  await writeFile(at(a, ".git/x.md"), TEXT);
  for (const [target, note] of [
    [`inner/${OTHER}`, "another repository's"],
    [".git/x.md", "git's own"],
    [FILE, "to itself"],
  ] as const) {
    await symlink(target, at(a, FILE));
    await a.follow();
    expect([target, a.status.state]).toEqual([target, "left-alone"]);
    expect(a.status.note).toContain(note);
    rmSync(at(a, FILE));
  }
});

test("a symbolic link to nothing yet has its target made, where that is agreed", async () => {
  await symlink(OTHER, at(a, FILE));
  await b.follow();
  await b.save(TEXT);
  await a.receive(b);
  await a.follow({ write: true });
  expect(await readFile(at(a, OTHER), "utf8")).toBe(TEXT);
  expect(readlinkSync(at(a, FILE))).toBe(OTHER);
});

test("a symbolic link to nothing is not called another file that is there", async () => {
  await followGuide({ a, b }, OTHER);
  for (const target of ["nowhere.md", lab.git.path("nowhere.md")]) {
    await symlink(target, at(a, FILE));
    await a.settle();
    expect([a.status.path, a.beside]).toEqual([OTHER, []]);
    await writeFile(join(a.dir, target === "nowhere.md" ? target : "../nowhere.md"), TEXT);
    await a.settle();
    // One that leads out of the folder can't be followed.
    const beside = target === "nowhere.md" ? [FILE] : [];
    expect([a.status.path, a.beside]).toEqual([OTHER, beside]);
    rmSync(at(a, FILE));
  }
});

test("a symbolic link that takes the place of the file goes on with the text it leads to", async () => {
  await followGuide({ a, b });
  renameSync(at(a, FILE), at(a, OTHER));
  await symlink(OTHER, at(a, FILE));
  await a.settle();
  expect(a.status).toMatchObject({ path: OTHER, state: "followed" });
  await a.save(EDITED, OTHER);
  await expectAll({ a, b }, EDITED);
  expect(await a.conflicts()).toEqual([]);
});

test("a symbolic link to a text that stood beside it keeps what the document has, and that is told", async () => {
  await followGuide({ a, b });
  await a.save("# Agents\n\nAsk first.\n", OTHER);
  rmSync(at(a, FILE));
  await symlink(OTHER, at(a, FILE));
  await a.settle();
  await exchange([a, b]);
  expect(await b.doc()).toContain("Ask first.");
  expect(await b.doc()).toContain("Build with make.");
  const [told, ...others] = await b.conflicts();
  expect([told?.kind, others.length]).toEqual(["renewed", 0]);
  const writers = told?.versions.map(({ text, machine }) => [text.includes("Build"), machine]);
  expect(writers).toEqual([
    [false, "a"],
    [true, "a"],
  ]);
});

for (const how of ["deleted by hand", "taken away by git"]) {
  test(`a symbolic link that git tracks counts again once it is back where it was ${how}`, async () => {
    await lab.git.repository("t", { "docs/a.md": TEXT });
    const t = await lab.folder("t");
    await lab.git.run(t.dir, "branch", "without");
    await symlink("docs/a.md", at(t, FILE));
    await lab.git.run(t.dir, "add", FILE);
    await lab.git.run(t.dir, "commit", "-q", "-m", "link");
    await t.follow({ write: true });
    expect(t.status).toMatchObject({ path: "docs/a.md", state: "followed" });
    if (how === "deleted by hand") rmSync(at(t, FILE));
    else await lab.git.run(t.dir, "checkout", "-q", "without");
    await t.settleAfterGrace();
    await t.settleAfterGrace();
    expect(t.status).toMatchObject({ path: FILE, state: "left-alone" });
    expect(await t.doc()).toBe(TEXT);
    if (how === "deleted by hand") await symlink("docs/a.md", at(t, FILE));
    else await lab.git.run(t.dir, "checkout", "-q", "-");
    await t.settleAfterGrace();
    expect(t.status).toMatchObject({ path: "docs/a.md", state: "followed" });
    expect(t.beside).toEqual([]);
    await t.save(EDITED, "docs/a.md");
    await t.settleAfterGrace();
    expect(await t.doc()).toBe(EDITED);
    await t.setDoc(`${EDITED}\nOf others.\n`);
    await t.settleAfterGrace();
    expect(await readFile(at(t, "docs/a.md"), "utf8")).toBe(`${EDITED}\nOf others.\n`);
    expect(await t.conflicts()).toEqual([]);
  });
}
