import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { call, startEmulator } from "../emulator.ts";
import { type Address, type Machine, readText, startMachine } from "../machine-program.ts";
import { within } from "../programs.ts";
import { type Bench, type Row, type RowResult, verdictOf } from "../row.ts";
import { mebibytes, ms, whole } from "../sample.ts";

const DATA = join(import.meta.dir, "../../../../shared/data/instruction-files");
const TOKEN = "mst_dev_bench";
const PER_SECOND_MIN = 100;
const FILE_DEADLINE_MS = 10_000;
const LOOK_INTERVAL_MS = 2;

/** What is followed where no file is yet; the other machine has none at first. */
const FILE = "CLAUDE.md";

/** One file's versions, oldest first. */
interface History {
  readonly project: string;
  readonly versions: readonly string[];
}

/** Real files' versions, saved one after another on one machine and followed by another. */
export const history: Row = {
  name: "history",
  async run(bench) {
    const { programs, folder } = bench;
    const histories = await readHistories();
    const emulator = await startEmulator(programs, await folder());
    const service = { url: emulator.url, token: TOKEN };
    for (const { project } of histories) {
      await call(service, "POST", "/api/projects", { id: project });
    }
    const author = await startFollowing(bench, service, histories);
    const follower = await startFollowing(bench, service, histories);
    const startedAt = performance.now();
    for (const each of histories) await saveAll(author, each);
    const savedAt = performance.now();
    for (const each of histories) await untilEqual(follower, each);
    const equalMs = performance.now() - savedAt;
    const count = histories.reduce((total, { versions }) => total + versions.length, 0);
    const perSecond = count / ((savedAt - startedAt) / 1000);
    const held = [author.machine, follower.machine, emulator].map((each) => {
      return mebibytes(each.residentBytes());
    });
    return report(count, perSecond, equalMs, held);
  },
};

function report(
  count: number,
  perSecond: number,
  equalMs: number,
  held: readonly string[],
): RowResult {
  return {
    figures: [
      {
        figure: `${whole(perSecond)} versions a second; byte-equal ${ms(equalMs)} after the last`,
        target: `≥ ${PER_SECOND_MIN} a second; byte-equal at the end`,
        verdict: verdictOf(perSecond >= PER_SECOND_MIN),
      },
    ],
    notes: [
      `${count} versions, each durable in one machine's replica before the next is saved; then ` +
        "the other machine's files, which follow by at most one call a second, until they are " +
        `equal byte for byte. Afterwards the daemons hold ${held[0]} and ${held[1]}, the ` +
        `emulator ${held[2]}.`,
    ],
  };
}

async function readHistories(): Promise<History[]> {
  const names = (await readdir(DATA)).filter((name) => name.endsWith(".jsonl")).sort();
  return await Promise.all(
    names.map(async (name, index) => {
      const lines = (await readFile(join(DATA, name), "utf8")).trim().split("\n");
      const parsed = lines.map((line) => JSON.parse(line) as { content: string });
      return {
        project: `proj_bench_history_${index}`,
        versions: parsed.map(({ content }) => content),
      };
    }),
  );
}

interface Following {
  readonly machine: Machine;
  /** The folder of each project. */
  readonly folders: ReadonlyMap<string, string>;
}

async function startFollowing(
  { programs, folder }: Bench,
  service: Address,
  histories: readonly History[],
): Promise<Following> {
  const projects = histories.map(({ project }) => project);
  const home = await folder();
  const machine = await startMachine(programs, home, await folder(), service, projects);
  const folders = new Map<string, string>();
  for (const project of projects) {
    const dir = await folder();
    folders.set(project, dir);
    await machine.link(dir, project);
  }
  await machine.sync();
  return { machine, folders };
}

function fileOf({ folders }: Following, { project }: History): string {
  const folder = folders.get(project);
  if (folder === undefined) throw new Error(`${project} has no folder`);
  return join(folder, FILE);
}

async function saveAll(author: Following, each: History): Promise<void> {
  for (const [at, version] of each.versions.entries()) {
    await writeFile(fileOf(author, each), version);
    await untilShown(author, each, at);
  }
}

/** Until a machine's gateway shows this version, which is then durable there. */
async function untilShown(
  { machine }: Following,
  { project, versions }: History,
  at: number,
): Promise<void> {
  const isShown = async () => {
    return (await readText(machine, project)) === versions[at] ? true : undefined;
  };
  await machine.until(isShown, `version ${at + 1} of ${versions.length} of ${project}`);
}

async function untilEqual(follower: Following, each: History): Promise<void> {
  const { versions } = each;
  await untilShown(follower, each, versions.length - 1);
  const file = fileOf(follower, each);
  const last = Buffer.from(versions.at(-1) ?? "");
  await within(FILE_DEADLINE_MS, untilHolds(file, last), `${file} to be written`);
}

/** Looks at the file as any other program does; its watcher's events would come no later. */
async function untilHolds(file: string, bytes: Buffer): Promise<void> {
  while (!existsSync(file) || !bytes.equals(await readFile(file))) {
    await delay(realWorld, LOOK_INTERVAL_MS);
  }
}
