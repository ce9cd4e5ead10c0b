import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { TERMINALS } from "../support/needs.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { TerminalSession } from "../support/terminal-session.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const CTRL_C = "\u0003";
const CTRL_Z = "\u001a";
const ENTERS_OTHER_SCREEN = "\u001b[?1049h";

const onTerminals = (name: string, body: (lab: Lab) => Promise<void>) =>
  scenario(name, body, { needs: TERMINALS });

const save = (lab: Lab, { folder }: Machine, text: string) =>
  lab.git.write(join(folder, "CLAUDE.md"), text);

async function machinesOf(lab: Lab, account: string): Promise<readonly [Machine, Machine]> {
  const files = { "README.md": "", ".gitignore": "CLAUDE.md" };
  return await lab.twoMachines(emulator.account(account), files);
}

onTerminals(
  "`up` shows on a screen of its own what comes, goes, is held and waits",
  async (lab) => {
    const [a, b] = await machinesOf(lab, "screen");
    const network = await lab.network(emulator.account("screen"));
    a.service = network;
    await save(lab, a, "# Widget\n\n- npm test\n");
    await lab.git.write(join(a.folder, "AGENTS.md"), "# Other\n");
    await using up = new TerminalSession(lab, a, ["up"]);
    await up.untilOnScreen(/^memsync is up +Ctrl-C stops it\nhere {6}origin /);
    await up.untilOnScreen(/CLAUDE\.md {3}followed\n +AGENTS\.md is there, too/);
    await up.untilOnScreen(/3 lines \(21 bytes\) of \d\d:\d\d, 0 memories saved, all synced/);
    await up.untilOnScreen(/service {3}http\S+ {3}connected\n/);
    await up.untilOnScreen(/followed: the first of CLAUDE\.md, \.claude\/CLAUDE\.md, AGENTS\.md/);
    await up.untilOnScreen(/sent {7}origin {2}document {2}\d+ bytes/);
    await b.up();
    await b.memsync("set", "build", "npm run build");
    await up.untilOnScreen(/received {3}origin {2}memory build {2}\d+ bytes/);
    await up.untilOnScreen(/1 memory saved, all synced/);
    await a.memsync("set", "deploy", PLANTED.github);
    await up.untilOnScreen(/held {6}deploy/);
    network.cut();
    await a.memsync("set", "lint", "npm run lint");
    await up.untilOnScreen(/offline: the connection/);
    await up.untilOnScreen(/2 memories saved, 1 change waiting/);
    network.restore();
    await up.untilOnScreen(/2 memories saved, all synced/);
    up.type("typed in vain\n");
    up.type(CTRL_C);
    expect(await up.ended()).toBe(0);
    expect(up.isAsBefore).toBe(true);
    expect(up.screen.text).toStartWith("memsync has ended: everything is synced\n");
  },
);

onTerminals("a line of `up` that is as wide as the screen is whole", async (lab) => {
  const name = "n".repeat(57);
  const folder = await lab.git.repository(name, { "README.md": "" });
  const machine = lab.machine("a", folder, emulator.account("wide"));
  await machine.memsync("start");
  await machine.memsync("link", "--id", "proj_right");
  await machine.memsync("stop");
  await using up = new TerminalSession(lab, machine, ["up"]);
  await up.untilOnScreen(/^memsync is up +Ctrl-C stops it\nhere {6}n{57} {3}proj_right\n/);
});

onTerminals("a conflict stays on the screen of `up` until it is settled", async (lab) => {
  const [a, b] = await machinesOf(lab, "conflict");
  for (const each of [a, b]) {
    await each.up();
    await each.sync();
    await each.down();
    await each.memsync("set", "deploy", `as on ${each.name}`);
  }
  await b.up();
  await b.sync();
  await using up = new TerminalSession(lab, a, ["up"]);
  await up.untilOnScreen(/1 conflict, deploy in origin: `memsync conflicts` shows it/);
  await up.untilOnScreen(/conflict {3}origin {2}deploy/);
  const [conflict] = JSON.parse(await a.memsync("conflicts", "--json")) as { id: string }[];
  for (const args of [["conflicts", "show", conflict?.id ?? ""], ["logs"]]) {
    await using shown = new TerminalSession(lab, a, args);
    expect([args, await shown.ended(), shown.screen.wraps]).toEqual([args, 0, 0]);
  }
  await a.memsync("conflicts", "dismiss", conflict?.id ?? "");
  await up.untilOnScreen(/^(?![\s\S]*1 conflict)memsync is up/);
});

onTerminals("the screen of `up` follows the window's size, and leaves it in order", async (lab) => {
  const [a] = await machinesOf(lab, "size");
  await save(lab, a, "# Widget\n");
  await using up = new TerminalSession(lab, a, ["up"]);
  await up.untilOnScreen(/sent {7}origin {2}document/);
  up.resize(40, 12);
  await up.untilOnScreen(/^memsync is up {4}more: `memsync status`\nhere/);
  expect(up.screen.lines.every((line) => line.length <= 40)).toBe(true);
  up.resize(100, 30);
  await up.untilOnScreen(/^memsync is up {71}Ctrl-C stops it\n/);
  up.type(CTRL_Z);
  await up.untilAsBefore();
  up.kill("SIGCONT");
  await up.untilOnScreen(/^memsync is up {71}Ctrl-C stops it\nhere/);
  up.kill("SIGTERM");
  expect(await up.ended()).toBe(0);
  expect(up.isAsBefore).toBe(true);
});

onTerminals(
  "with NO_COLOR, CI or no terminal `up` prints lines, one for each sync",
  async (lab) => {
    const [a, b] = await machinesOf(lab, "lines");
    const LINE = /\d{4}-\d\d-\d\dT[\d:.]+Z {2}sent {7}origin {2}memory build {2}\d+ bytes/;
    for (const [machine, env] of [
      [a, { NO_COLOR: "1" }],
      [b, { CI: "true" }],
    ] as const) {
      await using up = new TerminalSession(lab, machine, ["up"], { env });
      await up.untilShown(/memsync is up; leave this running/);
      await machine.memsync("set", "build", `as on ${machine.name}`);
      await up.untilShown(LINE);
      expect(up.written).not.toContain(ENTERS_OTHER_SCREEN);
      up.kill("SIGTERM");
      expect(await up.ended()).toBe(0);
    }
    const piped = a.spawn(["up"]);
    await piped.untilPrinted(/memsync is up/);
    await a.memsync("set", "build", "piped");
    await piped.untilPrinted(LINE);
  },
);

onTerminals(
  "a second machine is offered the file that is missing, and gets it by a yes",
  async (lab) => {
    const files = { "README.md": "" };
    const [a, b] = await lab.twoMachines(emulator.account("offer"), files);
    await save(lab, a, "# Widget\n\n- npm test\n");
    await a.up();
    await a.sync();
    const file = join(b.folder, "CLAUDE.md");
    const question =
      /CLAUDE\.md is missing here, and origin has one \(3 lines, 21 bytes\)\. Write it\?/;
    await using first = new TerminalSession(lab, b, ["up"]);
    await first.untilShown(question);
    first.type("n\n");
    await first.untilOnScreen(
      /is missing here, the project has 3 lines:\s+`memsync doc\s+write` writes/,
    );
    expect(existsSync(file)).toBe(false);
    first.type(CTRL_C);
    await first.ended();
    await b.memsync("start");
    await waitFor("the folder to be looked at", async () => {
      const said = "is missing here, the project has 3 lines: `memsync doc write` writes it";
      return (await b.memsync("status")).includes(said);
    });
    await b.memsync("unlink");
    await b.memsync("stop");
    await using second = new TerminalSession(lab, b, ["up"]);
    await second.untilShown(question);
    second.type("y\n");
    await second.untilOnScreen(/CLAUDE\.md {3}followed/);
    expect(readFileSync(file, "utf8")).toBe("# Widget\n\n- npm test\n");
  },
);

onTerminals("`up` beside a daemon shows a file that it just wrote as followed", async (lab) => {
  const [a, b] = await lab.twoMachines(emulator.account("beside"), { "README.md": "" });
  await save(lab, a, "# Widget\n");
  await a.up();
  await a.sync();
  await b.memsync("start", ".");
  await using up = new TerminalSession(lab, b, ["up"]);
  await up.untilShown(/CLAUDE\.md is missing here, and origin has one \(1 line, 9 bytes\)/);
  up.type("y\n");
  expect(await up.ended()).toBe(0);
  const shown = up.lines.join("\n");
  expect(shown).toMatch(/CLAUDE\.md {3}followed/);
  expect(shown).not.toContain("is missing here, the project has");
});

onTerminals("`up` asks for the token that is missing, and goes on without one", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const { url, token } = emulator.account("asked");
  const machine = lab.machine("a", folder);
  await machine.memsync("remote", "add", "work", "--url", url);
  const env = { MEMSYNC_URL: url };
  await using up = new TerminalSession(lab, machine, ["up"], { env });
  await up.untilShown(/There is no token of work \(http\S+\) here\.\s+Log in now\? \[y\/N\]/);
  up.type("y\n");
  await up.untilShown(/The token \(it is not shown\): /);
  up.type(`${token}\n`);
  await up.untilOnScreen(/service {3}http\S+ {3}connected\n/);
  expect(up.written).not.toContain(token);
  up.type(CTRL_C);
  expect(await up.ended()).toBe(0);
});
