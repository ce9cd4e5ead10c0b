import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Lab } from "../../support/lab.ts";
import { pick } from "../../support/random.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Held, WatchedDaemon } from "./watched-daemon.ts";

const FILE = "CLAUDE.md";
const PROJECTS = 3;
const KEYS = 20;

export interface DayOptions {
  readonly steps: number;
  /** How often it is asked what it holds, besides at the start. */
  readonly samples: number;
}

/** What happens on a day, by how often. */
const STEPS = [
  ...Array<"edit">(8).fill("edit"),
  ...Array<"memory">(8).fill("memory"),
  "disconnect",
  "sleep",
  "branch",
  "relink",
  "remove-file",
  "sub-folder",
] as const;

/**
 * A day of work at one real daemon, in as little time as it takes: saves, memories, networks that
 * come and go, sleeps, branches, links, files and folders that go and come back. Resolves to what
 * the daemon held at rest, first after a tenth of the day, by which all has been used once.
 */
export async function workDay(
  lab: Lab,
  random: () => number,
  { steps, samples }: DayOptions,
): Promise<Held[]> {
  const emulator = await lab.emulator(lab.git.path("service"));
  const network = await lab.network(emulator.account("day"));
  const dirs: string[] = [];
  for (let at = 0; at < PROJECTS; at++) {
    const files = { ".gitignore": `${FILE}\n`, [`project-${at}`]: "" };
    dirs.push(await lab.git.repository(`project-${at}`, files));
    await writeFile(join(dirs[at] ?? "", FILE), "# Rules\n");
  }
  const machine = lab.machine("day", dirs[0] ?? "", network);
  const daemon = await WatchedDaemon.start(machine);
  for (const dir of dirs) await machine.ask("POST", "/_memsync/link", { dir });
  const day = { lab, random, daemon, network, dirs, step: 0 };
  for (const step of STEPS) await takeStep(day, step);
  await walk(day, Math.floor(steps / 10));
  const held: Held[] = [await rest(day)];
  for (let at = 0; at < samples; at++) {
    await walk(day, Math.floor(steps / samples));
    held.push(await rest(day, held[0]));
  }
  return held;
}

/** How many connections are kept for later calls is chance: all are made anew. */
async function rest(day: Day, before?: Held): Promise<Held> {
  await reconnect(day);
  return await day.daemon.held(before);
}

interface Day {
  readonly lab: Lab;
  readonly random: () => number;
  readonly daemon: WatchedDaemon;
  readonly network: Awaited<ReturnType<Lab["network"]>>;
  readonly dirs: readonly string[];
  step: number;
}

async function walk(day: Day, steps: number): Promise<void> {
  for (let at = 0; at < steps; at++) await takeStep(day, pick(day.random, STEPS));
}

async function takeStep(day: Day, step: (typeof STEPS)[number]): Promise<void> {
  const { lab, daemon, random } = day;
  const { machine } = daemon;
  const dir = pick(random, day.dirs);
  const at = day.step++;
  if (step === "edit") {
    await appendFile(join(dir, FILE), `line ${at}\n`);
    if (at % 10 === 0) await writeFile(join(dir, FILE), "# Rules\n");
  } else if (step === "memory") {
    const { id } = await machine.projectOf(dir);
    const body = { project_id: id, key: `key-${at % KEYS}`, content: `value ${at}` };
    await machine.ask("POST", "/v1/memories", body);
  } else if (step === "disconnect") {
    await reconnect(day);
  } else if (step === "sleep") {
    daemon.freeze();
    await appendFile(join(dir, FILE), `asleep ${at}\n`);
    daemon.thaw();
  } else if (step === "branch") {
    await lab.git.run(dir, "checkout", "-q", "-B", `branch-${at % 5}`);
    await lab.git.run(dir, "checkout", "-q", "main");
  } else if (step === "relink") {
    await machine.ask("POST", "/_memsync/unlink", { dir });
    await machine.ask("POST", "/_memsync/link", { dir });
  } else if (step === "remove-file") {
    await rm(join(dir, FILE));
    await writeFile(join(dir, FILE), `# Rules ${at}\n`);
  } else {
    await mkdir(join(dir, ".claude"), { recursive: true });
    await machine.syncOnce();
    await rm(join(dir, ".claude"), { recursive: true });
  }
}

async function reconnect(day: Day): Promise<void> {
  day.network.cut();
  await untilConnected(day, false);
  day.network.restore();
  await untilConnected(day, true);
}

/** A machine learns of it by its next call. */
async function untilConnected({ daemon }: Day, online: boolean): Promise<void> {
  await waitFor(`the service to be ${online ? "there" : "gone"}`, async () => {
    await daemon.machine.syncOnce();
    const { remotes } = await daemon.machine.status();
    return remotes.every(({ service }) => service.online === online && service.live === online);
  });
}
