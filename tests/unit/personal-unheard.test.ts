import { afterEach, beforeEach, expect, test } from "bun:test";
import { findPersonalFile } from "../../daemon/home/personal-files.ts";
import { PersonalMachine, settlePersonal } from "../support/personal-machines.ts";

let a: PersonalMachine;

beforeEach(async () => {
  a = await PersonalMachine.start("anna");
  await a.on("claude");
  a.edit("claude", () => "mine\n");
  await settlePersonal(a);
  await a.end();
  a.edit("claude", (text) => `${text}while it was down\n`);
  a.whose = "unknown";
  await a.begin();
  await settlePersonal(a);
});
afterEach(() => a.remove());

const asked = async () => (await findPersonalFile(a.store.reader, "claude"))?.asked;

test("what stands in a file is taken once the daemon is known to run for the text's user", async () => {
  expect(a.stateOf("claude")).toBe("left-alone personal-unheard");
  await a.writeMemory("mine\nof another machine\n");
  const before = a.file("claude");
  for (const line of ["of a program", "typed"]) {
    await a.saveHeard("claude", before.replace("while it", `${line}\nwhile it`));
    await settlePersonal(a);
  }
  await settlePersonal(a);
  expect(await a.standing()).toEqual(["mine\nof another machine\n"]);
  expect(a.block("claude")).not.toContain("of another machine");
  expect(await asked()).toBeUndefined();
  a.whose = "home";
  await settlePersonal(a);
  expect(a.stateOf("claude")).toBe("current");
  const lines = ["mine", "of another machine", "typed", "while it was down"];
  expect(a.block("claude")?.trim().split("\n").sort()).toEqual(lines);
  expect((await a.history()).join()).toContain("of a program");
});

test("what stands in a file is asked about once the daemon turned out to run for another", async () => {
  a.edit("claude", (text) => `${text}of another\n`);
  a.whose = "another";
  await settlePersonal(a);
  expect(a.stateOf("claude")).toBe("left-alone personal-of-another");
  a.whose = "home";
  await settlePersonal(a);
  expect(a.stateOf("claude")).toBe("asked personal-found");
  expect(await a.standing()).toEqual(["mine\n"]);
});
