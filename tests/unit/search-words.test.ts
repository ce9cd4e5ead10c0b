import { expect, test } from "bun:test";
import fc from "fast-check";
import { searchMemories } from "../../server/stores/memory-store.ts";
import type { HostStore } from "../../server/stores/open-store.ts";
import { asAccountId } from "../../shared/ids.ts";
import { fullTextQuery } from "../../shared/replica/search/full-text.ts";
import { matchingTexts } from "../../shared/replica/search/matching-texts.ts";
import { spacedWords } from "../../shared/replica/search/words.ts";
import { serversOfTests } from "../support/postgres-servers.ts";

const newDatabase = serversOfTests();
const ann = asAccountId("ann");

/** Letters of several alphabets, with accents within and after them, and what parts words. */
const PIECES = [
  ..."abé ſß-_.,'\"1½ıİŁńøöþæǿ",
  ..."αΆςΣκόσμος жЖёЙ 日本語 한국어 ไทย हिन्दी",
  ..."e\u0301a\u0308 \n\t()*:^ ậớĐđ",
  ..."foo bar foobar FOO",
];

const texts = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 14 })
  .map((pieces) => pieces.join(""));

test("words are folded as the index of a file folds them", () => {
  expect(spacedWords("Łódź, 1:00")).toBe(" lodz 1 00 ");
  expect(spacedWords("ΚΌΣΜΟΣ Straße e\u0301clair")).toBe(" κόσμοσ strasse eclair ");
  expect(spacedWords("… --- ")).toBe("");
});

async function store(host: HostStore, values: readonly string[]): Promise<void> {
  await host.store.write(
    async (context) => {
      const open = await context.open({ owner: ann, name: "global" });
      for (const [at, value] of values.entries()) {
        open.document.setEntry("memories", `k${at}`, { value, now: context.now });
      }
    },
    { owner: ann },
  );
}

test("a search on PostgreSQL finds what it finds in a file", async () => {
  const host = await (await newDatabase()).open();
  const values = fc.sample(texts, { numRuns: 150, seed: 4 });
  await store(host, values);
  const memories = values.map((value, at) => ({ key: `k${at}`, value }));
  for (const q of fc.sample(texts, { numRuns: 80, seed: 5 })) {
    const query = fullTextQuery(q);
    const filter = { account: ann, documents: ["global"] };
    const found = await searchMemories(host.store.reader, filter, {
      text: q,
      from: undefined,
      limit: undefined,
    });
    const expected = query === undefined ? [] : await matchingTexts(memories, query);
    const keys = found.rows.map(({ key }) => key).sort();
    expect({ q, keys }).toEqual({ q, keys: expected.map(({ key }) => key).sort() });
    expect(found.total).toBe(keys.length);
  }
});

test("a search on PostgreSQL has what says the word in its key first, and pages go on", async () => {
  const host = await (await newDatabase()).open();
  await host.store.write(
    async (context) => {
      const { document } = await context.open({ owner: ann, name: "global" });
      const set = (key: string, value: string) =>
        document.setEntry("memories", key, { value, now: context.now });
      set("other", `an editor among ${"many words ".repeat(40)}`);
      set("editor", "vim");
      set("short", "the editor");
    },
    { owner: ann },
  );
  const filter = { account: ann, documents: ["global"] };
  const search = async (from: { sort: number; id: string } | undefined) => {
    const asked = { text: "edit", from, limit: 2 };
    return (await searchMemories(host.store.reader, filter, asked)).rows;
  };
  const first = await search(undefined);
  expect(first.map(({ key }) => key)).toEqual(["editor", "short"]);
  const next = await search({ sort: 2, id: first[1]?.memoryId ?? "" });
  expect(next.map(({ key }) => key)).toEqual(["other"]);
});
