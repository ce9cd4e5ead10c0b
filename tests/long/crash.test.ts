import { expect } from "bun:test";
import { type Lab, scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { seededRandom } from "../support/random.ts";
import { fileHistory } from "../support/real-data.ts";
import { FILE, readFollowed, saveSomehow, untilEqual } from "../support/replay.ts";
import { waitFor } from "../support/wait-for.ts";
import { WriteLoad } from "../support/write-load.ts";

const emulator = sharedEmulator();
const ROUNDS = 5;
const WRITERS = 3;
/** Any other: `npm run trust -- kill`. */
const SEED = 1;

async function expectAll(machine: Machine, wanted: ReadonlyMap<string, string>): Promise<void> {
  const found = new Map((await machine.list()).map(({ key, value }) => [key, value]));
  const missing = [...wanted].filter(([key, value]) => found.get(key) !== value);
  expect(missing).toEqual([]);
}

scenario(`a daemon killed under load loses nothing confirmed, seed ${SEED}`, async (lab) => {
  const random = seededRandom(SEED);
  const [a, b] = await lab.twoMachines(emulator.account("killed"), { "README.md": "" });
  await Promise.all([a.up(), b.up()]);
  const load = new WriteLoad(a, (await a.projectOf()).id);
  for (let round = 0; round < ROUNDS; round++) {
    load.start(WRITERS);
    const enough = load.confirmed.size + 1 + Math.floor(random() * 20);
    await waitFor("some writes", () => load.confirmed.size >= enough);
    await a.down("SIGKILL");
    const more = load.confirmed.size + 2;
    await waitFor("some writes without a daemon", () => load.confirmed.size >= more);
    await a.up();
    await load.stop();
    await expectAll(a, load.confirmed);
  }
  await waitFor("everything on b", async () => {
    const found = new Set((await b.list()).map(({ key }) => key));
    return [...load.confirmed.keys()].every((key) => found.has(key));
  });
  await expectAll(b, load.confirmed);
});

scenario(`daemons killed in the middle of saves end equal, seed ${SEED}`, async (lab) => {
  const random = seededRandom(SEED);
  const files = { ".gitignore": FILE };
  const [a, b] = await lab.twoMachines(emulator.account("killed-saves"), files);
  await Promise.all([a.up(), b.up()]);
  const { versions } = fileHistory("garden-co+jazz.CLAUDE.md.jsonl");
  for (const version of versions) {
    await saveSomehow(a.folder, version, random);
    const machine = random() < 0.5 ? a : b;
    if (random() < 0.5) await machine.syncOnce();
    if (random() < 0.4) {
      await machine.down("SIGKILL");
      await machine.up();
    }
  }
  await untilEqual([{ a: a.folder, b: b.folder }], a, b);
  expect(await readFollowed(b.folder)).toBe(versions.at(-1) ?? "");
});

async function memoriesAt(url: string, project: string): Promise<Map<string, string>> {
  const response = await fetch(`${url}/api/projects/${project}`, {
    headers: { Authorization: "Bearer mst_dev_pro" },
  });
  const { memories } = (await response.json()) as { memories: { key: string; value: string }[] };
  return new Map(memories.map(({ key, value }) => [key, value]));
}

async function killServiceOnce(lab: Lab): Promise<void> {
  const service = await lab.emulator(lab.git.path("data"));
  const machine = lab.machine("a", await lab.git.repository("a", {}), service.account("pro"));
  await machine.up();
  const { id } = await machine.projectOf();
  const load = new WriteLoad(machine, id);
  for (let round = 0; round < ROUNDS; round++) {
    const enough = load.confirmed.size + 10;
    load.start(WRITERS);
    await waitFor("some writes", () => load.confirmed.size >= enough);
    await load.stop();
    const synced = new Map(load.confirmed);
    await machine.sync();
    load.start(WRITERS);
    await service.end("SIGKILL");
    await service.again();
    const held = await memoriesAt(service.url, id);
    expect([...synced].filter(([key, value]) => held.get(key) !== value)).toEqual([]);
    await load.stop();
  }
  await machine.sync();
  const held = await memoriesAt(service.url, id);
  expect([...load.confirmed].filter(([key, value]) => held.get(key) !== value)).toEqual([]);
}

scenario("what `sync` reported as synced is still there when the emulator was killed", (lab) =>
  killServiceOnce(lab),
);
