import { expect, test } from "bun:test";
import fc from "fast-check";
import pg from "pg";
import { searchMemories } from "../../server/stores/memory-store.ts";
import { openPostgresStore } from "../../server/stores/open-postgres-store.ts";
import type { HostStore } from "../../server/stores/open-store.ts";
import { asAccountId } from "../../shared/ids.ts";
import { fullTextQuery } from "../../shared/replica/search/full-text.ts";
import { matchingTexts } from "../../shared/replica/search/matching-texts.ts";
import { passageOf } from "../../shared/replica/search/passage.ts";
import { spacedWords } from "../../shared/replica/search/words.ts";
import { realWorld } from "../../shared/world-real.ts";
import { runOnPostgres, serversOfTests } from "../support/postgres-servers.ts";
import { openWay } from "../support/postgres-way.ts";

const newDatabase = serversOfTests();
const ann = asAccountId("ann");

/** What a text has, and its words. */
const WORDS = [
  ["Łódź, 1:00", "lodz 1 00"],
  ["ΚΌΣΜΟΣ Straße e\u0301clair", "κοσμοσ strasse eclair"],
  ["… --- ", ""],
  ["Ærø, Ǣ, Ǽ, ǿ", "aero ae ae o"],
  ["Ħ ŧ ı Ŧ İ", "h t i t i"],
  ["v2.3.1, ES2022 snake_case camelCase", "v 2 3 1 es 2022 snake case camelcase"],
  ["ёлка Ёлка е\u0308лка замо\u0301к", "елка елка елка замок"],
  ["мой мои и\u0306 їжа іжа", "мой мои й їжа іжа"],
  ["ﬁne oﬃce Ｆｕｌｌ１２ x²", "fine office full 12 x 2"],
  ["日本語のText、ｶﾞラス", "日 本 語 の text ガ ラ ス"],
  ["ไทยดี", "ไ ท ย ด ี"],
  ["한국어".normalize("NFD"), "한 국 어"],
  ["हिन्दी में", "हिन्दी में"],
  ["أإآ كتـاب מְנוֹרָה", "ااا كتاب מנורה"],
  ["co\u00adop می\u200cخواهم 1\ufe0f\u20e3", "coop میخواهم 1"],
  ["\u0301\u0e31 \ud800a", "ั a"],
] as const;

test.each(WORDS)("the words of %j are %j", (text, words) => {
  expect(spacedWords(text)).toBe(words === "" ? "" : ` ${words} `);
  // So what was folded may be folded again, as by who knows only its words.
  expect(spacedWords(spacedWords(text)).trim()).toBe(words);
});

/** A letter that is not folded by itself, so that none of the text is. */
const OTHER_LETTER = "я";

function expectFoldedWhole(text: string): void {
  const whole = spacedWords(`${text} ${OTHER_LETTER}`);
  const words = `${spacedWords(text) || " "}${OTHER_LETTER} `;
  if (words !== whole) expect({ text, words }).toEqual({ text, words: whole });
}

test("each character has the same words where it is folded by itself", () => {
  for (let code = 0; code < 0x10000; code++) {
    const character = String.fromCharCode(code);
    expectFoldedWhole(`${character}a${character}1${character}E${character}`);
  }
});

test("characters that are folded each by itself have the words that all of them have", () => {
  const unit = fc.constantFrom(..."aZ09 _-.,:'/\nßéİŁ½²ﬁﬃÆ…—→™№\u00ad\u200d\ufe0f\u0301");
  const text = fc.string({ unit, maxLength: 40 });
  fc.assert(fc.property(text, expectFoldedWhole), { seed: 15, numRuns: 2000 });
  expectFoldedWhole("Æ1ß2 ".repeat(5000));
});

/** What a text has, and what somebody types; false: that is not found. */
const SEARCHES = [
  ["in Łódź", "lodz", true],
  ["in Łódź", "ŁÓDŹ", true],
  ["die Straße", "strasse", true],
  ["die Strasse", "straße", true],
  ["DIE STRAẞE", "straße", true],
  ["smørrebrød", "Smorrebrod", true],
  ["smorrebrod", "smørrebrød", true],
  ["Đorđe, þing, Ð", "dorde thing d", true],
  ["œuvre, Œuvre", "oeuv", true],
  ["наряжена ёлка", "елка", true],
  ["наряжена елка", "ЁЛКА", true],
  ["мой", "мои", false],
  ["the ﬁnal oﬃce", "office final", true],
  ["Ｆｕｌｌ ｗｉｄｔｈ", "full width", true],
  ["full width", "ｆｕｌｌ", true],
  ["released as v2.3.1", "2.3.1", true],
  ["released as 2.3.1", "v2.3.1", false],
  ["released as v2.3.1", "2.3", true],
  ["released as v2.3.10", "2.3.1", true],
  ["released as v12.3.1", "2.3.1", false],
  ["python3.12 and utf-8", "3.12 utf8", true],
  ["数据库连接失败时重试", "连接", true],
  ["数据库连接失败时重试", "失败 数据", true],
  ["数据库连接失败时重试", "接连", false],
  ["使用Docker部署", "docker 部署", true],
  ["使用Docker部署", "用docker", true],
  ["データベースの接続", "ベース", true],
  ["データベースの接続", "ﾍﾞｰｽ", true],
  ["ฐานข้อมูลอยู่ที่นี่", "ข้อมูล", true],
  ["개발환경 설정", "환경", true],
  ["हिन्दी", "हन्दी", false],
  ["αγορά", "ΑΓΟΡΑ", true],
] as const;

test.each(SEARCHES)("in %j somebody finds %j: %p", async (text, query, isFound) => {
  const texts = [{ key: "k", value: text }];
  const wanted = fullTextQuery(query) ?? "";
  expect(await matchingTexts(texts, wanted)).toEqual(isFound ? texts : []);
  if (isFound) expect(passageOf(`first\n${text}`, query)).toBe(`… ${text}`);
});

/** Letters of several alphabets, with accents within and after them, and what parts words. */
const PIECES = [
  ..."abé ſß-_.,'\"1½ıİŁńøöþæǿ",
  ..."αΆςΣκόσμος жЖёЙе 日本語 한국어 ไทย हिन्दी",
  ..."e\u0301a\u0308 \n\t()*:^ ậớĐđ23ﬁＡ",
  ..."foo bar foobar FOO",
  "v2",
];

const texts = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 14 })
  .map((pieces) => pieces.join(""));

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

async function keysFound(host: HostStore, text: string, account = ann): Promise<string[]> {
  const filter = { account, documents: ["global"] };
  const asked = { text, from: undefined, limit: undefined };
  const { rows, total } = await host.store.search(account, () =>
    searchMemories(host.store.reader, filter, asked),
  );
  expect(total).toBe(rows.length);
  return rows.map(({ key }) => key).sort();
}

test("a search on PostgreSQL finds what it finds in a file", async () => {
  const host = await (await newDatabase()).open();
  const values = [
    ...fc.sample(texts, { numRuns: 150, seed: 4 }),
    ...SEARCHES.map(([text]) => text),
  ];
  await store(host, values);
  const memories = values.map((value, at) => ({ key: `k${at}`, value }));
  const queries = fc.sample(texts, { numRuns: 80, seed: 5 });
  for (const q of [...queries, ...SEARCHES.map(([, query]) => query)]) {
    const query = fullTextQuery(q);
    const expected = query === undefined ? [] : await matchingTexts(memories, query);
    const keys = await keysFound(host, q);
    expect({ q, keys }).toEqual({ q, keys: expected.map(({ key }) => key).sort() });
  }
});

/** A database whose words are a former release's. */
const FORMER_WORDS = [
  "UPDATE memories SET value_words = ' former ', key_words = ' former '",
  "DROP TRIGGER note_former_words ON memories",
  "DROP FUNCTION note_former_words",
  "DROP TABLE former_words",
  "DELETE FROM schema_migrations WHERE name ~ 'replica-000[56]'",
];

test("a PostgreSQL with words of a former version has them made anew, in parts", async () => {
  const database = await newDatabase();
  const former = await database.open();
  const values = Array.from({ length: 450 }, (_, at) => (at === 449 ? "日本語 v2" : `ё${at}`));
  await store(former, values);
  await runOnPostgres(database.address, ...FORMER_WORDS);
  const host = await database.open();
  expect(await keysFound(host, "former")).toEqual([]);
  expect(await keysFound(host, "本語")).toEqual(["k449"]);
  expect((await keysFound(host, "е")).length).toBe(449);
  expect(await keysFound(host, "k7")).toContain("k7");
  const steps = await runOnPostgres(database.address, "SELECT name FROM schema_migrations");
  expect(steps.map(({ name }) => name)).toContain("replica-0005-words-of-memories");
});

test("words are made anew, whatever becomes of a connection while some are saved", async () => {
  const database = await newDatabase();
  await store(await database.open(), ["日本語"]);
  await runOnPostgres(database.address, ...FORMER_WORDS);
  const way = await openWay(database.address);
  const losing = (statement: string) =>
    way.watch.for(statement, "after", () => {
      way.watch.for("COMMIT", "done", () => {
        way.cut();
        way.mend();
        if (statement.startsWith("UPDATE")) losing("INSERT INTO schema_migrations");
      });
    });
  losing("UPDATE memories SET key_words");
  const host = await openPostgresStore(way.address, realWorld);
  expect(await keysFound(host, "本")).toEqual(["k0"]);
  await host.close();
  way.close();
});

test("what a server of a former release writes meanwhile is found by the present rules", async () => {
  const database = await newDatabase();
  const [host, other] = [await database.open(), await database.open()];
  const values = Array.from({ length: 450 }, (_, at) => (at % 2 ? `Node${at}` : `語${at}`));
  await store(host, values);
  const noted = () => runOnPostgres(database.address, "SELECT row_id FROM former_words");
  // Words by the present rules are noted nowhere.
  expect(await noted()).toEqual([]);
  const former = "UPDATE memories SET value_words = ' former ', key_words = ' former '";
  await runOnPostgres(database.address, former);
  expect(await noted()).toHaveLength(450);
  expect(await keysFound(other, "語")).toHaveLength(225);
  expect(await keysFound(host, "former")).toEqual([]);
  expect(await noted()).toEqual([]);
  // One account's search leaves others' for theirs, or for the sweep, which drops what is gone.
  await runOnPostgres(database.address, former, "INSERT INTO former_words VALUES (999999)");
  expect(await keysFound(host, "former", asAccountId("other"))).toEqual([]);
  expect(await noted()).toHaveLength(451);
  await host.store.sweep();
  expect(await noted()).toEqual([]);
  expect(await keysFound(other, "former")).toEqual([]);
});

test("a memory that is written while its words are made anew is left to its writer", async () => {
  const database = await newDatabase();
  const host = await database.open();
  await store(host, ["one", "two"]);
  await runOnPostgres(database.address, "UPDATE memories SET value_words = ' former '");
  const client = new pg.Client({ connectionString: database.address });
  await client.connect();
  await client.query("BEGIN");
  await client.query("UPDATE memories SET value = 'three' WHERE value = 'one'");
  expect(await keysFound(host, "two")).toEqual(["k1"]);
  await client.query("COMMIT");
  await client.end();
  expect(await keysFound(host, "three")).toEqual(["k0"]);
});

test("a search during which another one gives memories their words finds these", async () => {
  const database = await newDatabase();
  const [host, other] = [await database.open(), await database.open()];
  await store(host, ["語", "two"]);
  await runOnPostgres(database.address, "UPDATE memories SET value_words = ' former '");
  let rewriting: Promise<unknown> | undefined;
  const reader = host.store.reader.withPlugin({
    transformQuery: ({ node }) => node,
    // The other one's comes after the first statement.
    async transformResult({ result }) {
      rewriting ??= keysFound(other, "語");
      await rewriting;
      return result;
    },
  });
  const filter = { account: ann, documents: ["global"] };
  const asked = { text: "語", from: undefined, limit: undefined };
  const found = await host.store.search(ann, () => searchMemories(reader, filter, asked));
  expect(found.rows.map(({ key }) => key)).toEqual(["k0"]);
});

test("a memory that is held while its words are made anew is found once it is not", async () => {
  const database = await newDatabase();
  await store(await database.open(), ["語"]);
  await runOnPostgres(database.address, "UPDATE memories SET value_words = ' former '");
  const way = await openWay(database.address);
  const host = await openPostgresStore(way.address, realWorld);
  const client = new pg.Client({ connectionString: database.address });
  await client.connect();
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM memories FOR UPDATE");
  // What was skipped is counted after that.
  way.watch.for("SELECT row_id FROM memories", "after", () => void client.query("COMMIT"));
  expect(await keysFound(host, "語")).toEqual(["k0"]);
  await client.end();
  await host.close();
  way.close();
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
