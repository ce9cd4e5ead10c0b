import { Database } from "bun:sqlite";
import { join } from "node:path";
import { setMemory } from "./stored.ts";
import { createTempStore, type TempStore } from "./temp-store.ts";

/**
 * How long one durable write of one memory takes in documents of 10 and of 10,000 memories, beside
 * a bare insert and commit of the same bytes on the same disk. The three take turns, so that a busy
 * machine slows them alike.
 *
 *     bun tests/support/measure-write.ts [rounds]
 */
const ROUNDS = Number(process.argv[2] ?? 2000);
const WARM_UP_ROUNDS = 300;

async function storeWith(memories: number): Promise<TempStore> {
  const temp = await createTempStore();
  const keys = Array.from({ length: memories }, (_, index) => `key-${index}`);
  for (let at = 0; at < memories; at += 250) {
    const some = keys.slice(at, at + 250);
    await Promise.all(some.map((key) => setMemory(temp.store, key, `first value of ${key}`)));
  }
  return temp;
}

function bareWriter(folder: string): () => void {
  const database = new Database(join(folder, "bare.db"));
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE updates (seq INTEGER PRIMARY KEY, payload BLOB)");
  const insert = database.prepare("INSERT INTO updates (payload) VALUES (?)");
  const payload = new Uint8Array(160).fill(7);
  return () => {
    database.exec("BEGIN IMMEDIATE");
    insert.run(payload);
    database.exec("COMMIT");
  };
}

async function timed(times: number[], work: () => unknown): Promise<void> {
  const start = performance.now();
  await work();
  times.push((performance.now() - start) * 1000);
}

function quantile(times: readonly number[], part: number): string {
  const sorted = [...times].sort((one, other) => one - other);
  return (sorted[Math.floor(sorted.length * part)] ?? Number.NaN).toFixed(0).padStart(6);
}

const [small, large] = [await storeWith(10), await storeWith(10_000)];
const bare = bareWriter(small.folder);
const bareTimes: number[] = [];
const smallTimes: number[] = [];
const largeTimes: number[] = [];
const times = {
  "bare commit": bareTimes,
  "10 memories": smallTimes,
  "10,000 memories": largeTimes,
};
for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
  if (round === WARM_UP_ROUNDS) for (const each of Object.values(times)) each.length = 0;
  const value = `a value of round ${round}`;
  await timed(bareTimes, bare);
  await timed(smallTimes, () => setMemory(small.store, `key-${round % 10}`, value));
  await timed(largeTimes, () => setMemory(large.store, `key-${(round * 7919) % 10_000}`, value));
}
for (const [name, each] of Object.entries(times)) {
  const line = [0.1, 0.5, 0.9].map((part) => quantile(each, part)).join(" ");
  process.stdout.write(`${name.padEnd(16)} p10, p50, p90 in µs: ${line}\n`);
}
await small.remove();
await large.remove();
