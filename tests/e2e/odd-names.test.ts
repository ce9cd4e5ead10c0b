import { expect } from "bun:test";
import { join } from "node:path";
import { scenario, sharedEmulator } from "../support/lab.ts";
import { TERMINALS } from "../support/needs.ts";
import { TerminalSession } from "../support/terminal-session.ts";

const emulator = sharedEmulator();

/** A terminal would change its colour, begin a line that says something else, and turn the rest. */
const NAME = "shop\u001b[31m\nproject   all is well\u009b2J\u202etxt";
const WRITTEN_OUT = "shop\\x1b[31m\\nproject   all is well\\x9b2J\\u202etxt";

/** What a terminal obeys beside the breaks between lines. */
const OBEYED = /[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** What prints rows for programs, too. */
const ROWS = new Set(["list", "search", "history", "held", "projects", "doc", "conflicts"]);

scenario("a name shows nothing but itself", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository(NAME, { "CLAUDE.md": "# Guide\n" }));
  machine.service = emulator.account("names");
  await machine.up();
  const commands: readonly (readonly string[])[] = [
    ["set", NAME, NAME],
    ["set", "deploy", `password: kX9mQ2vT ${NAME}`],
    ["list"],
    ["search", "shop"],
    ["history", NAME],
    ["history", "nothing\u001b[31m"],
    ["get", "nothing\u001b[31m"],
    ["held"],
    ["status"],
    ["status", "--json"],
    ["projects"],
    ["projects", "--json"],
    ["link"],
    ["link", "--write"],
    ["link", join(machine.folder, "nowhere")],
    ["preview"],
    ["doc", "history"],
    ["doc", "diff"],
    ["sync"],
    ["stats"],
    ["logs"],
    ["doctor"],
    ["conflicts"],
    ["unlink"],
    ["unlink"],
    ["status"],
    ["projects"],
    ["status", "--project", machine.folder],
    ["connect", machine.folder, "proj_\u001b[31m"],
  ];
  // What asks for a value gets it byte for byte.
  await machine.memsync("set", NAME, NAME);
  expect(await machine.memsync("get", NAME)).toBe(NAME);
  expect(await machine.memsync("list")).toStartWith(NAME.replace("\n", "\\n"));
  let whole = "";
  for (const command of commands) {
    const { stdout, stderr } = await machine.run(command);
    // A program gets what was written, line by line; nobody obeys a name in a sentence.
    expect([command, OBEYED.exec(stderr)?.[0]]).toEqual([command, undefined]);
    if (!ROWS.has(command[0] ?? "")) {
      expect([command, OBEYED.exec(stdout)?.[0]]).toEqual([command, undefined]);
    }
    expect([command, /^project {3}all is well/m.exec(stdout + stderr)]).toEqual([command, null]);
    whole += stdout + stderr;
  }
  expect(whole).toContain(WRITTEN_OUT);
});

scenario(
  "a name in a row shows nothing but itself at a terminal",
  async (lab) => {
    const machine = lab.machine("a", await lab.git.repository(NAME, { "CLAUDE.md": "# Guide\n" }));
    await machine.memsync("start");
    await machine.memsync("link");
    await machine.memsync("set", NAME, NAME);
    await machine.memsync("set", "deploy", `password: kX9mQ2vT ${NAME}`);
    for (const command of [
      ["list"],
      ["search", "shop"],
      ["history", NAME],
      ["held"],
      ["projects"],
    ]) {
      await using terminal = new TerminalSession(lab, machine, command, { env: { NO_COLOR: "1" } });
      expect([command, await terminal.ended()]).toEqual([command, 0]);
      expect([command, OBEYED.exec(terminal.written.replaceAll("\r\n", "\n"))?.[0]]).toEqual([
        command,
        undefined,
      ]);
      expect(terminal.written).toContain("shop\\x1b[31m");
    }
  },
  { needs: TERMINALS },
);
