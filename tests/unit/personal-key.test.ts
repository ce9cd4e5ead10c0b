import { afterEach, beforeEach, expect, test } from "bun:test";
import { PERSONAL_KEY } from "../../daemon/home/personal-mark.ts";
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

test("a copy of the text under another key is left as it is, and so is what only begins so", async () => {
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "rule one\nrule two\n");
  await settlePersonal(a, b);
  const copy = String((await a.memories()).get(PERSONAL_KEY));
  await a.writeMemory(copy, "my-backup");
  await settlePersonal(a, b);
  a.edit("claude", () => "rule one\n");
  await settlePersonal(a, b);
  // An older version, and a value of another program's.
  await b.writeMemory(copy, "older");
  await b.writeMemory("<!-- memsync:personal version -->\nnot a rule\n", "evil");
  await settlePersonal(a, b);
  b.edit("codex", () => "rule one\nrule three\n");
  await settlePersonal(a, b);
  for (const machine of [a, b]) {
    const { [PERSONAL_KEY]: text, ...others } = Object.fromEntries(await machine.memories());
    expect(others).toEqual({
      "my-backup": copy,
      older: copy,
      evil: "<!-- memsync:personal version -->\nnot a rule\n",
    });
    expect(text).toEndWith("\nrule one\nrule three\n");
    expect(await machine.standing()).toEqual(["rule one\nrule three\n"]);
  }
  expect(a.block("claude")).toBe("rule one\nrule three\n");
});

test("where a service keeps no keys, the text is known by its first line, and gets its own key", async () => {
  await a.writeMemory("<!-- memsync:personal version -->\nof another machine\n", "mem_1");
  await a.keyFromService("mem_1");
  await a.on("claude");
  await a.look();
  expect(a.block("claude")).toBe("of another machine\n");
  a.edit("claude", (text) => `${text}and of this one\n`);
  await a.look();
  expect([...(await a.memories()).keys()]).toEqual([PERSONAL_KEY]);
  expect(await a.standing()).toEqual(["of another machine\nand of this one\n"]);
});
