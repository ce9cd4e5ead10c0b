import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Lab, scenario } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { TerminalSession } from "../support/terminal-session.ts";
import { waitFor } from "../support/wait-for.ts";

const HAS_TERMINALS = process.platform !== "win32";
const CTRL_C = "\u0003";
const QUESTION = /May memsync write others' changes into CLAUDE\.md here\? \[y\/N\] /;

async function makeMachine(lab: Lab): Promise<Machine> {
  return lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
}

scenario(
  "Ctrl-C at the question for consent ends the daemon as it does elsewhere",
  async (lab) => {
    const machine = await makeMachine(lab);
    await using terminal = new TerminalSession(lab, machine, "up");
    await terminal.untilShown(QUESTION);
    terminal.type(CTRL_C);
    expect(await terminal.ended()).toBe(0);
    const log = readFileSync(join(machine.home, "daemon.log"), "utf8");
    expect(log).toContain('"by":"SIGINT","msg":"the daemon ends"');
    expect(log).not.toContain("could not start");
  },
  undefined,
  HAS_TERMINALS,
);

scenario(
  "a yes to the question for consent is one, and no line is wider than the terminal",
  async (lab) => {
    const machine = await makeMachine(lab);
    await using terminal = new TerminalSession(lab, machine, "up");
    await terminal.untilShown(QUESTION);
    expect(terminal.lines.every((line) => line.length <= 80)).toBe(true);
    expect((await machine.status()).projects[0]?.folders[0]?.note).toContain("is missing");
    terminal.type("y\n");
    await waitFor("the consent to be taken", async () => {
      return !(await machine.fileStatus())?.note?.includes("--write");
    });
  },
  undefined,
  HAS_TERMINALS,
);

scenario(
  "Ctrl-C at a question of login ends it, and nothing is kept",
  async (lab) => {
    const machine = await makeMachine(lab);
    await using terminal = new TerminalSession(lab, machine, "login");
    await terminal.untilShown(/The service's address: /);
    terminal.type(CTRL_C);
    expect(await terminal.ended()).toBe(1);
    expect(terminal.lines.join("\n")).toContain("memsync: interrupted");
  },
  undefined,
  HAS_TERMINALS,
);
