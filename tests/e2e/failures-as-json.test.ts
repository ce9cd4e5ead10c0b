import { expect } from "bun:test";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";

const emulator = sharedEmulator();

/** The code with which a command fails, as a program reads it. */
async function codeOf(machine: Machine, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await machine.run([...args, "--json"]);
  expect([status, stderr.startsWith("memsync: ")]).toEqual([1, true]);
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string } };
  expect(stderr.replaceAll(/\n\s*/g, " ")).toContain(error.message.slice(0, 40));
  return error.code;
}

scenario("with --json a program reads why a command failed", async (lab) => {
  const folder = lab.git.path("p");
  await lab.git.write(join(folder, "CLAUDE.md"), "# P\n");
  const machine = lab.machine("a", folder, emulator.account("failures"));
  expect(await codeOf(machine, "sync")).toBe("no-daemon");
  expect(await codeOf(machine, "doc")).toBe("unlinked");
  await machine.up();
  for (const args of [
    ["get", "none"],
    ["history", "none"],
    ["conflicts", "show", "aaaaaaaa"],
    ["held", "show", "aaaaaaaa"],
    ["doc", "restore", "aaaaaaaa"],
    ["move", "none", "--layer", "user"],
    ["remote", "rm", "none"],
    ["link", "/nope"],
    ["import", "/nope"],
    ["server", "user", "list", "--account", "nope"],
    ["server", "token", "revoke", "nope"],
  ]) {
    expect([args, await codeOf(machine, ...args)]).toEqual([args, "not-found"]);
  }
  await machine.memsync("set", "key", "value");
  expect(await codeOf(machine, "move", "key", "--layer", "project")).toBe("taken");
  const { id } = await machine.projectOf(folder);
  expect(await codeOf(machine, "project", "rm", id)).toBe("needs-yes");
  // Nothing listens there any more.
  const away = await lab.emulator();
  const { url } = away;
  await away.end("SIGKILL");
  const login = ["login", "--url", url, "--token-stdin", "--json"];
  const offline = await machine.run(login, { stdin: "some-token" });
  expect(JSON.parse(offline.stdout)).toMatchObject({ error: { code: "offline" } });
  const wrong = await machine.run(["get", "--json"]);
  expect([wrong.status, wrong.stdout]).toEqual([2, ""]);
  // What has printed its answer says there what is wrong.
  const checked = await machine.run(["doctor", "--json"]);
  expect(() => JSON.parse(checked.stdout)).not.toThrow();
  const token = `ghp_${"a1B2c3D4e5".repeat(4)}`.slice(0, 40);
  // What is held can be read, and has no history.
  await machine.memsync("set", "held", `TOKEN=${token}`);
  expect(await codeOf(machine, "history", "held")).toBe("not-found");
  const hidden = await machine.run(["get", token, "--json"]);
  expect([hidden.status, hidden.stdout.includes(token)]).toEqual([1, false]);
});
