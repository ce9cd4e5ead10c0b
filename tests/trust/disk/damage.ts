import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Lab } from "../../support/lab.ts";
import type { Machine } from "../../support/machine.ts";
import { waitFor } from "../../support/wait-for.ts";
import { anyOf, type Case } from "../cases.ts";
import { flipBit, flipEveryRow, HARMS, type Harm } from "./harms.ts";

const MEMORIES = 40;
const TEXT = "# Project\n\nOne line.\nAnother line.\n";

function hashOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

async function valuesOn(machine: Machine): Promise<Map<string, string>> {
  return new Map((await machine.list()).map(({ key, value }) => [key, value]));
}

async function untilHeld(machine: Machine, wanted: ReadonlyMap<string, string>): Promise<void> {
  await waitFor(`all values on ${machine.name}`, async () => {
    const held = await valuesOn(machine);
    const missing = [...wanted].filter(([key, value]) => held.get(key) !== value);
    if (missing.length > 0) throw new Error(`missing: ${missing.map(([key]) => key).join()}`);
    return true;
  });
}

/** Two machines, all synced; then one goes offline with a write that it alone has, and ends. */
async function prepare(lab: Lab, random: () => number) {
  const emulator = await lab.emulator(lab.git.path("service"));
  const files = { ".gitignore": "CLAUDE.md\n" };
  const [a, b] = await lab.twoMachines(emulator.account("damage"), files);
  const second = await lab.git.repository("second", { "README.md": "2" });
  await Promise.all([a.up(a.folder, second), b.up()]);
  await lab.git.write(join(a.folder, "CLAUDE.md"), TEXT);
  const { id } = await a.projectOf();
  const synced = new Map<string, string>();
  for (let at = 0; at < MEMORIES; at++) {
    const value = `value ${at} `.padEnd(20 + Math.floor(random() * 3000), "x");
    await a.ask("POST", "/v1/memories", { key: `key ${at}`, content: value, project_id: id });
    synced.set(`key ${at}`, value);
  }
  await a.memsync("rm", "key 0");
  synced.delete("key 0");
  await a.untilSynced();
  await untilHeld(b, synced);
  await emulator.end("SIGKILL");
  await a.memsync("set", "unsent", "by the daemon");
  await a.down(random() < 0.5 ? "SIGTERM" : "SIGKILL");
  await a.memsync("set", "offline", "without a daemon");
  await b.memsync("set", "from b", "meanwhile");
  return { a, b, second, synced, emulator, id };
}

function damaged(kind: Harm): Case {
  return {
    name: `damage to ${kind.name} is set aside, and everything comes back`,
    async run(lab, random) {
      const { a, b, second, synced, emulator, id } = await prepare(lab, random);
      const path = join(a.home, "memsync.db");
      kind.harm(path, random);
      const before = hashOf(path);
      await emulator.again();
      await a.up();
      const [note, ...more] = (await a.status()).damaged;
      ok(note && more.length === 0, "status tells of one damage");
      match(a.daemon?.stdout ?? "", /damaged .* was damaged \(.+\)/);
      match(readFileSync(join(a.home, "daemon.log"), "utf8"), /was damaged/);
      equal(hashOf(note.set_aside), before, "what was damaged is kept as it was");
      await untilHeld(a, synced);
      if (kind.readable) {
        await untilHeld(a, new Map([["offline", "without a daemon"]]));
        await untilHeld(b, new Map([["unsent", "by the daemon"]]));
      }
      await untilHeld(a, new Map([["from b", "meanwhile"]]));
      await expectRest(a, b, second, id);
    },
  };
}

/** Links survive, deletions stay, machines are equal, and work goes on. */
async function expectRest(a: Machine, b: Machine, second: string, id: string): Promise<void> {
  ok(await a.projectOf(second), "the other link survives");
  await a.memsync("set", "after", "the damage");
  await untilHeld(b, new Map([["after", "the damage"]]));
  await Promise.all([a.untilSynced(), b.untilSynced()]);
  await waitFor("equal machines", async () => {
    deepEqual([...(await valuesOn(a))].sort(), [...(await valuesOn(b))].sort());
    equal(await a.doc(id), await b.doc(id));
    return true;
  });
  equal((await valuesOn(a)).has("key 0"), false, "a deletion stays one");
  equal(await a.doc(id), TEXT);
  equal(readFileSync(join(a.folder, "CLAUDE.md"), "utf8"), TEXT);
  equal(readFileSync(join(b.folder, "CLAUDE.md"), "utf8"), TEXT);
  await a.down();
  await a.up();
  equal((await a.status()).damaged.length, 1, "it was damaged once");
}

/** A row changes under a running daemon: it says so and rebuilds without being asked. */
const whileRunning: Case = {
  name: "damage that shows while the daemon runs is mended by itself",
  async run(lab, random) {
    const { a, b, second, synced, emulator, id } = await prepare(lab, random);
    await a.up();
    const path = join(a.home, "memsync.db");
    const unsent = await a.projectOf();
    ok(unsent.waiting > 0, "something waits");
    flipEveryRow(path, random);
    await emulator.again();
    await waitFor("the daemon to say so", async () => (await a.status()).damaged.length === 1);
    ok(a.daemon?.running, "it is the same process");
    await untilHeld(a, synced);
    await untilHeld(b, new Map([["from b", "meanwhile"]]));
    await expectRest(a, b, second, id);
  },
};

/** A crash while the databases change places leaves a home that comes up whole. */
const halfway: Case = {
  name: "a crash while a database is set aside loses none of its parts",
  async run(lab, random) {
    const { a, b, second, synced, emulator, id } = await prepare(lab, random);
    const path = join(a.home, "memsync.db");
    flipBit(path, random);
    await emulator.again();
    for (let at = 0; at < 8; at++) {
      const starting = a.begin();
      const there = await waitFor("it to begin", () => {
        const names = readdirSync(a.home);
        if (!starting.running || names.some((name) => /damaged-.*\.json$/.test(name))) return "end";
        return names.some((name) => /\.(rebuilding|reading)$/.test(name)) && "middle";
      });
      if (there === "middle" || random() < 0.5) await starting.end("SIGKILL");
      else break;
    }
    await a.down("SIGKILL");
    await a.up();
    await untilHeld(a, synced);
    await untilHeld(b, new Map([["unsent", "by the daemon"]]));
    const names = readdirSync(a.home);
    ok(!names.some((name) => name.includes(".rebuil")), "nothing is left half done");
    await waitFor("the last value", async () => (await valuesOn(a)).has("offline"));
    ok((await a.status()).damaged.length >= 1);
    await waitFor("equal machines", async () => {
      await Promise.all([a.untilSynced(), b.untilSynced()]);
      return (await a.doc(id)) === (await b.doc(id));
    });
    ok(await a.projectOf(second));
  },
};

/** Every damage there is. */
export const DAMAGE: readonly Case[] = [...HARMS.map(damaged), whileRunning, halfway];

/** The same, one kind of harm at a time. */
export const ANY_DAMAGE: readonly Case[] = [
  anyOf(HARMS.map(damaged), "damage is set aside, and everything comes back"),
  whileRunning,
];
