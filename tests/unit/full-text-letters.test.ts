import { expect, test } from "bun:test";
import { sql } from "kysely";
import { replicaMigrations } from "../../shared/replica/log/migrations.ts";
import { fullTextQuery } from "../../shared/replica/search/full-text.ts";
import { matchingTexts } from "../../shared/replica/search/matching-texts.ts";
import { passageOf } from "../../shared/replica/search/passage.ts";
import { setMemory } from "../support/stored.ts";
import { storesOfTests, type TempStore } from "../support/temp-store.ts";

const createStore = storesOfTests();

/** What a text has, and what somebody types. */
const SEARCHES = [
  ["in Łódź", "lodz"],
  ["in Łódź", "ŁÓDŹ"],
  ["die Straße", "strasse"],
  ["DIE STRAẞE", "straße"],
  ["smørrebrød", "Smorrebrod"],
  ["smorrebrod", "smørrebrød"],
  ["Ærø, Ǣ, Ǽ, ǿ", "aero ae o"],
  ["Đorđe, þing, Ð", "dorde thing d"],
  ["œuvre, Œuvre", "oeuv"],
  ["Ħ ŧ ı Ŧ", "h t i"],
] as const;

async function countOf({ store }: TempStore, text: string): Promise<number> {
  const query = fullTextQuery(text) ?? "";
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from memories_text
    where memories_text match ${query}`.execute(store.reader);
  return rows[0]?.count ?? 0;
}

test("letters that are no accented ones are found by what people type for them", async () => {
  const temp = await createStore();
  for (const [text, query] of SEARCHES) {
    await setMemory(temp.store, "k", text);
    expect([query, await countOf(temp, query)]).toEqual([query, 1]);
    await setMemory(temp.store, "k", "none");
    expect([query, await countOf(temp, query)]).toEqual([query, 0]);
    const texts = [{ key: "k", value: text }];
    expect(await matchingTexts(texts, fullTextQuery(query) ?? "")).toEqual(texts);
    expect(passageOf(`first\n${text}`, query)).toBe(`… ${text}`);
  }
});

test("an index of a former version is made anew, and knows what it has of each row", async () => {
  const temp = await createStore();
  const step = replicaMigrations.find(({ name }) => name.endsWith("full-text-letters"))?.name;
  for (const [at, [text]] of SEARCHES.entries()) await setMemory(temp.store, `k${at}`, text);
  await temp.store.write(async ({ db }) => {
    await sql`insert into memories_text (memories_text) values ('rebuild')`.execute(db);
    await sql`delete from schema_migrations where name = ${step}`.execute(db);
  });
  expect(await countOf(temp, "lodz")).toBe(0);
  await temp.reopen();
  for (const [, query] of SEARCHES) expect(await countOf(temp, query)).toBeGreaterThan(0);
  for (const at of SEARCHES.keys()) await setMemory(temp.store, `k${at}`, "none");
  for (const [, query] of SEARCHES) expect(await countOf(temp, query)).toBe(0);
});
