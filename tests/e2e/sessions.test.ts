import { expect } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../../cli/doctor/finding.ts";
import type { Session } from "../../shared/wire/session.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { TERMINALS } from "../support/needs.ts";
import { ON_PLAIN_SERVICE } from "../support/plain-service.ts";
import { PLANTED } from "../support/planted-secrets.ts";
import { openWayWithoutSessions, REFUSAL } from "../support/refusing-service.ts";
import { TerminalSession } from "../support/terminal-session.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const SAMPLE = readFileSync(
  join(import.meta.dir, "..", "data", "sessions", "claude-code", "tool-heavy.jsonl"),
  "utf8",
);
const TITLE = `${JSON.stringify({ type: "custom-title", customTitle: "Start the server" })}\n`;

/** A transcript of Claude Code on the machines of this lab, of a session in `cwd`. */
function transcript(lab: Lab, cwd: string): string {
  const folder = join(lab.git.folder, ".claude", "projects", "anything");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "d6e0bada-1959-4eec-a9d2-0bfade768d8f.jsonl");
  writeFileSync(path, SAMPLE.replaceAll("/projects/spotter", cwd));
  return path;
}

async function sessionsOf(machine: Machine): Promise<{ source: string; sessions: Session[] }> {
  return JSON.parse(await machine.memsync("sessions", "--json"));
}

async function untilThere(machine: Machine, source: string): Promise<Session | undefined> {
  let found: Session | undefined;
  await waitFor("a session", async () => {
    const answer = await sessionsOf(machine);
    if (answer.source === source) [found] = answer.sessions;
    return found !== undefined;
  });
  return found;
}

scenario(
  "a session on one machine is listed on another, with nothing that was said",
  async (lab) => {
    const service = emulator.account("sessions");
    const [a, b] = await lab.twoMachines(service, { "README.md": "" });
    appendFileSync(transcript(lab, a.folder), TITLE);
    await a.up();
    if (ON_PLAIN_SERVICE) return;
    await b.up();
    expect(await untilThere(b, "service")).toMatchObject({
      id: "sess_d6e0bada-1959-4eec-a9d2-0bfade768d8f",
      project_id: (await a.projectOf()).id,
      title: "Start the server",
      source: "claude-code",
      message_count: 6,
      git_branch: "master",
    });
    expect(await b.memsync("sessions")).toContain("Start the server");
  },
);

scenario("offline it is this machine's; once the service is back, everybody's", async (lab) => {
  const service = emulator.account("sessions-offline");
  const network = await lab.network(service);
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }), network);
  await machine.up();
  await machine.untilSynced();
  await machine.down();
  network.cut();
  transcript(lab, machine.folder);
  await machine.up();
  expect(await untilThere(machine, "replica")).toMatchObject({ message_count: 6 });
  if (!ON_PLAIN_SERVICE) {
    expect(await machine.memsync("preview")).toContain("1 session: sess_d6e0bada-1959");
  }
  if (ON_PLAIN_SERVICE) return;
  network.restore();
  await machine.syncOnce();
  expect(await untilThere(machine, "service")).toMatchObject({ message_count: 6 });
});

scenario("what is private in a record that a program writes stays on the machine", async (lab) => {
  const service = emulator.account("sessions-private");
  const [a, b] = await lab.twoMachines(service, { "README.md": "" });
  await a.up();
  const own = "Address me as Captain Zorblatt always";
  const text = ["--layer", "user", "personal/instructions", `${own}\n`, "--yes"];
  await a.memsync("set", ...text);
  const { id } = await a.projectOf();
  const at = "2026-01-01T10:00:00.000Z";
  const all = { source: "x", started_at: at, last_activity_at: at, message_count: 1 };
  const bad = [own, own.replaceAll(" ", "-"), `b-${PLANTED.github}`].flatMap((name) => [
    { title: name },
    { git_branch: name },
    { model: name },
    { machine: name },
    { source: name },
  ]);
  const sessions = bad.map((names, at) => ({ ...all, id: `sess_${at}`, ...names }));
  await a.ask("POST", `/api/projects/${id}/sync`, { sessions });
  expect(await a.syncOnce(10)).toBe(true);
  if (ON_PLAIN_SERVICE) return;
  await b.up();
  await waitFor("the records", async () => (await sessionsOf(b)).sessions.length > 0);
  const there = await sessionsOf(b);
  expect(there.source).toBe("service");
  expect(there.sessions.map(({ id }) => id)).toHaveLength(12);
  const names = there.sessions.map(({ title, git_branch, model, machine, source }) => {
    return [title, git_branch, model, machine, source];
  });
  expect(new Set(names.map((each) => each.join()))).toEqual(new Set([",,,,x"]));
  expect(await a.memsync("status")).toContain("3 sessions' records stay on this machine");
  expect(await a.memsync("sync")).toContain("records of sessions stay here: see `memsync status`");
});

scenario("what is turned off is neither read nor sent", async (lab) => {
  const service = emulator.account("sessions-off");
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }), service);
  transcript(lab, machine.folder);
  expect(await machine.memsync("sessions", "off")).toContain("neither recorded nor sent");
  await machine.up();
  await machine.syncOnce();
  expect((await sessionsOf(machine)).sessions).toEqual([]);
  expect(JSON.parse(await machine.memsync("sessions", "on", "--json"))).toEqual({ recorded: true });
  if (ON_PLAIN_SERVICE) return;
  await machine.down();
  await machine.up();
  expect(await untilThere(machine, "service")).toMatchObject({ message_count: 6 });
});

scenario("a record that the service refuses is named by status, sync and doctor", async (lab) => {
  const service = emulator.account("sessions-refused");
  let refuses = true;
  const way = openWayWithoutSessions(service.url, (session) => {
    return refuses && session.includes("Start the server");
  });
  try {
    const folder = await lab.git.repository("a", { "README.md": "" });
    const a = lab.machine("a", folder, { ...service, url: way.url });
    const path = transcript(lab, a.folder);
    appendFileSync(path, TITLE);
    await a.up();
    if (ON_PLAIN_SERVICE) return;
    const id = "sess_d6e0bada-1959-4eec-a9d2-0bfade768d8f";
    const answer = `it answered 400: ${REFUSAL}`;
    const said =
      `the service refuses 1 session's record (${id}): ${answer}; ` +
      "each is sent again when its session goes on or gets another title";
    await waitFor("the refusal", async () => (await a.projectOf()).notes.length > 0);
    expect((await a.projectOf()).notes).toEqual([{ code: "sessions-refused", message: said }]);
    expect(plainWords(await a.memsync("status"))).toContain(said);
    const { status, stdout } = await a.run(["sync"]);
    expect([status, plainWords(stdout)]).toEqual([
      0,
      "everything is synced; records of sessions are refused: see `memsync status`",
    ]);
    const findings: readonly Finding[] = JSON.parse((await a.run(["doctor", "--json"])).stdout);
    expect(findings.filter(({ code }) => code === "sessions-refused")).toEqual([
      {
        about: "sessions",
        state: "warning",
        code: "sessions-refused",
        detail: `a service refuses 1 session's record: ${id}: ${answer}`,
        mend: "give the session another title: its record is then sent again",
      },
    ]);
    // With another title it is sent, and nothing is told any more.
    refuses = false;
    await a.down();
    appendFileSync(path, TITLE.replace("Start", "Stop"));
    await a.up();
    await waitFor("the record", async () => (await a.projectOf()).notes.length === 0);
    expect(await untilThere(a, "service")).toMatchObject({ title: "Stop the server" });
  } finally {
    await way.close();
  }
});

/** What a screen shows, on one line. */
function plainWords(screen: string): string {
  return screen.replaceAll(/\s+/g, " ").trim();
}

/** Titles of another program, which the service takes as they are. */
const TITLES = [
  "x".repeat(4096),
  "two\nlines\r\nand \u001b[31mred\u001b[2J\u0007 end",
  `\u202eevil\u2066 ${"\u05e9\u05dc\u05d5\u05dd ".repeat(60)}`,
  "\u{1f680}".repeat(200),
];

scenario(
  "whatever the titles are, each session has one row, as wide as the terminal at most",
  async (lab) => {
    const service = emulator.account("sessions-titles");
    const folder = await lab.git.repository("a", { "README.md": "" });
    const a = lab.machine("a", folder, service);
    await a.up();
    await a.untilSynced();
    if (ON_PLAIN_SERVICE) return;
    const { id } = await a.projectOf();
    const at = "2026-02-10T10:00:00.000Z";
    const sessions = TITLES.map((title, each) => ({
      ...{ id: `sess_title_${each}`, source: "codex", title, message_count: 1 },
      ...{ started_at: at, last_activity_at: at },
    }));
    const answer = await fetch(`${service.url}/api/projects/${id}/sync`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.token}`, "content-type": "application/json" },
      body: JSON.stringify({ sessions }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
    await using terminal = new TerminalSession(lab, a, ["sessions"]);
    expect(await terminal.ended()).toBe(0);
    const rows = terminal.lines.filter((line) => /^2026-02-10/.test(line));
    expect(rows).toHaveLength(TITLES.length);
    expect(terminal.screen.wraps).toBe(0);
    const piped = await a.memsync("sessions");
    expect(piped.split("\n").filter((line) => /^2026-02-10/.test(line))).toHaveLength(
      TITLES.length,
    );
  },
  { needs: TERMINALS },
);
