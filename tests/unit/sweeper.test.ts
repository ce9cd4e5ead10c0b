import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { createEmulatorApp } from "../../server/emulator/emulator-app.ts";
import { createHostApp } from "../../server/host-app.ts";
import { silentLog } from "../../shared/log.ts";
import { HISTORY } from "../../shared/replica/history/revisions.ts";
import { Sweeper } from "../../shared/replica/history/sweeper.ts";
import { connect } from "../../shared/sqlite/connect-bun.ts";
import { setMemory } from "../support/stored.ts";
import { createTempStore } from "../support/temp-store.ts";
import { createTestWorld } from "../support/test-world.ts";
import { waitFor } from "../support/wait-for.ts";

const HOUR_MS = 60 * 60 * 1000;

/** A world whose timers run when they are told to, by their delay. */
function timedWorld() {
  const timers = new Set<{ readonly delayMs: number; readonly callback: () => void }>();
  const world = createTestWorld();
  return {
    ...world,
    setTimer: (delayMs: number, callback: () => void) => {
      const timer = { delayMs, callback };
      timers.add(timer);
      return { cancel: () => timers.delete(timer) };
    },
    delays: () => [...timers].map(({ delayMs }) => delayMs),
    fire(delayMs: number): void {
      const due = [...timers].filter((timer) => timer.delayMs === delayMs);
      for (const timer of due) {
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

test("sweeps a minute after the start and then every hour, whatever a sweep ends in", async () => {
  const world = timedWorld();
  let sweeps = 0;
  const warnings: string[] = [];
  const sweep = async () => {
    sweeps += 1;
    if (sweeps === 1) throw new Error("the disk is full");
  };
  const log = { ...silentLog, warn: (_: unknown, message: string) => warnings.push(message) };
  const sweeper = new Sweeper({ sweep }, world, log);
  sweeper.start();
  expect(world.delays()).toEqual([60_000]);
  world.fire(60_000);
  await waitFor("the next sweep to be planned", () => world.delays().length === 1);
  expect([sweeps, warnings.length, world.delays()]).toEqual([1, 1, [HOUR_MS]]);
  world.fire(HOUR_MS);
  await waitFor("the next sweep to be planned", () => world.delays().length === 1);
  expect([sweeps, warnings.length]).toEqual([2, 1]);
  await sweeper.stop();
  expect(world.delays()).toEqual([]);
});

/** A file with a revision in it that is too old. */
async function agedStore() {
  const temp = await createTempStore();
  await setMemory(temp.store, "k", "old");
  await setMemory(temp.store, "k", "new");
  await temp.store.close();
  const revisions = () => {
    const connection = connect(temp.path, { readonly: true });
    const rows = connection.prepare("SELECT value FROM revisions").all([]);
    connection.close();
    return rows.length;
  };
  return { temp, revisions };
}

for (const [name, create] of [
  ["the hosted server", createHostApp],
  ["the emulator, embedded or not,", createEmulatorApp],
] as const) {
  test(`${name} drops what is too old`, async () => {
    const { temp, revisions } = await agedStore();
    const world = timedWorld();
    world.advance(HISTORY.ageMs + HOUR_MS);
    const options = { path: temp.path, world, log: silentLog, loopbackOnly: true };
    const app = await create({ ...options, plan: "pro", limits: "off" });
    expect(revisions()).toBe(1);
    world.fire(60_000);
    await waitFor("the sweep", () => revisions() === 0);
    await app.close();
    rmSync(temp.folder, { recursive: true });
  });
}
