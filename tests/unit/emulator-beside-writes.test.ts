import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { type Emulator, startEmulator } from "../../server/emulator/start-emulator.ts";
import type { ReplicaTables } from "../../shared/replica/log/tables.ts";
import { indexSome } from "../../shared/replica/search/unindexed.ts";
import { openDatabase } from "../../shared/sqlite/database.ts";
import { writeTransaction } from "../../shared/sqlite/transaction.ts";
import { NO_PAUSE } from "../../shared/turns.ts";
import { ask } from "../support/emulator-calls.ts";

setDefaultTimeout(60_000);

const folders: string[] = [];
const EVERYBODY = { owner: undefined };
const ROUNDS = 20;
const SYNC = "POST /v1/projects/proj_a/sync";

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "memsync-beside-"));
  folders.push(folder);
  return folder;
}

/** Statuses of writes and searches that do not stop before `work` is done. */
async function beside(emulator: Emulator, work: () => Promise<void>): Promise<Set<number>> {
  const statuses = new Set<number>();
  let isOver = false;
  let count = 0;
  const each = async (next: () => Promise<Response>) => {
    while (!isOver) {
      const response = await next();
      statuses.add(response.status);
      await response.arrayBuffer();
    }
  };
  const sync = () => {
    count += 1;
    const memories = [{ key: `k${count % 7}`, value: `word v${count}` }];
    return ask(emulator, SYNC, { body: { memories } });
  };
  const create = () =>
    ask(emulator, "POST /v1/memories", { body: { layer: "user", content: `word n${count}` } });
  const search = () => ask(emulator, "GET /v1/memories?q=word&project_id=proj_a");
  const load = Promise.all([sync, sync, create, search].map(each));
  try {
    await work();
  } finally {
    isOver = true;
    await load;
  }
  return statuses;
}

async function listed(emulator: Emulator, query = ""): Promise<string[]> {
  const response = await ask(emulator, `GET /v1/memories?project_id=proj_a${query}`);
  const { memories } = (await response.json()) as { memories: { content: string }[] };
  return memories.map(({ content }) => content).sort();
}

/** Of the closed database: what the index has to follow is followed, and then it is checked. */
async function checkIndexIn(folder: string): Promise<void> {
  const path = join(folder, "emulator.db");
  const database = await openDatabase<ReplicaTables>({ path });
  await writeTransaction(database.writer, async (db) => {
    while (await indexSome(db, EVERYBODY, NO_PAUSE));
  });
  await sql`insert into memories_text (memories_text, rank)
    values ('integrity-check', 1)`.execute(database.writer);
  await database.close();
}

test("resets, snapshots and restores beside writes and searches of the same account all succeed", async () => {
  const dataDir = newFolder();
  {
    await using emulator = await startEmulator({ dataDir, limits: "off" });
    const { token } = emulator;
    await ask(emulator, SYNC, { body: { memories: [{ key: "k0", value: "word" }] } });
    const statuses = await beside(emulator, async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await emulator.snapshots.save("mine", { token });
        await emulator.reset({ token });
        await emulator.snapshots.restore("mine", { token });
        await emulator.reset();
        await emulator.snapshots.save("all");
        await emulator.snapshots.restore("all");
      }
    });
    // A project may be gone when it is searched.
    for (const each of statuses) expect([200, 201, 404]).toContain(each);
    await ask(emulator, SYNC, { body: { memories: [{ key: "k0", value: "word last" }] } });
    expect(await listed(emulator, "&q=word")).toEqual(await listed(emulator));
  }
  {
    await using emulator = await startEmulator({ dataDir, limits: "off" });
    expect(await listed(emulator, "&q=word")).toEqual(await listed(emulator));
    await emulator.reset();
    await ask(emulator, SYNC, { body: { memories: [{ key: "k0", value: "other" }] } });
    expect(await listed(emulator, "&q=word")).toEqual([]);
    expect(await listed(emulator, "&q=other")).toEqual(["other"]);
  }
  await checkIndexIn(dataDir);
});
