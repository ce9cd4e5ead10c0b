import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../../../shared/errors.ts";
import type { Session } from "../../../shared/wire/session.ts";
import type { Lab } from "../../support/lab.ts";
import { waitFor } from "../../support/wait-for.ts";
import { print, runCase } from "../cases.ts";
import { check } from "./check.ts";
import {
  type AssistantName,
  HOOKED,
  type HookedName,
  installAssistant,
  NAMES,
  NotTried,
  User,
} from "./installed.ts";
import { recordPayloads } from "./recorded.ts";
import { memsync, type Seat, session, withSeats } from "./seat.ts";
import type { Step } from "./stand-in.ts";
import { week } from "./week.ts";

export const USAGE =
  "assistants [registration | online | offline | each | week] [--record] [--short]";

const PLUGIN = join(import.meta.dir, "..", "..", "..", "plugin");
/** CI waits this long for the short form. */
const SHORT_MS_MAX = 90_000;
/** On a machine with more to do. */
const PATIENCE_MS = 180_000;

/**
 * The command `assistants`: the real Claude Code, Codex, Gemini CLI and OpenCode take what
 * `memsync setup` writes, and sessions on two machines know what the other's learned, with a model
 * that is played from a script. Resolves to the exit status.
 */
export async function assistants(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    options: {
      record: { type: "boolean", default: false },
      short: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  if (values.short) return await short();
  const cases = { registration, online, offline, each: eachOf(values.record), week };
  const names = Object.keys(cases) as (keyof typeof cases)[];
  const unknown = positionals.filter((each) => !names.some((name) => name === each));
  if (unknown.length > 0) throw new Error(`no such case: ${unknown.join(" ")}`);
  for (const name of NAMES) await installAssistant(name);
  let failed = 0;
  for (const name of names) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    try {
      await runCase({ name, run: cases[name] }, 0);
    } catch (thrown) {
      failed++;
      print(`✗ ${name}: ${String(thrown)}`);
    }
  }
  return failed === 0 ? 0 : 1;
}

/**
 * The promise alone, with Claude Code: what a session learns, the next one elsewhere knows. Where
 * npm or time does not allow it, it is skipped aloud.
 */
async function short(): Promise<number> {
  const until = performance.now() + SHORT_MS_MAX;
  try {
    await installAssistant("claude", until);
  } catch (thrown) {
    print(`skipped: a session of the real Claude Code: ${messageOf(thrown)}`);
    return 0;
  }
  const run = (lab: Lab) => withSeats(lab, handOver, { names: ["claude"], until });
  try {
    await runCase({ name: "short", run }, 0);
    return 0;
  } catch (thrown) {
    const cause = thrown instanceof Error ? thrown.cause : undefined;
    const isSkipped = cause instanceof NotTried;
    print(
      `${isSkipped ? "skipped" : "✗"}: a session of the real Claude Code: ${messageOf(thrown)}`,
    );
    return isSkipped ? 0 : 1;
  }
}

async function registration(lab: Lab): Promise<void> {
  const user = new User(lab.git.path("ann"));
  const at = { cwd: user.folder, env: { GEMINI_CLI_TRUST_WORKSPACE: "true" } };
  const run = (line: string) => user.run(line.split(" "), at);
  // They make their settings on their first start.
  for (const each of NAMES) if (each !== "codex") await run(`${each} mcp list`);
  const before = user.settings();
  await run(`memsync setup --yes ${NAMES.join(" ")}`);
  await run(`memsync setup --remove --yes ${NAMES.join(" ")}`);
  const after = user.settings();
  const paths = Object.keys({ ...before, ...after });
  const other = paths.filter((path) => before[path] !== after[path]);
  check("settings have their bytes again", other.length === 0, other);
  await run(`memsync setup --yes ${NAMES.join(" ")}`);
  const claude = await run("claude mcp list");
  check("Claude Code is connected", /memsync: .*Connected/.test(claude), claude);
  const codex = await run("codex mcp list");
  check("Codex has the server", /memsync +memsync +mcp/.test(codex), codex);
  const gemini = await run("gemini mcp list");
  check("Gemini CLI is connected", /memsync: .*- Connected/.test(gemini), gemini);
  if (NAMES.includes("opencode")) {
    const openCode = await run("opencode mcp list");
    check("OpenCode is connected", /memsync.*connected/.test(openCode), openCode);
  }
  // Other checks of it may fail: no daemon runs.
  const doctor = await user.run(["sh", "-c", "memsync doctor || true"], at);
  check("doctor finds them set up", /set up in Claude Code, Codex/.test(doctor), doctor);
  // They have written into their settings meanwhile.
  await run(`memsync setup --remove --yes ${NAMES.join(" ")}`);
  const left = JSON.stringify(user.settings());
  check("nothing of it is left", !left.includes("memsync"), left);
  const validated = await user.run(["claude", "plugin", "validate", PLUGIN], at);
  check("Claude Code takes the plugin", validated.includes("Validation passed"), validated);
}

const remember = (key: string, value: string): Step => ({
  name: "remember",
  input: { key, value },
});
const recall = (query: string): Step => ({ name: "recall", input: { query } });
const DONE: Step = { text: "Done." };

/** What a session remembers, the next one on the other machine starts with. */
async function handOver(ann: Seat, bob: Seat): Promise<void> {
  await session(ann, "claude", [remember("build", "npm run build, never make"), DONE]);
  await memsync(ann, "sync");
  await memsync(bob, "sync");
  const [started = "", recalled = ""] = await session(bob, "claude", [recall("build"), DONE]);
  check("the next session elsewhere starts with it", started.includes("never make"), started);
  check("it finds it again by a tool", recalled.split("never make").length > 2, recalled);
}

async function online(lab: Lab): Promise<void> {
  await withSeats(lab, async (ann, bob) => {
    const here = join(ann.folder, "CLAUDE.md");
    const there = join(bob.folder, "CLAUDE.md");
    await handOver(ann, bob);
    await session(ann, "claude", [
      { name: "Write", input: { file_path: here, content: "# Widget\n\n- no tabs\n" } },
      DONE,
    ]);
    check("a session's file is on its machine", existsSync(here));
    await memsync(ann, "sync");
    await memsync(bob, "sync");
    await memsync(bob, "doc", "write");
    await waitFor("the instructions", () => existsSync(there), PATIENCE_MS);
    const edit = { file_path: there, old_string: "- no tabs", new_string: "- two spaces" };
    const [started = ""] = await session(bob, "claude", [
      { name: "Read", input: { file_path: there } },
      { name: "Edit", input: edit },
      DONE,
    ]);
    check("a session elsewhere has the instructions", started.includes("no tabs"), started);
    await memsync(bob, "sync");
    await waitFor("the other's edit", () => hasLine(here, "two spaces"), PATIENCE_MS);
    check("what a session edits is in the first one's file", hasLine(here, "two spaces"));
    const areListed = async () => (await listSessions(ann)).length === 4;
    check("all sessions are listed", await waitFor("their records", areListed, PATIENCE_MS));
  });
}

async function offline(lab: Lab): Promise<void> {
  await withSeats(lab, async (ann, bob, emulator) => {
    for (const seat of [ann, bob]) {
      writeFileSync(join(seat.folder, "CLAUDE.md"), "# Widget\n\n- first\n");
      await memsync(seat, "sync");
    }
    await emulator.end();
    await Promise.all([note(ann, "walrus", "ann"), note(bob, "heron", "bob")]);
    check("what a session saved offline is there", /walrus/.test(await kept(ann, "ann")));
    await emulator.again();
    for (const seat of [ann, bob, ann]) await memsync(seat, "sync");
    for (const seat of [ann, bob]) {
      const path = join(seat.folder, "CLAUDE.md");
      const isWhole = () => hasLine(path, "walrus") && hasLine(path, "heron");
      await waitFor("both lines", isWhole, PATIENCE_MS);
      check(`offline sessions at once lost nothing (${seat.folder.at(-1)})`, isWhole());
      const values = [await kept(seat, "ann"), await kept(seat, "bob")].join(" ");
      check("each has the other's memory", /walrus.*heron/s.test(values), values);
      const versions = `${await memsync(seat, "conflicts")}${await kept(seat, "both")}`;
      const areKept = /walrus/.test(versions) && /heron/.test(versions);
      check("both values of one key are kept", areKept, versions);
    }
    const seen = await session(bob, "claude", [DONE]);
    check(
      "the next session knows both",
      /walrus of ann/.test(`${seen}`) && /heron/.test(`${seen}`),
    );
  });
}

/**
 * What one assistant remembers, every other one knows on the other machine. What they tell their
 * hooks is kept if that is wished.
 */
const eachOf = (isRecorded: boolean) => (lab: Lab) =>
  withSeats(lab, async (ann, bob) => {
    for (const name of NAMES) {
      await session(ann, name, [remember(`of-${name}`, `walrus of ${name}`), DONE]);
      check(`${name} remembers`, /walrus/.test(await kept(ann, `of-${name}`)));
      if (isRecorded && isHooked(name)) recordPayloads(ann, name);
    }
    await memsync(ann, "sync");
    await memsync(bob, "sync");
    for (const name of NAMES) {
      const [started = "", ...later] = await session(bob, name, [recall("walrus"), DONE]);
      const areThere = NAMES.every((other) => started.includes(`walrus of ${other}`));
      if (isHooked(name)) check(`${name} starts with what all remember`, areThere, started);
      const found = later.join("").split("walrus of gemini").length > (areThere ? 2 : 1);
      check(`${name} finds it again by a tool`, found, later);
    }
    const areListed = async () => (await listSessions(ann)).length === 2 * NAMES.length;
    check("all sessions are listed", await waitFor("their records", areListed, PATIENCE_MS));
    const open = (await listSessions(ann)).filter((each) => each.ended_at === null);
    const isAsTold = open.every(({ source }) => source === "opencode");
    check("those whose end a hook told have ended", isAsTold, JSON.stringify(open));
  });

async function listSessions(seat: Seat): Promise<readonly Session[]> {
  return JSON.parse(await memsync(seat, "sessions", "--json")).sessions;
}

function isHooked(name: AssistantName): name is HookedName {
  return HOOKED.some((each) => each === name);
}

/** A session that adds a line to the instructions, and remembers it under two keys. */
async function note(seat: Seat, line: string, key: string): Promise<void> {
  const file_path = join(seat.folder, "CLAUDE.md");
  const new_string = `- first\n- ${line}\n`;
  await session(seat, "claude", [
    { name: "Read", input: { file_path } },
    { name: "Edit", input: { file_path, old_string: "- first\n", new_string } },
    remember(key, `${line} of ${key}`),
    remember("both", line),
    DONE,
  ]);
}

const kept = (seat: Seat, key: string) => memsync(seat, "get", key, "--project", ".");

function hasLine(path: string, word: string): boolean {
  return readFileSync(path, "utf8").includes(word);
}
