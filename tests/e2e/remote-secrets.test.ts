import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import { Machine } from "../support/machine.ts";
import { holdsText } from "../support/service-data.ts";

const emulator = sharedEmulator();
const HAS_PROC = existsSync("/proc/self/cmdline");

/** Looks at every process there is, over and over, for a text that none of them may show. */
function watchProcesses(text: string, files: readonly string[]) {
  const found = new Set<string>();
  let looks = 0;
  let over = false;
  const watching = (async () => {
    while (!over) {
      const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
      for (const pid of pids) {
        for (const file of files) {
          const shown = await readFile(`/proc/${pid}/${file}`).catch(() => Buffer.alloc(0));
          if (shown.includes(text)) found.add(`${file} of ${pid}`);
        }
      }
      looks += 1;
    }
  })();
  return async () => {
    over = true;
    await watching;
    return { found: [...found], looks };
  };
}

/** A machine whose `git` writes down what it is given, and then is git. */
async function withWatchedGit(lab: Lab, token: string) {
  const folder = await lab.git.repository("p", { ".gitignore": "CLAUDE.md" });
  const seen = lab.git.path("seen-by-git");
  const bin = lab.git.path("bin");
  const path = lab.git.env.PATH ?? "";
  await mkdir(bin);
  const script = `#!/bin/sh\nenv >> '${seen}'\nPATH='${path}' exec git "$@"\n`;
  await writeFile(join(bin, "git"), script);
  await chmod(join(bin, "git"), 0o755);
  const env = { ...lab.git.env, PATH: `${bin}:${path}` };
  const { url } = emulator.account("any");
  const machine = new Machine({
    name: "git",
    home: lab.git.path("home-git"),
    folder,
    env,
    service: { url, token },
  });
  return { machine, seen };
}

scenario("a token given to `login` is in one private file and nowhere else", async (lab) => {
  const token = "mst_dev_nobody-sees-this";
  const { url } = emulator.account("any");
  const folder = await lab.git.repository("p", { ".gitignore": "CLAUDE.md" });
  const machine = lab.machine("a", folder);
  const stop = HAS_PROC ? watchProcesses(token, ["cmdline", "environ"]) : undefined;
  await machine.up();
  const args = ["login", "--url", url, "--token-stdin", "--move"];
  const printed = [await machine.memsyncWith({ stdin: `${token}\n` }, ...args)];
  const commands = [
    ["set", "key", "value"],
    ["sync", "--wait", "20"],
    ["status"],
    ["status", "--json"],
    ["remote", "list"],
    ["remote", "list", "--json"],
    ["env"],
    ["projects", "--json"],
    ["login", "--url", `${url}0`, "--token-stdin"],
    ["remote", "rm", "none"],
  ];
  for (const command of commands) {
    const { stdout, stderr } = await machine.run(command, { stdin: `${token}\n` });
    printed.push(stdout, stderr);
  }
  await machine.down();
  const watched = await stop?.();
  expect(watched?.found ?? []).toEqual([]);
  expect(watched === undefined || watched.looks > 3).toBe(true);
  expect(printed.join("\n")).toContain("may read and write");
  expect(`${printed.join("\n")}${machine.logs()}`).not.toContain(token);
  for (const name of await readdir(machine.home)) {
    const holds = (await readFile(join(machine.home, name))).includes(token);
    expect([name, holds]).toEqual([name, name === "credentials.json"]);
  }
  await machine.memsync("logout");
  expect(holdsText(machine.home, token)).toBe(false);
});

scenario("git and what it starts get no variable of ours", async (lab) => {
  const token = "mst_dev_not-for-git";
  const { machine, seen } = await withWatchedGit(lab, token);
  try {
    await machine.up();
    await machine.memsync("set", "key", "value");
    await machine.untilSynced();
    const env = await readFile(seen, "utf8");
    expect(env).toContain("GIT_OPTIONAL_LOCKS=0");
    expect(env).not.toContain(token);
    expect(env).not.toContain("MEMSYNC_");
    expect(machine.logs()).not.toContain(token);
  } finally {
    await machine.end();
  }
});

scenario(
  "a bad address or token in the environment is refused without being repeated",
  async (lab) => {
    const { url } = emulator.account("any");
    const machine = lab.machine("a", await lab.git.repository("p", { "README.md": "" }));
    const cases = [
      [{ url, token: "mst_secret of two words" }, "MEMSYNC_TOKEN: what was given is no token"],
      [{ url: "https://me:mst_secret@example.com", token: "x" }, "MEMSYNC_URL holds a user name"],
      [{ url: "mst_secret", token: "x" }, "MEMSYNC_URL is not an http or https address"],
      [{ url, token: "" }, "MEMSYNC_URL is set without MEMSYNC_TOKEN"],
    ] as const;
    for (const [service, message] of cases) {
      machine.service = service;
      const { status, stdout, stderr } = await machine.run(["up"]);
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(message);
      expect(stderr).not.toContain("secret");
    }
  },
);
