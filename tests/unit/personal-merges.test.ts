import { afterEach, beforeEach, expect, test } from "bun:test";
import { readMerges } from "../../daemon/assistants/personal/read-merges.ts";
import { parseVersion } from "../../daemon/assistants/personal/version.ts";
import { keepPersonalVersion } from "../../daemon/home/personal-versions.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";

let a: PersonalMachine;
let b: PersonalMachine;

beforeEach(async () => {
  a = await PersonalMachine.start("anna");
  b = await PersonalMachine.start("anna's desktop");
});
afterEach(async () => {
  for (const machine of [a, b]) await machine.remove();
});

test("a line that both changed stays in both versions, and is told until one is gone", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "use npm\nsay why\n");
  await settlePersonal(a, b);
  b.world.advance(61_000);
  a.edit("claude", (text) => text.replace("npm", "pnpm"));
  b.edit("codex", (text) => text.replace("npm", "bun"));
  await settlePersonal(a, b);
  expect(a.block("claude")?.split("\n").sort()).toEqual(["", "say why", "use bun", "use pnpm"]);
  expect(b.block("codex")).toBe(a.block("claude") ?? "");
  for (const { keeper } of [a, b]) expect(keeper.status.merges).toHaveLength(1);
  a.world.advance(61_000);
  await a.look();
  a.edit("claude", (text) => text.replace("use bun\n", ""));
  await settlePersonal(a, b);
  for (const { keeper } of [a, b]) expect(keeper.status.merges).toEqual([]);
  expect(b.block("codex")).toBe("use pnpm\nsay why\n");
});

test("neighbouring lines that two machines change at once are no versions of one line", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "- rule one XX\n- from b\n- rule two ZZ\n- rule three\n");
  await settlePersonal(a, b);
  for (const machine of [a, b]) {
    machine.world.advance(61_000);
    await machine.look();
  }
  a.edit("claude", (text) => text.replace("- rule one XX", "- rule one: use tabs in Go"));
  b.edit("codex", (text) => text.replace("- from b", "- never push to main"));
  await settlePersonal(a, b);
  for (const { keeper } of [a, b]) expect(keeper.status.merges).toEqual([]);
  for (const line of ["- rule one: use tabs in Go\n", "- never push to main\n"]) {
    expect(b.block("codex")).toContain(line);
  }
  for (const machine of [a, b]) {
    machine.world.advance(61_000);
    await machine.look();
  }
  a.edit("claude", (text) => text.replace("- rule three", "- rule three, by a"));
  b.edit("codex", (text) => text.replace("- rule three", "- rule three, by b"));
  await settlePersonal(a, b);
  for (const { keeper } of [a, b]) {
    const told = keeper.status.merges.map(({ mine, theirs }) => [mine, theirs].sort());
    expect(told).toEqual([["- rule three, by a\n", "- rule three, by b\n"]]);
  }
  for (const machine of [a, b]) {
    machine.world.advance(61_000);
    await machine.look();
  }
  a.edit("claude", (text) => text.replace("- rule three, by a", "-  - rule three, by a"));
  await settlePersonal(a, b);
  for (const { keeper } of [a, b]) expect(keeper.status.merges).toEqual([]);
});

test("a machine that did not merge tells of a line that both changed as well", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "use npm\nsay why\n");
  await settlePersonal(a, b);
  a.edit("claude", (text) => text.replace("npm", "pnpm"));
  await a.look();
  b.edit("codex", (text) => text.replace("npm", "bun"));
  await b.apply(await a.update());
  await b.look();
  await a.apply(await b.update());
  await a.look();
  const [told] = a.keeper.status.merges;
  expect([told?.mine, told?.theirs].sort()).toEqual(["use bun\n", "use pnpm\n"]);
});

test("a line that both rewrote altogether stays in both versions, which are told as a pair", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "- use npm for all\n- say why\n- never guess\n");
  await settlePersonal(a, b);
  for (const machine of [a, b]) {
    machine.world.advance(61_000);
    await machine.look();
  }
  a.edit("claude", (text) => text.replace("- use npm for all", "- bun runs scripts here"));
  b.edit("codex", (text) => {
    return text.replace("- use npm for all", "- see package.json").replace("never", "do not");
  });
  await settlePersonal(a, b);
  for (const { keeper } of [a, b]) {
    const told = keeper.status.merges.map(({ mine, theirs }) => [mine, theirs].sort());
    expect(told).toEqual([["- bun runs scripts here\n", "- see package.json\n"]]);
  }
  expect(a.block("claude")).toContain("- do not guess\n");
  a.world.advance(61_000);
  await a.look();
  a.edit("claude", (text) => text.replace("- see package.json\n", ""));
  await settlePersonal(a, b);
  for (const { keeper } of [a, b]) expect(keeper.status.merges).toEqual([]);
  expect(b.block("codex")).not.toContain("package.json");
});

test("a place of several lines that a machine of before has noted is told while all of it stands", async () => {
  const noted = (text: string) => `<!-- memsync:personal version both 2-2 3-4 -->\n${text}`;
  const current = parseVersion(noted("one\ntwo, by one\ntwo, by the other\nand more\nthree\n"));
  await a.store.write(({ db }) => {
    return keepPersonalVersion(db, { id: current.id, value: current.value, isOwn: false });
  });
  const places = { mine: "two, by one\n", theirs: "two, by the other\nand more\n" };
  expect(await readMerges(a.store.reader, current)).toEqual([places]);
  const edited = parseVersion(current.text.replace("and more", "and more of it"));
  expect(await readMerges(a.store.reader, edited)).toEqual([]);
});

/** Both rewrite one line altogether; both rules stay and are told. */
async function meet(): Promise<void> {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "one\nto come\nend\n");
  await settlePersonal(a, b);
  await pass(61_000);
  a.edit("claude", (text) => text.replace("to come", "use npm here"));
  b.edit("codex", (text) => text.replace("to come", "always test first"));
  await settlePersonal(a, b);
  for (const { keeper } of [a, b]) expect(keeper.status.merges).toHaveLength(1);
}

async function pass(milliseconds: number): Promise<void> {
  for (const { world } of [a, b]) world.advance(milliseconds);
  await settlePersonal(a, b);
}

test("two rules that met are told no more once one was taken out, also where it is written again", async () => {
  await meet();
  await pass(61_000);
  a.edit("claude", (text) => text.replace("always test first\n", ""));
  await pass(24 * 60 * 60_000);
  for (const where of ["- more\n", "always test first\n", "- and more\n"]) {
    b.edit("codex", (text) => text + where);
    await pass(61_000);
    for (const { keeper } of [a, b]) expect(keeper.status.merges).toEqual([]);
  }
  expect(a.block("claude")).toContain("always test first\n- and more\n");
});

test("a save that had not seen one of two rules that met settles nothing", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "one\nto come\nend\n");
  await settlePersonal(a, b);
  await pass(61_000);
  a.edit("claude", (text) => text.replace("to come", "use npm here"));
  const stale = a.file("claude");
  b.edit("codex", (text) => text.replace("to come", "always test first"));
  for (const machine of [a, b]) await machine.keeper.look();
  await exchangeKept(a, b);
  for (const machine of [a, b]) await machine.keeper.look();
  expect(a.block("claude")).toContain("always test first\n");
  a.save("claude", stale.replace("end\n", "end\nmore\n"));
  await settlePersonal(a, b);
  expect(b.block("codex")).toContain("always test first\n");
  expect(b.block("codex")).toContain("more\n");
  for (const { keeper } of [a, b]) {
    const told = keeper.status.merges.map(({ mine, theirs }) => [mine, theirs].sort());
    expect(told).toContainEqual(["always test first\n", "use npm here\n"]);
  }
});
