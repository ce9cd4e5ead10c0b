import { expect, test } from "bun:test";
import { sql } from "kysely";
import { fullTextQuery } from "../../shared/replica/search/full-text.ts";
import { unindexedIn } from "../../shared/replica/search/unindexed.ts";
import { checkFullText, OWNER, setMemory } from "../support/stored.ts";
import { storesOfTests, type TempStore } from "../support/temp-store.ts";

const createStore = storesOfTests();

const STEP = "replica-0014-words-of-memories";

async function found({ store }: TempStore, text: string): Promise<number> {
  return await store.search(OWNER, async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from memories_text
      where memories_text match ${fullTextQuery(text)}`.execute(store.reader);
    return rows[0]?.count ?? 0;
  });
}

/** Has the index as the version before had it, with words by FTS5's own rules. */
async function asBefore({ store }: TempStore): Promise<void> {
  await store.write(async ({ db }) => {
    await sql`drop table memories_text`.execute(db);
    await sql`
      create virtual table memories_text using fts5(
        key, value, content='memories', content_rowid='row_id',
        tokenize='unicode61 remove_diacritics 2')`.execute(db);
    await sql`insert into memories_text (memories_text) values ('rebuild')`.execute(db);
    await sql`delete from unindexed`.execute(db);
    await sql`delete from schema_migrations where name = ${STEP}`.execute(db);
  });
}

test.each([{ indexesLater: true }, {}])(
  "an index of a former version is made anew",
  async (how) => {
    const temp = await createStore(how);
    for (let at = 0; at < 300; at++) await setMemory(temp.store, `k${at}`, `日本語 ёлка ${at}`);
    await asBefore(temp);
    expect(await found(temp, "本語")).toBe(0);
    await temp.reopen(how);
    expect(await found(temp, "本語 елка")).toBe(300);
    await checkFullText(temp);
    await setMemory(temp.store, "k7", "none");
    expect(await found(temp, "本語")).toBe(299);
    await checkFullText(temp);
  },
);

test("who reads a database that nobody has updated knows that its index is a former one", async () => {
  const temp = await createStore();
  await setMemory(temp.store, "k", "v");
  const { rows } = await sql<{ id: number }>`select id from documents`.execute(temp.store.reader);
  const document = rows[0]?.id ?? 0;
  expect((await unindexedIn(temp.store.reader, document)).size).toBe(0);
  await asBefore(temp);
  expect((await unindexedIn(temp.store.reader, document)).size).toBe(1);
});
