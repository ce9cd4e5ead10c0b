import { expect } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { scenario } from "../support/lab.ts";
import { type Machine, MEMSYNC } from "../support/machine.ts";

/** Runs a command that can't write more than `blocks` of 512 bytes into any file. */
async function withRoom(machine: Machine, blocks: number, args: readonly string[]) {
  const line = [...MEMSYNC, ...args].map((word) => `'${word}'`).join(" ");
  return await machine.spawnOther(["sh", "-c", `ulimit -f ${blocks}; ${line}`]).ended();
}

scenario("a daemon that can't write a byte is said to have no room, and where", async (lab) => {
  const machine = lab.machine("a", lab.git.folder);
  // With none not even its log takes what it would say.
  for (const blocks of [0, 8]) {
    const { status, stdout, stderr } = await withRoom(machine, blocks, ["start"]);
    expect([blocks, status, stdout]).toEqual([blocks, 1, ""]);
    expect(stderr).toStartWith("memsync: the daemon did not start: ");
    expect(stderr).toContain(`the disk of ${machine.home} is full: make room`);
  }
  await machine.memsync("start");
  await machine.memsync("stop");
});

scenario("each command that meets a full disk names what could not be written", async (lab) => {
  const machine = lab.machine("a", lab.git.folder);
  const database = `sqlite:${lab.git.path("server.db")}`;
  const at = ["--database-url", database];
  await machine.memsync("server", "account", "create", "acme", ...at);
  const copy = lab.git.path("copy.db");
  await machine.memsync("server", "backup", copy, ...at);
  const other = lab.git.path("other.db");
  const cases: readonly (readonly [readonly string[], string])[] = [
    [["server", "backup", other, ...at], `no backup at ${other}: the disk of ${other} is full`],
    [
      ["server", "restore", copy, "--database-url", `sqlite:${other}`],
      `not restored: the disk of ${other} is full`,
    ],
    [["server", "token", "create", "--account", "acme", ...at], "the disk of /"],
    [["emulator", "--port", "0", "--data-dir", lab.git.path("em")], "the disk of /"],
    [["install"], ".config/systemd/user/memsync-"],
    [["doctor"], "the disk is full"],
  ];
  const linux = process.platform === "linux";
  for (const [args, said] of cases.filter(([[name]]) => linux || name !== "install")) {
    const { status, stdout, stderr } = await withRoom(machine, 0, args);
    expect([args, status]).toEqual([args, 1]);
    expect([args, `${stdout}${stderr}`]).toEqual([args, expect.stringContaining(said)]);
  }
  expect(existsSync(other)).toBe(false);
});

scenario("settings that find no room are named, and stay as they were", async (lab) => {
  const machine = lab.machine("a", lab.git.folder);
  const settings = lab.git.path(".gemini");
  mkdirSync(settings);
  const { status, stderr } = await withRoom(machine, 0, ["setup", "gemini", "--yes"]);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`disk of ${settings}/settings.j`)]);
  expect(existsSync(`${settings}/settings.json`)).toBe(false);
});
