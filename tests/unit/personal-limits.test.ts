import { afterEach, beforeEach, expect, test } from "bun:test";
import { versionOf } from "../../daemon/assistants/personal/version.ts";
import { PERSONAL_KEY } from "../../daemon/home/personal-mark.ts";
import { explain } from "../../shared/reasons.ts";
import { admitUpdate } from "../../shared/replica/admission/admit.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
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

/** Some `kib` KiB of rules. */
function rules(of: string, kib: number): string {
  const line = (number: number) => `- rule ${number} of ${of} says something of use\n`;
  return Array.from({ length: (kib * 1024) / line(100).length }, (_, at) => line(at)).join("");
}

async function pass() {
  for (const { world } of [a, b]) world.advance(61_000);
  await settlePersonal(a, b);
}

/** What a service says of all that a machine would send. */
async function answerTo(machine: PersonalMachine): Promise<string> {
  return (await admitUpdate(new ReplicaDocument([], 7), await machine.update(), undefined)).kind;
}

test("what two wrote stays in two versions, and is sent, where it is over the limit together", async () => {
  await a.on("claude");
  await a.on("gemini");
  await b.on("codex");
  a.edit("claude", () => rules("both", 16));
  await settlePersonal(a, b);
  await pass();
  a.edit("claude", (text) => text + rules("anna", 10));
  b.edit("codex", (text) => rules("desktop", 10) + text);
  for (const machine of [a, b]) await machine.look();
  await settlePersonal(a, b);
  await pass();
  const standing = await a.standing();
  expect(standing).toHaveLength(2);
  for (const of of ["anna", "desktop"]) {
    expect(standing.some((text) => text.includes(rules(of, 10)))).toBe(true);
  }
  for (const machine of [a, b]) expect(await answerTo(machine)).toBe("admitted");
  expect(b.block("codex")).toBe(a.block("claude") ?? "");
  for (const name of ["claude", "gemini"]) expect(a.stateOf(name)).toBe("current personal-apart");
  expect(b.stateOf("codex")).toBe("current personal-apart");
  const before = await a.history();
  await pass();
  expect(await a.history()).toEqual(before);
  a.edit("gemini", (text) => text.replace(rules("both", 16), rules("both", 9)));
  await settlePersonal(a, b);
  for (const text of [a.block("claude"), b.block("codex")]) {
    for (const part of [rules("anna", 10), rules("desktop", 10), rules("both", 9)]) {
      expect(text).toContain(part);
    }
  }
  expect(await b.standing()).toHaveLength(1);
  expect(b.stateOf("codex")).toBe("current");
});

test("two whole files that are adopted, and are too long together, both stay", async () => {
  a.save("claude", rules("anna", 18));
  b.save("claude", rules("desktop", 18));
  await a.on("claude", { settled: "adopt" });
  await b.on("claude", { settled: "adopt" });
  await settlePersonal(a, b);
  const standing = await b.standing();
  expect([...standing].sort()).toEqual([rules("anna", 18), rules("desktop", 18)].sort());
  for (const machine of [a, b]) {
    expect(await answerTo(machine)).toBe("admitted");
    expect(machine.stateOf("claude")).toBe("current personal-apart");
    expect(machine.block("claude")).toBe(standing[0] ?? "");
  }
});

test("a version that is too long to be merged is named by its key, where it has one of its own", async () => {
  const key = "mem_of_the_desktop";
  a.save("claude", rules("anna", 18));
  await a.on("claude", { settled: "adopt" });
  await a.look();
  const beside = versionOf(rules("desktop", 18), []);
  await a.writeMemory(beside.value, key);
  await a.keyFromService(key);
  await a.look();
  const [file] = a.keeper.status.files;
  const other = a.block("claude") === beside.text ? PERSONAL_KEY : key;
  const command = `memsync get ${other} --layer user`;
  expect(file?.why && explain(file.why)).toContain(`\`${command}\` shows what is beside it`);
});

test("one of the same key is in the conflicts", async () => {
  a.save("claude", rules("anna", 18));
  b.save("claude", rules("desktop", 18));
  await a.on("claude", { settled: "adopt" });
  await b.on("claude", { settled: "adopt" });
  await settlePersonal(a, b);
  const [file] = a.keeper.status.files;
  expect(file?.why && explain(file.why)).toContain("`memsync conflicts` shows what is beside it");
});

test("of two that were written in one millisecond the one counts that `get` shows", async () => {
  const [one, other] = [versionOf(rules("anna", 20), []), versionOf(rules("desktop", 20), [])];
  // Each machine has the same client ids in both turns, so in one of them the lower has each text.
  for (const [mine, theirs] of [[one, other] as const, [other, one] as const]) {
    for (const machine of [a, b]) await machine.remove();
    a = await PersonalMachine.start("anna");
    b = await PersonalMachine.start("anna's desktop");
    await a.writeMemory(mine.value);
    await b.writeMemory(theirs.value);
    await exchangeKept(a, b);
    await a.on("claude");
    await settlePersonal(a, b);
    expect(await a.standing()).toHaveLength(2);
    const shown = String((await a.memories()).get(PERSONAL_KEY));
    expect(shown.endsWith(a.block("claude") ?? "none")).toBe(true);
  }
});
