import { expect } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "../../shared/wire/session.ts";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { ON_PLAIN_SERVICE } from "../support/plain-service.ts";
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
