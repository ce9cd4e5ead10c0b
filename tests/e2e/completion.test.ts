import { expect } from "bun:test";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Lab, scenario } from "../support/lab.ts";
import { type Machine, MEMSYNC } from "../support/machine.ts";
import { programs } from "../support/needs.ts";
import { PLANTED } from "../support/planted-secrets.ts";

/** A machine on which `memsync` is a command like any other. */
async function makeMachine(lab: Lab): Promise<Machine> {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  const program = MEMSYNC.map((word) => `'${word}'`).join(" ");
  mkdirSync(join(machine.folder, "bin"));
  const path = join(machine.folder, "bin", "memsync");
  writeFileSync(path, `#!/bin/sh\nexec ${program} "$@"\n`);
  chmodSync(path, 0o755);
  return machine;
}

/** What bash offers at the end of these words. */
async function offeredByBash(machine: Machine, ...words: string[]): Promise<string[]> {
  const script = [
    'PATH="$PWD/bin:$PATH"',
    "source <(memsync completion bash)",
    'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))',
    "_memsync",
    `printf "%s\\n" "\${COMPREPLY[@]}"`,
  ].join("\n");
  const shell = ["bash", "--norc", "-c", script, "bash", "memsync", ...words];
  const { status, stdout } = await machine.spawnOther(shell).ended();
  expect(status).toBe(0);
  return stdout.split("\n").filter((word) => word !== "");
}

scenario("bash completes commands, options, keys and folders", async (lab) => {
  const machine = await makeMachine(lab);
  for (const key of ["build", "bundle"]) await machine.memsync("set", key, "x", "--layer", "user");
  expect(await offeredByBash(machine, "sta")).toContain("status");
  const settling = ["show", "choose", "restore", "dismiss"];
  expect(await offeredByBash(machine, "conflicts", "")).toEqual(settling);
  expect(await offeredByBash(machine, "set", "--lay")).toEqual(["--layer"]);
  expect(await offeredByBash(machine, "get", "bu")).toEqual(["build", "bundle"]);
  expect(await offeredByBash(machine, "link", "b")).toEqual(["bin"]);
  expect(await offeredByBash(machine, "emulator", "--plan", "")).toEqual(["pro", "team"]);
  const plan = ["server", "account", "plan", "acme"];
  expect(await offeredByBash(machine, ...plan, "")).toEqual(["pro", "team"]);
});

scenario("a key with colons is completed where bash takes it apart", async (lab) => {
  const machine = await makeMachine(lab);
  for (const key of ["db:url", "db:user:name", "build"]) {
    await machine.memsync("set", key, "x", "--layer", "user");
  }
  expect(await offeredByBash(machine, "get", "d")).toEqual(["db:url", "db:user:name"]);
  // As bash gives the words of `get db:`, `get db:u` and `get db:user:n`.
  expect(await offeredByBash(machine, "get", "db", ":")).toEqual(["url", "user:name"]);
  expect(await offeredByBash(machine, "get", "db", ":", "u")).toEqual(["url", "user:name"]);
  expect(await offeredByBash(machine, "get", "db", ":", "user", ":", "n")).toEqual(["name"]);
  expect(await offeredByBash(machine, "restore", "db", ":", "url", "--lay")).toEqual(["--layer"]);
  // Bash leaves a word with an escaped colon whole, and replaces all of it.
  expect(await offeredByBash(machine, "get", "db\\:ur")).toEqual(["db:url"]);
  // Bash leaves a quoted word whole, and replaces it behind its quote.
  for (const quote of ['"', "'"]) {
    expect(await offeredByBash(machine, "get", `${quote}db:u`)).toEqual(["db:url", "db:user:name"]);
    expect(await offeredByBash(machine, "get", `${quote}bu`)).toEqual(["build"]);
    const words = ["restore", `${quote}db:url${quote}`, "--lay"];
    expect(await offeredByBash(machine, ...words)).toEqual(["--layer"]);
  }
});

const ZSH_PROBE = `
compdef() { }
_files() { print files }
_describe() { print -rl -- "\${(@P)2}" }
source $1
words=("\${@:2}") CURRENT=$(($# - 1))
_memsync
`;

scenario(
  "zsh is offered keys with colons as its own lists want them",
  async (lab) => {
    const machine = await makeMachine(lab);
    await machine.memsync("set", "db:url", "where it is", "--layer", "user");
    const path = join(machine.folder, "script");
    writeFileSync(path, await machine.memsync("completion", "zsh"));
    const PATH = `${join(machine.folder, "bin")}:${lab.git.env.PATH}`;
    const offered = async (...words: string[]) => {
      const shell = ["zsh", "-f", "-c", ZSH_PROBE, "zsh", path, "memsync", ...words];
      return (await machine.spawnOther(shell, { env: { PATH } }).ended()).stdout.trim();
    };
    expect(await offered("get", "db:u")).toBe("db\\:url:where it is");
    expect(await offered("get", "db\\:u")).toBe("db\\:url:where it is");
    expect(await offered("get", "$(touch harm)")).toBe("files");
    expect(existsSync(join(machine.folder, "harm"))).toBeFalse();
  },
  { needs: programs("zsh") },
);

scenario("ids and names are completed where they are meant", async (lab) => {
  const machine = await makeMachine(lab);
  await machine.memsync("start");
  await machine.memsync("set", "secret", PLANTED.github, "--layer", "user");
  await machine.memsync("remote", "add", "work", "https://memory.example.com");
  const [held] = (await machine.status()).held;
  expect(held).toBeDefined();
  expect(await offeredByBash(machine, "held", "allow", "")).toEqual([held?.id ?? ""]);
  expect(await offeredByBash(machine, "conflicts", "show", "")).toEqual([]);
  expect(await offeredByBash(machine, "remote", "rm", "")).toEqual(["work"]);
  expect(await offeredByBash(machine, "server", "token", "revoke", "")).toEqual([]);
  expect(await offeredByBash(machine, "list", "--layer", "u")).toEqual(["user"]);
  expect(await offeredByBash(machine, "setup", "c")).toEqual(["claude", "codex", "cursor"]);
  expect(await offeredByBash(machine, "link", "--remote", "")).toEqual(["work"]);
  expect(await offeredByBash(machine, "list", "--project", "b")).toEqual(["bin"]);
});

scenario("the versions of what is named are completed", async (lab) => {
  const machine = await makeMachine(lab);
  for (const value of ["one", "two"]) {
    await machine.memsync("set", "of mine", value, "--layer", "user");
  }
  await machine.up();
  await machine.memsync("sync");
  const history = JSON.parse(await machine.memsync("history", "of mine", "--json"));
  const revisions = history.map(({ rev }: { rev: string }) => rev);
  expect(revisions).toHaveLength(2);
  for (const command of ["history", "restore"]) {
    expect(await offeredByBash(machine, command, '"of mine"', "")).toEqual(revisions);
  }
  // The folder's project has no text yet, and no other document has versions here.
  expect(await offeredByBash(machine, "doc", "restore", "")).toEqual([]);
});

scenario("nothing that is typed or offered is evaluated by the shell", async (lab) => {
  const machine = await makeMachine(lab);
  const harm = join(machine.folder, "harm");
  for (const key of [`$(touch ${harm})`, `a\`touch ${harm}\``, "a b", "plain"]) {
    await machine.memsync("set", key, "x", "--layer", "user");
  }
  expect(await offeredByBash(machine, "get", "")).toEqual(["plain"]);
  expect(await offeredByBash(machine, "get", `$(touch ${harm})`)).toEqual([]);
  expect(existsSync(harm)).toBeFalse();
});

for (const shell of ["bash", "zsh", "fish"] as const) {
  scenario(
    `the script for ${shell} is one that ${shell} reads`,
    async (lab) => {
      const machine = await makeMachine(lab);
      const path = join(machine.folder, "script");
      writeFileSync(path, await machine.memsync("completion", shell));
      const { status, stderr } = await machine.spawnOther([shell, "-n", path]).ended();
      expect([status, stderr]).toEqual([0, ""]);
    },
    { needs: programs(shell) },
  );
}
