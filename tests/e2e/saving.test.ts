import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

const WAITS = "memsync: saved; will be sent when the daemon runs: `memsync start`\n";

scenario("`add -` saves standard input, as `set KEY -` does", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("add"));
  const value = "one\n- two\n";
  const key = (await machine.memsyncWith({ stdin: value }, "add", "-")).trim();
  expect(await machine.memsync("get", key)).toBe(value);
  const { status, stderr } = await machine.run(["add", "-"], { stdin: new Uint8Array([0xff]) });
  expect([status, stderr]).toEqual([
    1,
    "memsync: standard input is not UTF-8; nothing was saved\n",
  ]);
});

scenario("a text that begins with a dash is told how to be given", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("dash"));
  const { status, stdout, stderr } = await machine.run(["set", "note", "- use tabs"]);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("behind --: `memsync set -- KEY VALUE`");
  for (const args of [
    ["set", "note", "- use tabs", "--layer", "user"],
    ["set", "--layer", "user", "- k", "v"],
    ["add", "--layer", "global", "- x"],
  ]) {
    expect((await machine.run(args)).stderr).toContain("behind --: `memsync ");
  }
  const mistyped = await machine.run(["rm", "key", "--json"]);
  expect([mistyped.status, mistyped.stderr]).toEqual([
    2,
    "memsync: unknown option '--json'\nmemsync: `memsync rm --help` lists its options\n",
  ]);
  await machine.memsync("set", "--", "note", "- use tabs");
  expect(await machine.memsync("get", "note")).toBe("- use tabs");
  const nested = await machine.run(["held", "show", "-x"]);
  expect([nested.status, nested.stderr]).toEqual([
    2,
    expect.stringContaining("`memsync held show -- ID`"),
  ]);
  // Where an option was mistyped, or nothing but options is taken, it would only mislead.
  for (const args of [
    ["set", "key", "value", "--jsno"],
    ["status", "--nonsense"],
  ]) {
    expect((await machine.run(args)).stderr).not.toContain("--:");
  }
});

scenario(
  "a write beside a daemon that starts or is replaced is told to it, or says so",
  async (lab) => {
    const machine = await lab.stoppedMachine(emulator.account("starts"));
    const set = (value: string) => machine.run(["set", "key", value]);
    // A command that starts a daemon holds its turn until that answers.
    const started = machine.run(["start"]);
    await waitFor("a daemon that is starting", () => existsSync(join(machine.home, "daemon.json")));
    const first = await set("first");
    expect([first.status, first.stderr]).toEqual([0, ""]);
    expect((await started).status).toBe(0);
    const restarted = machine.run(["restart"]);
    const writes = [await set("second"), await set("third")];
    expect((await restarted).status).toBe(0);
    expect(writes.map(({ status, stderr }) => [status, stderr])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    expect(await machine.memsync("get", "key")).toBe("third");
    await machine.untilSynced();
    const stopped = machine.run(["stop"]);
    await waitFor("the daemon's end", () => !existsSync(join(machine.home, "daemon.sock")));
    const last = await set("last");
    expect([last.status, last.stderr]).toEqual([0, WAITS]);
    expect((await stopped).status).toBe(0);
  },
);

scenario("without a daemon each write says that it waits, and with one none does", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("waits"));
  const writes = [
    ["set", "key", "value"],
    ["set", "mine", "value", "--layer", "user"],
    ["add", "text"],
    ["rm", "key"],
    ["doc", "clear", "--yes"],
  ];
  await lab.git.write(`${machine.folder}/CLAUDE.md`, "text\n");
  await machine.up();
  await machine.sync();
  await machine.down();
  for (const args of writes) {
    expect([args, await machine.run(args)]).toMatchObject([args, { status: 0, stderr: WAITS }]);
  }
  // What was not there is not deleted, and nothing waits.
  expect((await machine.run(["rm", "key"])).stderr).toBe('memsync: there is no memory "key"\n');
  const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
  const { stderr } = await machine.run(["set", "deploy", `token ${secret}`]);
  expect(stderr).toMatch(
    /^memsync: saved here, and held once the daemon runs: looks like a GitHub/,
  );
  expect(stderr).not.toContain(secret);
  await machine.up();
  expect(await machine.memsync("held")).toContain("deploy");
  for (const args of writes.slice(0, 3)) {
    expect([args, await machine.run(args)]).toMatchObject([args, { status: 0, stderr: "" }]);
  }
});

scenario(
  "`set --json` and `add --json` say where a memory is, and never what is held",
  async (lab) => {
    const machine = await lab.stoppedMachine(emulator.account("set-json"));
    const printed = async (...args: string[]) =>
      JSON.parse(await machine.memsync(...args, "--json"));
    expect(await printed("set", "key", "value")).toMatchObject({ key: "key", saved: "inbox" });
    await machine.up();
    expect(await printed("set", "key", "value")).toMatchObject({
      key: "key",
      layer: "project",
      saved: "replica",
    });
    const added = await printed("add", "text", "--layer", "user");
    expect(added).toMatchObject({ layer: "user", saved: "replica" });
    expect(await machine.memsync("get", added.key, "--layer", "user")).toBe("text");
    const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    const held = await machine.run(["set", "deploy", `token ${secret}`, "--json"]);
    expect(JSON.parse(held.stdout)).toMatchObject({ key: "deploy", saved: "held" });
    expect(held.stdout + held.stderr).not.toContain(secret);
  },
);

scenario("a mistyped project's id is refused by every command, and nearly named", async (lab) => {
  const machine = await lab.stoppedMachine(emulator.account("mistyped"));
  await machine.up();
  const { id } = await machine.projectOf();
  const nearly = `${id.slice(0, -1)}0`;
  const commands = [
    ["get", "key"],
    ["set", "key", "value"],
    ["add", "text"],
    ["list"],
    ["rm", "key"],
    ["search", "word"],
    ["history", "key"],
    ["doc"],
    ["conflicts"],
  ];
  const refused = async () => {
    for (const args of commands) {
      const { status, stdout, stderr } = await machine.run([...args, "--project", nearly]);
      expect([args, status, stdout]).toEqual([args, 1, ""]);
      expect(stderr).toBe(
        `memsync: there is no project ${nearly} on this machine: did you mean "${id}"?\n`,
      );
    }
    const far = await machine.run(["get", "key", "--project", "proj_nothing_like_it"]);
    expect([far.status, far.stderr]).toEqual([1, expect.stringContaining("`memsync projects`")]);
  };
  await refused();
  expect((await machine.run(["sessions", "--project", nearly])).status).toBe(1);
  await machine.down();
  await refused();
  expect((await machine.run(["sessions", "--project", nearly])).status).toBe(1);
  expect((await machine.run(["get", "key", "--project", id])).stderr).toContain("no memory");
});
