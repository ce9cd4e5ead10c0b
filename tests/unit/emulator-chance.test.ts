import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Emulator, startEmulator } from "../../server/emulator/start-emulator.ts";
import { ask } from "../support/emulator-calls.ts";

setDefaultTimeout(30_000);

async function remember(emulator: Emulator, content: string): Promise<void> {
  const body = { layer: "user", content };
  expect((await ask(emulator, "POST /v1/memories", { body })).status).toBe(200);
}

async function remembered(emulator: Emulator): Promise<string[]> {
  const response = await ask(emulator, "GET /v1/memories");
  const { memories } = (await response.json()) as { memories: { content: string }[] };
  return memories.map(({ content }) => content).sort();
}

async function newProject(emulator: Emulator, name: string): Promise<string> {
  const response = await ask(emulator, "POST /api/projects", { body: { name } });
  return ((await response.json()) as { id: string }).id;
}

test("after a restart over kept data an id that repeats is drawn again", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "memsync-chance-"));
  const projects = new Set<string>();
  const accounts = new Set<string>();
  for (const content of ["one", "two", "three"]) {
    await using emulator = await startEmulator({ dataDir, random: 1 });
    await remember(emulator, content);
    projects.add(await newProject(emulator, content));
    accounts.add(emulator.tokens.create().account);
    if (content === "three") expect(await remembered(emulator)).toEqual(["one", "three", "two"]);
  }
  expect([projects.size, accounts.size]).toEqual([3, 3]);
  rmSync(dataDir, { recursive: true });
});

test("after a reset and a restore, and with the same seed again, no memory is overwritten", async () => {
  await using emulator = await startEmulator({ random: 1 });
  await remember(emulator, "seeded");
  await emulator.snapshots.save("seeded");
  await emulator.reset();
  await emulator.snapshots.restore("seeded");
  await remember(emulator, "of the test");
  emulator.random(1);
  await remember(emulator, "of later");
  expect(await remembered(emulator)).toEqual(["of later", "of the test", "seeded"]);
});

test("a made token stays whose it is with the same seed again, and is gone with a reset of all", async () => {
  await using emulator = await startEmulator({ random: 1 });
  const make = () => emulator.tokens.create({ scopes: ["read"] });
  const first = make();
  emulator.random(1);
  const second = make();
  expect(second.token).not.toBe(first.token);
  expect(second.account).not.toBe(first.account);
  const write = async () => {
    const body = { layer: "user", content: "x" };
    return (await ask(emulator, "POST /v1/memories", { token: first.token, body })).status;
  };
  expect(await write()).toBe(403);
  await emulator.reset({ token: first.token });
  expect(await write()).toBe(403);
  await emulator.reset();
  expect(await write()).toBe(401);
  expect(make().token).toBe(first.token);
});

test("two equal runs draw the same, also where an id is drawn again", async () => {
  const run = async () => {
    await using emulator = await startEmulator({ random: 7, clock: 0 });
    const told: unknown[] = [];
    for (let round = 0; round < 3; round += 1) {
      await remember(emulator, `${round}`);
      told.push(await newProject(emulator, `${round}`), emulator.tokens.create());
      emulator.random(7);
    }
    return [told, await emulator.export()];
  };
  expect(await run()).toEqual(await run());
});
