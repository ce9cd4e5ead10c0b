import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  keepFormerIgnored,
  listFormerIgnored,
  putIgnoreText,
  takeBackIgnored,
} from "../../daemon/home/ignore-files.ts";
import { takeIgnoredOf } from "../../daemon/ignored/ignore-file.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { exchange } from "../support/exchange-machines.ts";
import { clonesOfEach } from "../support/followed-clones.ts";
import type { FollowedMachine } from "../support/followed-machines.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { MEMORY_PROJECT, MemoryMachine, settleMemories } from "../support/memory-machines.ts";

setDefaultTimeout(60_000);

const IGNORE = ".memsyncignore";
const TEXT = "# Guide\n\nBuild with make.\n";

const lab = clonesOfEach();
let others: MemoryMachine[];
let a: FollowedMachine;
let b: FollowedMachine;

beforeEach(async () => {
  others = [];
  a = await lab.folder("a");
  b = await lab.folder("b");
});
afterEach(async () => {
  for (const each of others) await each.remove();
});

function ignore({ project }: MemoryMachine, text: string): void {
  writeFileSync(join(project, IGNORE), text);
}

test("a followed file that is named in .memsyncignore is neither read nor written", async () => {
  a.put("CLAUDE.md\n", IGNORE);
  a.put(TEXT);
  await a.follow();
  await b.follow();
  expect(a.status).toMatchObject({ state: "left-alone", why: { code: "ignored" } });
  expect(await a.doc()).toBe("");
  await b.save("# Of b\n");
  await exchange([a, b]);
  expect(a.file()).toBe(TEXT);
  expect(await b.doc()).toBe("# Of b\n");
  // The text is of b alone, so nobody is told to delete it.
  expect(a.status).toMatchObject({ state: "left-alone", why: { code: "ignored" } });
});

test("what was sent before stays, and the command that deletes it is said", async () => {
  a.put(TEXT);
  await a.follow();
  await b.follow();
  a.put("*.md\n", IGNORE);
  await a.save(`${TEXT}\nOur own.\n`);
  const why = { code: "ignored-sent", command: "memsync doc clear" };
  expect(a.status).toMatchObject({ state: "left-alone", why });
  await exchange([a, b]);
  expect(await b.doc()).toBe(TEXT);
  expect(await a.saves()).toMatchObject({ outcomes: ["taken"] });
});

test("a file that is not named any more is an edit of what it had before", async () => {
  a.put(TEXT);
  await a.follow();
  await b.follow();
  a.put("CLAUDE.md\n", IGNORE);
  await a.save(`${TEXT}\nOurs.\n`);
  a.put("", IGNORE);
  await a.settle();
  await exchange([a, b]);
  expect(await b.doc()).toBe(`${TEXT}\nOurs.\n`);
});

test("what a file named that is gone is still ignored, until an empty one is there", async () => {
  a.put("CLAUDE.md\n", IGNORE);
  a.put(TEXT);
  await a.follow();
  a.remove(IGNORE);
  await a.save(`${TEXT}\n`);
  expect(a.status).toMatchObject({ state: "left-alone", why: { code: "ignored-gone" } });
  expect(await a.doc()).toBe("");
  await a.save("", IGNORE);
  expect(await a.doc()).toBe(`${TEXT}\n`);
});

test("while nobody can read what is ignored, nothing is sent", async () => {
  symlinkSync("elsewhere", `${a.dir}/${IGNORE}`);
  a.put(TEXT);
  await a.follow();
  expect(a.status).toMatchObject({ state: "left-alone", why: { code: "ignore-unreadable" } });
  rmSync(`${a.dir}/${IGNORE}`);
  a.put(`${"x".repeat(70_000)}\n`, IGNORE);
  await a.settle();
  expect(a.status).toMatchObject({ why: { code: "ignore-unreadable" } });
  expect(await a.doc()).toBe("");
});

test("a hard link to a file that stays here is as private as that, and an edit once it is another", async () => {
  for (const [name, ignore] of [
    ["CLAUDE.local.md", ""],
    ["own.txt", "own.txt\n"],
  ] as const) {
    a.put(ignore, IGNORE);
    a.put("private\n", name);
    rmSync(join(a.dir, "CLAUDE.md"), { force: true });
    linkSync(join(a.dir, name), join(a.dir, "CLAUDE.md"));
    await a.follow();
    expect([name, a.status]).toMatchObject([
      name,
      { state: "left-alone", why: { code: "ignored" } },
    ]);
    expect(await a.doc()).toBe("");
  }
  rmSync(join(a.dir, "CLAUDE.md"));
  await a.save(TEXT);
  expect(await a.doc()).toBe(TEXT);
});

test("another file is followed in place of one that is ignored, and none is made beside it", async () => {
  a.put("CLAUDE.md\n", IGNORE);
  a.put("@AGENTS.md\n");
  a.put(TEXT, "AGENTS.md");
  await a.follow();
  expect(a.status.path).toBe("AGENTS.md");
  expect(await a.doc()).toBe(TEXT);
  b.put("AGENTS.md\n", IGNORE);
  b.put("of b\n", "AGENTS.md");
  await b.follow({ write: true });
  await exchange([a, b]);
  expect(b.status).toMatchObject({ path: "AGENTS.md", state: "left-alone" });
  expect(() => b.file()).toThrow();
});

test("CLAUDE.local.md and AGENTS.override.md never leave, whatever leads to them", async () => {
  a.put("!CLAUDE.local.md\n!AGENTS.override.md\n", IGNORE);
  for (const [name, link] of [
    ["CLAUDE.local.md", "CLAUDE.md"],
    ["AGENTS.override.md", "AGENTS.md"],
  ] as const) {
    a.put("my own\n", name);
    await a.settle();
    symlinkSync(name, `${a.dir}/${link}`);
  }
  await a.follow();
  expect(a.status).toMatchObject({ state: "left-alone", why: { code: "ignored" } });
  rmSync(`${a.dir}/CLAUDE.md`);
  await a.settle();
  expect(await a.doc()).toBe("");
});

test("a topic that is named stays here, and none that came from elsewhere is written", async () => {
  const [one, two] = [await MemoryMachine.start("one"), await MemoryMachine.start("two")];
  others.push(one, two);
  ignore(one, "auto-memory/own*.md\n");
  one.save("own.md", "mine\n");
  one.save("own-both.md", "mine as well\n");
  one.save("open.md", "ours\n");
  two.save("own-too.md", "of two\n");
  two.save("own-both.md", "of two\n");
  await settleMemories(one, two);
  expect(await two.values("own.md")).toEqual([]);
  expect(await one.values("own.md")).toEqual([]);
  expect(one.read("own-too.md")).toBeUndefined();
  expect(await one.values("own-both.md")).toEqual(["of two\n"]);
  expect(one.read("own-both.md")).toBe("mine as well\n");
  // What the project has under that name is the other machine's, and nobody is told to delete it.
  const notes = ["own-both.md", "own.md"].map((name) => ({ name, why: { code: "ignored" } }));
  expect(one.keeper.status).toMatchObject([{ notes }]);
  ignore(one, "*.md\n");
  one.save("open.md", "changed\n");
  await settleMemories(one, two);
  expect(await two.values("open.md")).toEqual(["ours\n"]);
  const [told] = one.keeper.status;
  expect(told?.notes).toContainEqual({
    name: "open.md",
    why: { code: "ignored-sent", command: "memsync rm auto-memory/open.md" },
  });
  // It was deleted elsewhere; nothing is asked about a file that stays here.
  await two.writeMemory("auto-memory/open.md", undefined);
  await exchangeKept(one, two);
  await one.look();
  expect(one.read("open.md")).toBe("changed\n");
  expect(one.keeper.status).toMatchObject([{ asked: [] }]);
  ignore(one, "");
  await settleMemories(one, two);
  expect(await two.values("own.md")).toEqual(["mine\n"]);
});

test("a memory that is a hard link to one that stays here stays here as well", async () => {
  const [one, two] = [await MemoryMachine.start("one"), await MemoryMachine.start("two")];
  others.push(one, two);
  ignore(one, "auto-memory/own.md\n");
  one.save("own.md", "mine\n");
  linkSync(join(one.memories, "own.md"), join(one.memories, "hard.md"));
  one.save("open.md", "ours\n");
  await settleMemories(one, two);
  expect([await two.values("hard.md"), await two.values("open.md")]).toEqual([[], ["ours\n"]]);
  // One with a text of its own is another file.
  rmSync(join(one.memories, "hard.md"));
  one.save("hard.md", "no more mine\n");
  await settleMemories(one, two);
  expect(await two.values("hard.md")).toEqual(["no more mine\n"]);
});

test("what a former folder named still counts for its project alone, until an empty file is there", async () => {
  const machine = await MemoryMachine.start("anna");
  others.push(machine);
  const dir = join(machine.project, "gone");
  const link = { dir, projectId: MEMORY_PROJECT };
  await machine.store.write(async ({ db }) => {
    for (const name of ["own", "mine"]) {
      await putIgnoreText(db, dir, `auto-memory/${name}.md\n`);
      await keepFormerIgnored(db, link);
    }
    // Another project's folder is there now.
    await putIgnoreText(db, dir, "auto-memory/of-another.md\n");
  });
  const why = async (project: ProjectId) => {
    const ignored = await takeIgnoredOf(machine.store, [], project);
    return ["own", "mine", "of-another"].map((name) => ignored.why(`auto-memory/${name}.md`));
  };
  const gone = { code: "ignored-gone", file: join(dir, IGNORE), isLinked: true } as const;
  expect(await why(MEMORY_PROJECT)).toEqual([gone, gone, undefined]);
  mkdirSync(dir);
  writeFileSync(join(dir, IGNORE), "auto-memory/of-another.md\n");
  expect(await why(MEMORY_PROJECT)).toEqual([gone, gone, undefined]);
  expect(await why("proj_other" as ProjectId)).toEqual([undefined, undefined, undefined]);
  writeFileSync(join(dir, IGNORE), "# nothing\n");
  expect(await why(MEMORY_PROJECT)).toEqual([undefined, undefined, undefined]);
  rmSync(join(dir, IGNORE));
  expect(await why(MEMORY_PROJECT)).toEqual([undefined, undefined, undefined]);
});

test("a folder that is linked again has what it named, and what its file says now", async () => {
  const machine = await MemoryMachine.start("anna");
  others.push(machine);
  const link = { ...machine.linkTo(machine.project) };
  await machine.store.write(async ({ db }) => {
    await putIgnoreText(db, link.dir, "auto-memory/own.md\n");
    await keepFormerIgnored(db, link);
    await takeBackIgnored(db, link.projectId, { from: link.dir, dir: link.dir });
    expect(await listFormerIgnored(db, link.projectId)).toEqual([]);
  });
  const why = async () =>
    (await takeIgnoredOf(machine.store, [link], link.projectId)).why("auto-memory/own.md");
  expect(await why()).toMatchObject({ code: "ignored-gone" });
  ignore(machine, "auto-memory/other.md\n");
  expect(await why()).toBeUndefined();
});
