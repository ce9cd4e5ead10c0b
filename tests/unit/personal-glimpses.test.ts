import { afterEach, beforeEach, expect, test } from "bun:test";
import { listHeld } from "../../daemon/home/held-store.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";
import { PLANTED } from "../support/planted-secrets.ts";

let a: PersonalMachine;
let b: PersonalMachine;
/** a's file before anybody saves it. */
let before: string;

beforeEach(async () => {
  a = await PersonalMachine.start("anna");
  b = await PersonalMachine.start("anna's desktop");
  await a.on("claude");
  await b.on("codex");
  a.edit("claude", () => "one\ntwo\n");
  await settlePersonal(a, b);
  for (const { world } of [a, b]) world.advance(61_000);
  await settlePersonal(a, b);
  before = a.file("claude");
});
afterEach(async () => {
  for (const machine of [a, b]) await machine.remove();
});

const withLine = (line: string) => before.replace("two\n", `two\n${line}\n`);

/** Whether a version in the history has the line. */
async function everIn(line: string): Promise<boolean> {
  return (await a.history()).some((value) => value.includes(`${line}\n`));
}

test("what a program saved between two looks is in the history, where another one saves over it", async () => {
  await a.saveHeard("claude", withLine("precious"));
  await a.saveHeard("claude", withLine("by the other"));
  await settlePersonal(a, b);
  for (const text of [a.block("claude"), b.block("codex")]) {
    expect(text).toBe("one\ntwo\nby the other\n");
  }
  expect(await everIn("precious")).toBe(true);
  expect(a.stateOf("claude")).toBe("current");
});

test("a kill between the two saves loses nothing", async () => {
  await a.saveHeard("claude", withLine("precious"));
  await a.end();
  a.save("claude", withLine("by the other"));
  await a.begin();
  await settlePersonal(a, b);
  expect(b.block("codex")).toBe("one\ntwo\nby the other\n");
  expect(await everIn("precious")).toBe(true);
});

test("what an editor saves while somebody types is one edit", async () => {
  const count = (await a.history()).length;
  for (const line of ["- say", "- say why", "- say why, always"]) {
    await a.saveHeard("claude", withLine(line));
  }
  await a.saveHeard("claude", before);
  await a.saveHeard("claude", withLine("- say why, always"));
  await settlePersonal(a, b);
  expect(b.block("codex")).toBe("one\ntwo\n- say why, always\n");
  expect(await a.history()).toHaveLength(count + 1);
  expect(await everIn("- say")).toBe(false);
});

test("an earlier text that is there between two looks undoes nothing, and asks nothing", async () => {
  b.edit("codex", (text) => text.replace("one\n", ""));
  await settlePersonal(a, b);
  for (const { world } of [a, b]) world.advance(61_000);
  await settlePersonal(a, b);
  const now = a.file("claude");
  await a.saveHeard("claude", before);
  await a.saveHeard("claude", now);
  await settlePersonal(a, b);
  expect(a.stateOf("claude")).toBe("current");
  expect(b.block("codex")).toBe("two\n");
});

test("what was saved just before the file goes stays in the text", async () => {
  await a.saveHeard("claude", withLine("precious"));
  a.save("claude", "");
  await settlePersonal(a, b);
  expect(b.block("codex")).toBe("one\ntwo\nprecious\n");
  expect(a.stateOf("claude")).toBe("asked personal-missing");
});

test("a secret that is taken out before the look is neither sent nor held", async () => {
  await a.saveHeard("claude", withLine(`The token is ${PLANTED.github}`));
  await a.saveHeard("claude", withLine("The token is in the vault"));
  await settlePersonal(a, b);
  expect(b.block("codex")).toBe("one\ntwo\nThe token is in the vault\n");
  expect(await listHeld(a.store.reader)).toEqual([]);
});

test("a half damaged block between two looks changes nothing", async () => {
  await a.saveHeard("claude", before.slice(0, before.indexOf("two")));
  await a.saveHeard("claude", withLine("whole"));
  await settlePersonal(a, b);
  expect(b.block("codex")).toBe("one\ntwo\nwhole\n");
});

for (const isHeard of [true, false]) {
  test(`a text of which a part stands over the former one is nobody's, ${isHeard ? "heard of" : "looked at"}`, async () => {
    const count = (await a.history()).length;
    const next = before.replace("one\n", "the very first of all\n");
    const begun = next.slice(0, next.indexOf("ery")) + before.slice(next.indexOf("ery"));
    expect(begun).toContain("the vwo\n");
    if (isHeard) await a.saveHeard("claude", begun);
    else {
      a.save("claude", begun);
      await a.keeper.look();
      expect(a.stateOf("claude")).toBe("waiting being-written");
    }
    await a.saveHeard("claude", next);
    await settlePersonal(a, b);
    expect(b.block("codex")).toBe("the very first of all\ntwo\n");
    expect(await a.history()).toHaveLength(count + 1);
  });
}

test("a text that has as many bytes as before is taken once it has stood for a while", async () => {
  a.save("claude", before.replace("one\ntwo\n", "o\nne two\n"));
  await settlePersonal(a, b);
  expect(b.block("codex")).toBe("o\nne two\n");
  expect(a.stateOf("claude")).toBe("current");
});
