import { afterEach, beforeEach, expect, test } from "bun:test";
import { allowHeld, listHeld } from "../../daemon/home/held-store.ts";
import { applyAllowed } from "../../daemon/inbox/apply-allowed.ts";
import { exchangeKept } from "../support/keeper-machine.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";

let a: PersonalMachine;
let b: PersonalMachine;

beforeEach(async () => {
  a = await PersonalMachine.start("anna");
  b = await PersonalMachine.start("anna's desktop");
  await a.on("claude");
  await b.on("codex");
});
afterEach(async () => {
  for (const machine of [a, b]) await machine.remove();
});

async function pass(ms: number): Promise<void> {
  for (const machine of [a, b]) machine.world.advance(ms);
  for (let turn = 0; turn < 2; turn++) {
    for (const machine of [a, b]) await machine.keeper.look();
    await exchangeKept(a, b);
    for (const machine of [a, b]) await machine.keeper.look();
  }
}

test("a version that is put back is asked about, also while a line in it is told", async () => {
  a.edit("claude", () => "one\n");
  await settlePersonal(a, b);
  const old = a.file("claude");
  await pass(61_000);
  for (const line of ["others 1", "others 2"]) {
    b.edit("codex", (text) => `${text}${line}\n`);
    await pass(100_000);
  }
  b.edit("codex", (text) => `${text}two\n`);
  await pass(0);
  a.save("claude", a.file("claude").replace("two\n", "").replace("one\n", "one\nmore\n"));
  await pass(0);
  await pass(100_000);
  expect(a.stateOf("claude")).toBe("current line-kept");
  await pass(3_600_000);
  const before = b.block("codex");
  a.save("claude", old);
  await pass(1000);
  await pass(100_000);
  expect(a.stateOf("claude")).toBe("asked personal-former");
  expect(b.block("codex")).toBe(before ?? "");
});

test("a version that is put back is asked about, also while two wordings of a line are told", async () => {
  a.edit("claude", () => "first\n");
  await settlePersonal(a, b);
  const first = a.file("claude");
  await pass(61_000);
  a.edit("claude", (text) => `${text}use npm\nsay why\n`);
  await pass(1000);
  const old = a.file("claude");
  await pass(61_000);
  b.edit("codex", (text) => `${text}others 1\n`);
  await pass(100_000);
  a.edit("claude", (text) => text.replace("npm", "pnpm"));
  b.edit("codex", (text) => text.replace("npm", "bun"));
  await pass(1000);
  await pass(100_000);
  expect(a.keeper.status.merges).toHaveLength(1);
  const before = b.block("codex");
  for (const version of [old, first]) {
    a.save("claude", version);
    await pass(1000);
    await pass(100_000);
    expect(a.stateOf("claude")).toBe("asked personal-former");
    expect(b.block("codex")).toBe(before ?? "");
  }
});

test("a held text that is allowed while others wrote is no earlier version: the file gets both", async () => {
  a.edit("claude", () => "one\n");
  await settlePersonal(a, b);
  await pass(61_000);
  a.edit("claude", (text) => `${text}the token is ${PLANTED.github}\n`);
  await pass(1000);
  b.edit("codex", (text) => `zero\n${text}`);
  await pass(1000);
  expect(a.stateOf("claude")).toBe("left-alone personal-held");
  await a.store.write(async (context) => {
    for (const item of await listHeld(context.db)) await allowHeld(context.db, item);
    await applyAllowed(context);
  });
  await settlePersonal(a, b);
  expect(a.stateOf("claude")).toBe("current");
  expect(a.block("claude")).toBe(`zero\none\nthe token is ${PLANTED.github}\n`);
  expect(b.block("codex")).toBe(a.block("claude") ?? "");
});
