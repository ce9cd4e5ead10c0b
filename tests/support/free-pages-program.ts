import { statSync } from "node:fs";
import { sql } from "kysely";
import { openDatabase } from "../../shared/sqlite/database.ts";
import { returnFreePages } from "../../shared/sqlite/free-pages.ts";

// Fills a new database, empties it, has its free pages returned and prints its sizes.
const [path = ""] = process.argv.slice(2);
const database = await openDatabase<unknown>({ path });
const run = (statement: string) => sql.raw(statement).execute(database.writer);
const size = () => statSync(path).size + statSync(`${path}-wal`).size;
await run("create table filled (value text)");
await run(`insert into filled
  with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 3000)
  select hex(zeroblob(1000)) from numbers`);
await run("delete from filled");
const before = size();
await returnFreePages(database.writer);
process.stdout.write(JSON.stringify({ before, after: size() }));
await database.close();
