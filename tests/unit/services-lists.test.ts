import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { LIMITS } from "../../shared/limits.ts";
import { fullTextQuery } from "../../shared/replica/search/full-text.ts";
import type { Project } from "../../shared/wire/project.ts";
import { projectId } from "../support/project-id.ts";
import { checkFullText } from "../support/stored.ts";
import {
  caller,
  createTestServices,
  EVERYTHING,
  refusal,
  session,
} from "../support/test-services.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const [A, B] = [projectId("a"), projectId("b")];
const me = caller();

let { services, temp, counts } = await createTestServices();
const made = [temp];

beforeEach(async () => {
  ({ services, temp, counts } = await createTestServices());
  made.push(temp);
});

afterAll(async () => {
  for (const each of made) await each.remove();
});

function write(pairs: Readonly<Record<string, string>>, id = A) {
  const memories = Object.entries(pairs).map(([key, value]) => ({ key, value }));
  return services.sync.apply(me, id, { payload: { memories }, createMissing: true });
}

async function found(q: string): Promise<string[]> {
  const query = { ...EVERYTHING, projectId: A, q };
  const { items, total, nextCursor } = await services.memories.list(me, query);
  expect([total, nextCursor]).toEqual([items.length, null]);
  return items.map(({ key }) => key).sort();
}

interface PageOf<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly nextCursor: string | null;
}

/** Walks all pages of a list and calls `between` after each. */
async function walk<Item>(
  page: (request: { limit: number; cursor: string | undefined }) => Promise<PageOf<Item>>,
  limit: number,
  between: (round: number) => Promise<unknown> = async () => undefined,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let round = 0; round < 1000; round++) {
    const answer = await page({ limit, cursor });
    expect(answer.items.length).toBeLessThanOrEqual(limit);
    items.push(...answer.items);
    if (answer.nextCursor === null) return items;
    cursor = answer.nextCursor;
    await between(round);
  }
  throw new Error("the pages do not come to an end");
}

describe("search", () => {
  test("search finds every word, in keys and values, in any case, and parts at punctuation", async () => {
    await write({ style: "Use TABS here", "test-runner": "bun test", other: "spaces" });
    expect(await found("tabs")).toEqual(["style"]);
    expect(await found("here use")).toEqual(["style"]);
    expect(await found("runner")).toEqual(["test-runner"]);
    expect(await found("test-runner")).toEqual(["test-runner"]);
    expect(await found("tabs spaces")).toEqual([]);
    expect(await found("xtab")).toEqual([]);
  });

  test("search takes a word for the beginning of one, but not a single letter or digit", async () => {
    await write({
      schema: "the migrations of PostgreSQL",
      c: "C and 2fa",
      at: "24 o'clock",
      猫: "ねこ",
    });
    expect(await found("migrat postgres")).toEqual(["schema"]);
    expect(await found("igrations")).toEqual([]);
    expect(await found("p")).toEqual([]);
    expect(await found("c")).toEqual(["c"]);
    expect(await found("2")).toEqual(["c"]);
    expect(await found("24")).toEqual(["at"]);
    expect(await found("2f")).toEqual(["c"]);
    expect(await found("ね")).toEqual(["猫"]);
  });

  test("search takes no regard of accents, two on one letter included, composed or not", async () => {
    await write({ a: "Tiếng Việt", b: "Tiếng Việt".normalize("NFD"), c: "café ÉTÉ" });
    for (const q of ["viet", "Việt", "tieng việt".normalize("NFD"), "TIẾNG"]) {
      expect([q, await found(q)]).toEqual([q, ["a", "b"]]);
    }
    expect(await found("cafe été")).toEqual(["c"]);
  });

  test("search takes as many words as a query holds", async () => {
    const words = Array.from({ length: 170 }, (_, at) => String(at + 100))
      .join(" ")
      .slice(0, 512);
    await write({ all: words, one: "100" });
    expect(await found(words)).toEqual(["all"]);
  });

  test("search takes operators and quotes for words, whatever they are", async () => {
    await write({
      a: "cats AND dogs",
      b: "cats",
      c: 'say "hello" NEAR me',
      d: "it's 100% key:value*",
    });
    expect(await found("cats AND dogs")).toEqual(["a"]);
    expect(await found("cats OR dogs")).toEqual([]);
    expect(await found("cats NOT dogs")).toEqual([]);
    expect(await found('"hello"')).toEqual(["c"]);
    expect(await found("NEAR(hello me)")).toEqual([]);
    expect(await found("key:value")).toEqual(["d"]);
    expect(await found("value:cats")).toEqual([]);
    expect(await found("cat*")).toEqual(["a", "b"]);
    expect(await found('ca" OR "do')).toEqual([]);
    expect(await found("^cats")).toEqual(["a", "b"]);
    expect(await found('" OR 1=1 --')).toEqual([]);
    for (const nothing of ["", " ", '"', "*", "()", "---", '""', "' '"]) {
      expect(await found(nothing)).toEqual([]);
    }
  });

  test("search never fails and never looks elsewhere, whatever is asked", async () => {
    await write({ a: "cats and dogs" });
    await write({ secret: "cats and dogs" }, B);
    const special = fc.constantFrom(
      '"',
      "'",
      "*",
      "(",
      ")",
      "-",
      ":",
      "^",
      "+",
      "{",
      "}",
      "NEAR",
      "OR",
    );
    const words = fc.constantFrom("cats", "dogs", "AND", "key", "value", " ", "\\", "\u0301", "😀");
    const query = fc.oneof(
      fc.array(fc.oneof(special, words)).map((parts) => parts.join("")),
      fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.replaceAll("\0", "")),
    );
    await fc.assert(
      fc.asyncProperty(query, async (q) => {
        expect(["", "a"]).toContain((await found(q)).join());
        expect(fullTextQuery(q) ?? '""').toMatch(/^\(?"[\s\S]*"( \*\))?$/);
      }),
      { numRuns: 500 },
    );
  });

  test("search follows every change", async () => {
    await write({ a: "cats" });
    await write({ a: "dogs", b: "cats" });
    expect([await found("cats"), await found("dogs")]).toEqual([["b"], ["a"]]);
    const { items } = await services.memories.list(me, { ...EVERYTHING, projectId: A, q: "dogs" });
    for (const { id } of items) await services.memories.remove(me, id);
    expect(await found("dogs")).toEqual([]);
    await checkFullText(temp);
  });

  test("search gives the best match first", async () => {
    const noise = `cats ${"and many other words besides ".repeat(20)}`;
    await write({ long: noise, short: "cats cats", other: "dogs" });
    const query = { ...EVERYTHING, projectId: A, q: "cats" };
    const { items } = await services.memories.list(me, query);
    expect(items.map(({ key }) => key)).toEqual(["short", "long"]);
  });

  test("search puts the word before what begins with it, and the key before the value", async () => {
    await write({ a: "the categories of it all", b: "the cat of it", "cat-food": "where it is" });
    const query = { ...EVERYTHING, projectId: A, q: "cat" };
    const { items } = await services.memories.list(me, query);
    expect(items.map(({ key }) => key)).toEqual(["cat-food", "b", "a"]);
  });
});

describe("pages", () => {
  /** Keys and contents of many memories, several of each moment. */
  async function fill(count: number): Promise<string[]> {
    const keys = Array.from({ length: count }, (_, at) => `old-${at}`);
    for (let at = 0; at < count; at += 7) {
      const some = keys.slice(at, at + 7).map((key) => [key, `words ${"x ".repeat(at)} words`]);
      await write(Object.fromEntries(some));
      temp.world.advance(1);
    }
    return keys.sort();
  }

  const list = (change: object) =>
    services.memories.list(me, { ...EVERYTHING, projectId: A, ...change });

  test("pages of memories show each once, oldest first, and the total of all", async () => {
    const keys = await fill(50);
    for (const limit of [1, 7, 49, 50, 1000]) {
      const items = await walk((page) => list(page), limit);
      expect(items.map(({ key }) => key).sort()).toEqual(keys);
      const times = items.map(({ created_at: at }) => at);
      expect(times).toEqual([...times].sort());
    }
    const first = await list({ limit: 10 });
    expect([first.total, first.items.length]).toEqual([50, 10]);
    const rest = await list({ cursor: first.nextCursor ?? undefined });
    expect([rest.total, rest.items.length, rest.nextCursor]).toEqual([50, 40, null]);
  });

  test("pages of memories and of finds show every old one exactly once while others are written", async () => {
    const old = await fill(60);
    for (const q of [undefined, "words"]) {
      const items = await walk(
        (page) => list({ ...page, q }),
        7,
        async (round) => {
          const key = `new-${q}-${round}`;
          await write({ [key]: `words ${"words ".repeat(round)}`, [`z${key}`]: "other things" });
          temp.world.advance(1);
        },
      );
      const keys = items.map(({ key }) => key).filter((key) => key.startsWith("old-"));
      expect(keys.sort()).toEqual(old);
    }
  });

  test("pages of finds go on where the memory that ended the last one is gone", async () => {
    const old = await fill(20);
    const first = await list({ limit: 10, q: "words" });
    const last = first.items.at(-1);
    if (last) await services.memories.remove(me, last.id);
    const cursor = first.nextCursor ?? undefined;
    const rest = await list({ limit: 100, cursor, q: "words" });
    const keys = [...first.items, ...rest.items].map(({ key }) => key);
    expect(keys.sort()).toEqual(old);
  });

  test("pages of projects and sessions show every old one exactly once while others come", async () => {
    const ids = Array.from({ length: 20 }, (_, at) => projectId(`p${String(at).padStart(2, "0")}`));
    for (const [at, id] of ids.entries()) {
      if (at % 3 === 0) temp.world.advance(1);
      const upload = session(id, { last_activity_at: `2026-01-01T00:00:0${at % 4}.000Z` });
      await services.sync.apply(me, id, { payload: { sessions: [upload] }, createMissing: true });
    }
    const projects = await walk(
      (page) => services.projects.list(me, page),
      3,
      async (round) => {
        temp.world.advance(1);
        await services.projects.put(me, { id: projectId(`new${round}`) });
      },
    );
    const old = projects.map(({ id }: Project) => id).filter((id) => !id.includes("new"));
    expect(old).toEqual(ids);
    const query = { ...EVERYTHING, projectId: undefined };
    const sessions = await walk(
      (page) => services.sessions.list(me, { ...query, ...page }),
      3,
      async (round) => {
        const newest = session(`new${round}`, { last_activity_at: "2026-02-01T00:00:00.000Z" });
        await services.sync.apply(me, A, { payload: { sessions: [newest] }, createMissing: true });
      },
    );
    expect(sessions.length).toBe(20);
    const times = sessions.map(({ last_activity_at: at }) => at);
    expect(times).toEqual([...times].sort().reverse());
  });

  test("refuse a cursor that they have not given", async () => {
    await fill(3);
    for (const cursor of ["", "x", "W10", "bnVsbA", "WzEsMl0", "😀"]) {
      for (const call of [
        () => list({ cursor }),
        () => services.projects.list(me, { limit: 1, cursor }),
        () => services.sessions.list(me, { ...EVERYTHING, cursor }),
      ]) {
        expect(await refusal(call)).toBe("invalid_request");
      }
    }
  });
});

describe("connections", () => {
  const pair = { project_id: A, target_project_id: B };
  const connectedTo = async (id = A) =>
    (await services.projects.get(me, id)).project.connected_project_ids;

  test("connections are symmetric, idempotent and undone from either side", async () => {
    await write({ a: "1" });
    await write({ b: "2" }, B);
    const first = await services.connections.connect(me, pair);
    expect(first).toMatchObject({ project_ids: [A, B], connected: true });
    temp.world.advance(1000);
    const reversed = { project_id: B, target_project_id: A };
    const again = await services.connections.connect(me, reversed);
    expect(again).toEqual({ ...first, project_ids: [B, A] });
    expect([await connectedTo(A), await connectedTo(B)]).toEqual([[B], [A]]);
    const { connected } = await services.projects.get(me, A);
    expect(connected).toEqual([{ id: B, name: B, memories: [{ key: "b", value: "2" }] }]);
    expect((await services.stats.get(me)).connections).toBe(1);
    const undone = await services.connections.disconnect(me, reversed);
    expect(undone).toMatchObject({ connected: false, created_at: first.created_at });
    await services.connections.disconnect(me, pair);
    expect([await connectedTo(A), await connectedTo(B)]).toEqual([[], []]);
  });

  test("connections of an unknown project are a 404, over the limit a 400", async () => {
    await write({});
    const unknown = () => services.connections.connect(me, pair);
    expect(await refusal(unknown)).toBe("not_found");
    const others = Array.from({ length: LIMITS.connectionsPerProject + 1 }, (_, at) => {
      return projectId(`other${at}`);
    });
    for (const id of others) await services.projects.put(me, { id });
    for (const id of others.slice(1)) {
      await services.connections.connect(me, { project_id: id, target_project_id: A });
    }
    const [last = A, known = A] = others;
    for (const request of [
      { project_id: A, target_project_id: last },
      { project_id: last, target_project_id: A },
    ]) {
      const over = () => services.connections.connect(me, request);
      expect(await refusal(over)).toBe("invalid_request");
    }
    await services.connections.connect(me, { project_id: A, target_project_id: known });
  });
});

describe("sessions", () => {
  test("sessions are upserted by id, move with their project, and come newest activity first", async () => {
    const upload = (id = A, ...sessions: ReturnType<typeof session>[]) =>
      services.sync.apply(me, id, { payload: { sessions }, createMissing: true });
    const at = (day: number) => ({ last_activity_at: `2026-01-0${day}T00:00:00.000Z` });
    await upload(A, session("one", at(1)), session("two", at(3)), session("three", at(2)));
    await upload(B, session("four", at(4)));
    const ids = async (id?: typeof A) => {
      const query = { ...EVERYTHING, projectId: id };
      return (await services.sessions.list(me, query)).items.map((each) => each.id.slice(5));
    };
    expect(await ids()).toEqual(["four", "two", "three", "one"]);
    expect(await ids(A)).toEqual(["two", "three", "one"]);
    await upload(B, session("one", { ...at(5), title: "Title", message_count: 7 }));
    expect(await ids()).toEqual(["one", "four", "two", "three"]);
    expect(await ids(A)).toEqual(["two", "three"]);
    expect(await services.sessions.get(me, session("one").id)).toMatchObject({
      project_id: B,
      title: "Title",
      message_count: 7,
    });
    const unknown = () => services.sessions.get(me, session("unknown").id);
    expect(await refusal(unknown)).toBe("not_found");
  });
});

describe("stats", () => {
  test("stats count what is there", async () => {
    expect(await services.stats.get(me)).toMatchObject({
      plan: "pro",
      projects: 0,
      connections: 0,
      memories: { total: 0, project: 0, user: 0, global: 0 },
      sessions: 0,
      storage_bytes: 0,
      syncs: { total: 0, last_synced_at: null },
    });
    await write({ a: "é", b: "22" });
    temp.world.advance(1000);
    await services.sync.apply(me, B, {
      payload: { claude_md_content: "text" },
      createMissing: true,
    });
    await services.memories.create(me, { content: "12345", layer: "user", key: "k" });
    (await counts.quotaOf(me)).charge();
    const stats = await services.stats.get(me);
    expect(stats).toMatchObject({
      projects: 2,
      memories: { total: 3, project: 2, user: 1, global: 0 },
      storage_bytes: 3 + 3 + 4 + 6,
      syncs: { total: 2, last_synced_at: "2026-01-01T00:00:01.000Z" },
      requests: {
        minute: { limit: null, used: 1, remaining: null },
        day: { limit: null, used: 1, remaining: null, resets_at: "2026-01-02T00:00:00.000Z" },
      },
    });
  });
});
