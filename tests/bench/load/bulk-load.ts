import { Database } from "bun:sqlite";
import { TOKENIZER } from "../../../shared/replica/search/full-text.ts";
import { type Note, notes } from "../notes.ts";
import { Connection, requestOf } from "./connection.ts";

const ROUNDS_MAX = 50;

/** What a run of this program prints: milliseconds, by round. */
export interface BulkLoad {
  readonly syncs: readonly number[];
  /** The same memories as bare rows. */
  readonly bare: readonly number[];
}

const [url = "", token = "", path = "", rounds = "1", count = "1"] = process.argv.slice(2);
const load = await syncAndInsert(Math.min(Number(rounds), ROUNDS_MAX));
process.stdout.write(`${JSON.stringify(load)}\n`);

async function syncAndInsert(roundCount: number): Promise<BulkLoad> {
  const body = JSON.stringify({ memories: notes(Number(count)) });
  const insert = openRows(path);
  const [syncs, bare]: number[][] = [[], []];
  for (let round = 0; round < roundCount; round++) {
    syncs?.push(await sync(round, body));
    bare?.push(insert(round, body));
  }
  return { syncs: syncs ?? [], bare: bare ?? [] };
}

async function sync(round: number, body: string): Promise<number> {
  const connection = await Connection.open(url);
  const request = requestOf({ url, token }, "POST", `/v1/projects/proj_bulk_${round}/sync`, body);
  const { status, tookMs } = await connection.ask(request);
  connection.close();
  if (status !== 200) throw new Error(`a sync was answered ${status}`);
  return tookMs;
}

/** The least that keeps memories so that they can be read, listed and searched. */
function openRows(file: string): (round: number, body: string) => number {
  const database = new Database(file, { readwrite: true, create: true });
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, project, key, value)");
  database.exec("CREATE UNIQUE INDEX by_key ON notes (project, key)");
  database.exec(
    `CREATE VIRTUAL TABLE words USING fts5 (key, value, content='', tokenize='${TOKENIZER}')`,
  );
  const add = database.prepare("INSERT INTO notes (project, key, value) VALUES (?, ?, ?)");
  const index = database.prepare("INSERT INTO words (rowid, key, value) VALUES (?, ?, ?)");
  const insert = database.transaction((round: number, memories: readonly Note[]) => {
    for (const { key, value } of memories) {
      const { lastInsertRowid } = add.run(round, key, value);
      index.run(lastInsertRowid, key, value);
    }
  });
  return (round, body) => {
    const startedAt = performance.now();
    insert(round, (JSON.parse(body) as { memories: readonly Note[] }).memories);
    return performance.now() - startedAt;
  };
}
