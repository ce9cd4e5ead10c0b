import { expect, test } from "bun:test";
import { sql } from "kysely";
import {
  dropAnswersKeptBy,
  findKeptAnswer,
  putKeptAnswer,
} from "../../server/stores/kept-answer-store.ts";
import { asAccountId } from "../../shared/ids.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import { serversOfTests } from "../support/postgres-servers.ts";
import { waitFor } from "../support/wait-for.ts";

const newDatabase = serversOfTests();

test("an answer that is renewed while the sweep would drop it stays", async () => {
  const { database } = await (await newDatabase()).open();
  const id = { account: asAccountId("ann"), who: "ann", path: "/p", key: "k" };
  const put = (answer: string, now: number) =>
    database.write((db) =>
      putKeptAnswer(narrowTables(db), id, { keptAnswer: { bodyHash: "h", answer }, now }),
    );
  await put("old", 1000);
  let dropped: Promise<number> | undefined;
  await database.write(async (db) => {
    const keptAnswer = { bodyHash: "h", answer: "new" };
    await putKeptAnswer(narrowTables(db), id, { keptAnswer, now: 9000 });
    dropped = database.write((other) => dropAnswersKeptBy(narrowTables(other), 5000, 256));
    await waitFor("the sweep to wait for the row", async () => {
      const waiting = sql`SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return (await waiting.execute(database.reader)).rows.length > 0;
    });
  });
  expect(await dropped).toBe(0);
  const kept = await findKeptAnswer(narrowTables(database.reader), id, 5000);
  expect(kept?.answer).toBe("new");
});
