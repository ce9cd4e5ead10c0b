import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ListedRemote } from "../../daemon/remotes/remote-change.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { TERMINALS } from "../support/needs.ts";
import { TerminalSession } from "../support/terminal-session.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();

const CTRL_C = "\u0003";
const QUESTION = /May memsync write others' changes into CLAUDE\.md here\? \[y\/N\] /;

async function makeMachine(lab: Lab): Promise<Machine> {
  return lab.machine("a", await lab.git.repository("a", { "CLAUDE.md": "# Widget\n" }));
}

scenario(
  "Ctrl-C at the question for consent ends the daemon as it does elsewhere",
  async (lab) => {
    const machine = await makeMachine(lab);
    await using terminal = new TerminalSession(lab, machine, ["up"]);
    await terminal.untilShown(QUESTION);
    terminal.type(CTRL_C);
    expect(await terminal.ended()).toBe(0);
    const log = readFileSync(join(machine.home, "daemon.log"), "utf8");
    expect(log).toContain('"by":"SIGINT","msg":"the daemon ends"');
    expect(log).not.toContain("could not start");
  },
  { needs: TERMINALS },
);

scenario(
  "a yes to the question for consent is one, and no line is wider than the terminal",
  async (lab) => {
    const machine = await makeMachine(lab);
    await using terminal = new TerminalSession(lab, machine, ["up"]);
    await terminal.untilShown(QUESTION);
    expect(terminal.screen.wraps).toBe(0);
    expect((await machine.fileStatus())?.state).toBe("upwards");
    terminal.type("y\n");
    await waitFor("the consent to be taken", async () => {
      return (await machine.fileStatus())?.state === "followed";
    });
  },
  { needs: TERMINALS },
);

scenario(
  "Ctrl-C at a question of login ends it, and nothing is kept",
  async (lab) => {
    const machine = await makeMachine(lab);
    await using terminal = new TerminalSession(lab, machine, ["login"]);
    await terminal.untilShown(/The service's address: /);
    terminal.type(CTRL_C);
    expect(await terminal.ended()).toBe(1);
    expect(terminal.lines.join("\n")).toContain("memsync: interrupted");
  },
  { needs: TERMINALS },
);

scenario(
  "what `login` says and asks is broken between words at 80 columns",
  async (lab) => {
    const machine = await makeMachine(lab);
    await machine.memsync("start", machine.folder);
    await machine.memsync("set", "mine", "value", "--layer", "user");
    const { url, token } = emulator.account("narrow");
    await using terminal = new TerminalSession(lab, machine, ["login", "--url", url]);
    await terminal.untilShown(/The token/);
    terminal.type(`${token}\n`);
    for (const question of [
      /Move the project [^?]*\? \[y\/N\]/,
      /Move 1 [^?]*memory[^?]*\? \[y\/N\]/,
    ]) {
      await terminal.untilShown(question);
      terminal.type("y\n");
    }
    expect(await terminal.ended()).toBe(0);
    expect(terminal.screen.wraps).toBe(0);
    expect(terminal.lines.join(" ").replace(/ +/g, " ")).toContain(
      "which only you may read; MEMSYNC_KEYRING is off",
    );
  },
  { needs: TERMINALS },
);

scenario(
  "`login` asks once about many projects, and about each where somebody wants that",
  async (lab) => {
    const machine = await makeMachine(lab);
    await machine.memsync("start", machine.folder);
    await machine.memsync("link", await lab.git.repository("other", { "README.md": "" }));
    const { url, token } = emulator.account("many");
    const remotes = async () =>
      JSON.parse(await machine.memsync("remote", "list", "--json")) as ListedRemote[];
    const login = async (answers: readonly (readonly [RegExp, string])[]) => {
      await using terminal = new TerminalSession(lab, machine, ["login", "--url", url]);
      for (const [question, answer] of answers) {
        await terminal.untilShown(question);
        terminal.type(`${answer}\n`);
      }
      expect(await terminal.ended()).toBe(0);
      return (await remotes()).find((each) => each.url === url)?.projects.length;
    };
    const all = /Move all 2 projects to [^?]*\?\s+\[y\/N\/each\]/;
    const [a, other] = [/project a [^?]*\?\s+\[y\/N\]/, /project other [^?]*\?\s+\[y\/N\]/];
    const first = [/The token/, token] as const;
    expect(await login([first, [all, ""]])).toBe(0);
    expect(await login([first, [all, "each"], [a, "n"], [other, "y"]])).toBe(1);
    expect(await login([first, [a, "y"]])).toBe(2);
  },
  { needs: TERMINALS },
);

scenario(
  "tables fit 80 columns, and show what they are about",
  async (lab) => {
    const machine = await makeMachine(lab);
    await machine.memsync("start", machine.folder);
    const key = "a-key-that-is-rather-long-for-a-table";
    const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    const shows = async (what: RegExp, ...args: string[]) => {
      await using terminal = new TerminalSession(lab, machine, args);
      expect([args, await terminal.ended()]).toEqual([args, 0]);
      expect([args, terminal.screen.wraps]).toEqual([args, 0]);
      await terminal.untilShown(what);
    };
    await shows(/^held: looks like a GitHub token;[\s\S]* if it is none/m, "set", key, secret);
    await shows(
      /ID +WHERE +WHAT +WHY[\s\S]*a-key-that-is-rather-lo… {2}looks like a GitHub token/,
      "held",
    );
    await shows(/^a .*~\/\S*a$/m, "projects");
    await machine.memsync("set", key, "\n\n  the first words of it\n");
    await shows(/VALUE[\s\S]*the first words of it/, "history", key);
    await shows(/the first words of it/, "list");
    await machine.memsync("remote", "add", "acme", "https://memory.acme-corporation.example.com");
    await shows(/TOKEN +ADDRESS[\s\S]*none +https\S+example\.com/, "remote", "list");
    const address = `https://${"memory-of-".repeat(6)}acme.example.com`;
    await machine.memsync("remote", "add", "farther", address);
    await shows(/TOKEN +ADDRESS[\s\S]*farther +none +https\S+…/, "remote", "list");
    const long = await lab.git.repository("a-project-with-a-long-name", { "README.md": "" });
    await machine.memsync("link", long);
    await machine.memsync("set", key, secret, "--project", long);
    await shows(/ID +WHERE +WHAT +WHY[\s\S]* a-project-with-a-long-n… {2}a-key-that/, "held");
    await machine.memsync("set", "key", "value", "--project", long);
    await machine.memsync("unlink", long);
    await shows(/:\d\dZ {2}a-project\S+ {2}linked nowhere here\r?$/m, "projects", "--by-change");
  },
  { needs: TERMINALS },
);

/** A git that answers nobody until a file is there. */
async function waitingGit({ git }: Lab): Promise<{ readonly path: string; answers(): void }> {
  const sign = git.path("answers");
  const folder = git.path("waiting");
  const real = Bun.which("git", { PATH: git.env.PATH ?? "" });
  await mkdir(folder);
  const program = `while [ ! -e '${sign}' ]; do sleep 0.05; done\nexec '${real}' "$@"`;
  await writeFile(join(folder, "git"), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  return {
    path: `${folder}:${git.env.PATH}`,
    answers: () => writeFileSync(sign, ""),
  };
}

scenario(
  "a `start` or `link` that takes over a second shows how far it is, and takes that away",
  async (lab) => {
    const machine = await makeMachine(lab);
    const git = await waitingGit(lab);
    const names = ["p1", "p2", "p3", "p4", "p5", "p6"];
    const folders = await Promise.all(names.map((name) => lab.git.repository(name, {})));
    const env = { PATH: git.path };
    await using start = new TerminalSession(lab, machine, ["start", ...folders], { env });
    await start.untilShown(/linking ─+ 0 of 6 folders/);
    await using link = new TerminalSession(lab, machine, ["link", machine.folder], { env });
    await link.untilShown(/linking \d+ s/);
    git.answers();
    expect(await start.ended()).toBe(0);
    expect(await link.ended()).toBe(0);
    expect(start.screen.text).not.toContain("linking");
    expect(link.screen.text).not.toContain("linking");
    await machine.memsync("stop");
  },
  { needs: TERMINALS },
);

scenario(
  "what is printed of help, export and import is broken between words at 80 columns",
  async (lab) => {
    const machine = await makeMachine(lab);
    const file = join(machine.folder, `${"a-name-".repeat(4)}.json`);
    const ran = async (...args: string[]) => {
      await using terminal = new TerminalSession(lab, machine, args);
      const status = await terminal.ended();
      expect([args, terminal.screen.wraps]).toEqual([args, 0]);
      return { status, text: terminal.lines.join("\n") };
    };
    for (const group of ["remote", "server account", "project"]) {
      const { status, text } = await ran(...group.split(" "));
      expect([status, text]).toEqual([2, expect.stringContaining("Examples:")]);
    }
    const exported = await ran("export", file, "--force");
    expect(exported.status).toBe(0);
    const imported = await ran("import", file);
    expect(imported.text).toMatch(/imported nothing:[\s\S]*unchanged/);
  },
  { needs: TERMINALS },
);

scenario(
  "on a terminal of 30 columns no line is broken within a word",
  async (lab) => {
    const machine = await makeMachine(lab);
    await machine.memsync("start", machine.folder);
    await machine.memsync("set", "deploy", "password: hunter-2-Xq9");
    await machine.memsync("set", "build", "npm run build, never make");
    for (const args of [
      ["held"],
      ["held", "--help"],
      ["list"],
      ["history", "build"],
      ["doc", "history"],
      ["projects"],
      ["preview"],
      ["sessions"],
      ["rules"],
      ["start"],
      ["search", "nothing", "has", "these", "words"],
      ["doc", "clear", "--yes"],
    ]) {
      await using terminal = new TerminalSession(lab, machine, args, { columns: 30, rows: 8 });
      expect(await terminal.ended()).toBe(0);
      expect([args, terminal.screen.wraps]).toEqual([args, 0]);
    }
  },
  { needs: TERMINALS },
);

scenario(
  "a search shows what was found, however far into a line and however narrow the terminal",
  async (lab) => {
    const machine = await makeMachine(lab);
    await machine.memsync("start", machine.folder);
    const [before, after] = ["before ".repeat(40), " after".repeat(40)];
    await machine.memsync("set", "latin", `first\n${before}walrus 海象${after}\nlast`);
    await machine.memsync("set", "chinese", `${"前面的文字".repeat(30)}海象${"文字".repeat(30)}`);
    for (const columns of [30, 40, 80]) {
      for (const query of ["walrus", "海象"]) {
        const args = ["search", query];
        await using terminal = new TerminalSession(lab, machine, args, { columns, rows: 24 });
        expect(await terminal.ended()).toBe(0);
        const shown = terminal.lines.filter((line) => line.includes(query));
        expect([columns, query, shown.length]).toEqual([columns, query, query === "海象" ? 2 : 1]);
        expect(terminal.screen.wraps).toBe(0);
      }
    }
  },
  { needs: TERMINALS },
);

scenario(
  "at 40 columns no id runs over the margin",
  async (lab) => {
    const machine = await makeMachine(lab);
    await machine.memsync("start", machine.folder);
    await machine.memsync("set", "build", "npm run build, never make");
    for (const args of [["status"], ["conflicts"], ["projects"], ["up"]]) {
      await using terminal = new TerminalSession(lab, machine, args, { columns: 40, rows: 24 });
      expect(await terminal.ended()).toBe(0);
      expect([args, terminal.screen.wraps]).toEqual([args, 0]);
    }
  },
  { needs: TERMINALS },
);
