import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import * as Y from "yjs";
import { startEmulator } from "../../server/emulator/start-emulator.ts";
import { KeptPages } from "../../server/services/kept-pages.ts";
import type { MemoryQuery, Page } from "../../server/services/services.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { connect } from "../../shared/sqlite/connect-bun.ts";
import type { Memory } from "../../shared/wire/memory.ts";
import { projectId } from "../support/project-id.ts";
import { caller, createTestServices, EVERYTHING } from "../support/test-services.ts";

const [A, B] = [projectId("a"), projectId("b")];
const me = caller();

let { services, temp } = await createTestServices();
const made = [temp];

beforeEach(async () => {
  ({ services, temp } = await createTestServices());
  made.push(temp);
});

afterAll(async () => {
  for (const each of made) await each.remove();
});

function list(query: Partial<MemoryQuery> = {}, by = me): Promise<Page<Memory>> {
  return services.memories.list(by, { ...EVERYTHING, ...query });
}

async function contents(query: Partial<MemoryQuery> = {}, by = me): Promise<string[]> {
  return (await list(query, by)).items.map(({ content }) => content);
}

/** A plain sync of one memory, after which its project is the token's current one. */
async function sync(id: typeof A, value: string, by = me): Promise<void> {
  const payload = { memories: [{ key: "key", value }] };
  await services.sync.apply(by, id, { payload, createMissing: true });
}

function create(content: string, layer: "user" | "global", by = me): Promise<Memory> {
  return services.memories.create(by, { content, layer, key: layer });
}

describe("a list of memories", () => {
  test("a list of memories is the same object again while nothing is written", async () => {
    await sync(A, "one");
    expect(await list()).toBe(await list());
    expect(await list({ limit: 1 })).toBe(await list({ limit: 1 }));
    expect(await list({ limit: 1 })).not.toBe(await list());
  });

  test("a list of memories stays the same when another account or another project is written", async () => {
    await sync(B, "elsewhere");
    await sync(A, "one");
    const before = await list();
    await sync(A, "theirs", caller({ account: "acct_other", tokenId: "token_other" }));
    const request = { content: "more", layer: "project", key: "more", project_id: B } as const;
    await services.memories.create(me, request);
    expect(await list()).toBe(before);
  });
});

describe("a read after an acknowledged write shows it, when the write was", () => {
  test("a list shows a memory that was created, and not one that was removed", async () => {
    await sync(A, "one");
    for (const layer of ["user", "global"] as const) {
      const before = await contents();
      const { id } = await create("first", layer);
      expect(await contents()).toEqual([...before, "first"]);
      await create("second", layer);
      expect(await contents()).toEqual([...before, "second"]);
      await services.memories.remove(me, id);
      expect(await contents()).toEqual(before);
    }
  });

  test("a list shows what a plain sync by any token of the account wrote", async () => {
    await sync(A, "one");
    expect(await contents()).toEqual(["one"]);
    await sync(A, "two", caller({ tokenId: "token_2" }));
    expect(await contents()).toEqual(["two"]);
  });

  test("a list shows what came by a replica exchange", async () => {
    await sync(A, "one");
    expect(await contents()).toEqual(["one"]);
    const replica = new ReplicaDocument([], 77);
    replica.setEntry("memories", "pushed", { value: "two", now: temp.world.now() });
    const documents = { project: { update: Y.encodeStateAsUpdate(replica.ydoc) } };
    await services.sync.exchange(me, A, { documents, createMissing: false });
    expect((await contents()).sort()).toEqual(["one", "two"]);
  });

  test("a change to the document that came from no service", async () => {
    await sync(A, "one");
    expect(await contents()).toEqual(["one"]);
    await temp.store.write(async (context) => {
      const open = await context.open({ owner: me.account, name: A });
      open.document.setEntry("memories", "key", { value: "two", now: context.now });
    });
    expect(await contents()).toEqual(["two"]);
  });

  test("taken back out of a document that is made anew", async () => {
    await sync(A, "one");
    const update = await temp.store.write(async (context) => {
      const { document } = await context.open({ owner: me.account, name: A });
      return Y.encodeStateAsUpdate(document.ydoc);
    });
    await sync(A, "two");
    expect(await contents()).toEqual(["two"]);
    await temp.store.write(async (context) => {
      await context.rebuild(await context.open({ owner: me.account, name: A }), update);
    });
    expect(await contents()).toEqual(["one"]);
  });

  test("one of many among as many reads", async () => {
    await sync(A, "0");
    for (let write = 1; write <= 100; write++) {
      const reads = [list(), list()];
      const acknowledged = sync(A, String(write)).then(() => contents());
      expect(await acknowledged).toEqual([String(write)]);
      await Promise.all(reads);
    }
  });

  test("a write is seen that was committed while the page before it was being read", async () => {
    await sync(A, "one");
    const pages = new KeptPages();
    const ask = (make: () => Promise<Page<Memory>>) =>
      pages.get(
        temp.store.reader,
        { account: me.account, documents: [A] },
        { request: EVERYTHING, make },
      );
    await ask(async () => {
      const before = await list();
      await sync(A, "two");
      return before;
    });
    expect((await ask(() => list())).items).toMatchObject([{ content: "two" }]);
  });

  test("a write is seen that another process committed", async () => {
    await sync(A, "one");
    expect(await list()).toBe(await list());
    const other = connect(temp.path, { readonly: false });
    other.prepare("UPDATE epochs SET epoch = 'theirs'").run([]);
    other.prepare("UPDATE memories SET value = 'two'").run([]);
    other.close();
    expect(await contents()).toEqual(["two"]);
  });

  test("a write is seen that was committed before a page that is older was kept in its place", async () => {
    await sync(A, "one");
    const pages = new KeptPages();
    const filter = { account: me.account, documents: [A] };
    const ask = (make: () => Promise<Page<Memory>>) =>
      pages.get(temp.store.reader, filter, { request: EVERYTHING, make });
    const version = temp.store.version;
    const [newer, older] = [await list({ limit: 1 }), await list({ limit: 2 })];
    await ask(async () => newer);
    await temp.store.write(async ({ db }) => {
      await db.updateTable("epochs").set({ epoch: "later" }).execute();
    });
    await ask(async () => older);
    pages.remember(version, "question", { filter, request: EVERYTHING, page: newer });
    expect(pages.find(version, "question")).toBeUndefined();
    pages.remember(version, "question", { filter, request: EVERYTHING, page: older });
    expect(pages.find(version, "question")).toBe(older);
    expect(pages.find(temp.store.version, "question")).toBeUndefined();
  });

  test("a restore of the database, which begins an epoch", async () => {
    await sync(A, "one");
    const before = await list();
    await temp.store.write(async ({ db }) => {
      await db.updateTable("epochs").set({ epoch: "restored" }).execute();
      await db.updateTable("memories").set({ value: "two" }).execute();
    });
    expect((await list()).items).not.toEqual(before.items);
  });
});

describe("what a list looks in is decided at each use", () => {
  test("each asker gets what it may see, while nothing is written", async () => {
    await sync(B, "in b");
    await sync(A, "in a");
    await create("mine", "user");
    const bound = caller({ tokenId: "token_bound", boundTo: [B] });
    const nowhere = caller({ tokenId: "token_nowhere", boundTo: [] });
    const colleague = caller({ user: "user_colleague", tokenId: "token_colleague" });
    for (let round = 0; round < 2; round++) {
      expect(await contents()).toEqual(["in a", "mine"]);
      expect(await contents({}, bound)).toEqual(["in b"]);
      expect(await contents({}, nowhere)).toEqual([]);
      expect(await contents({}, colleague)).toEqual(["in a"]);
      expect(await contents({ projectId: B })).toEqual(["in b", "mine"]);
      expect(await contents({ headerProjectId: B })).toEqual(["in b", "mine"]);
      expect(await contents({ layer: "user" })).toEqual(["mine"]);
      expect((await list({ limit: 1 })).nextCursor).not.toBeNull();
    }
  });

  test("the current project changes with a plain sync, and for its token alone", async () => {
    const other = caller({ tokenId: "token_2" });
    await sync(A, "in a");
    await sync(B, "in b", other);
    expect(await contents()).toEqual(["in a"]);
    expect(await contents({}, other)).toEqual(["in b"]);
    await sync(B, "in b");
    expect(await contents()).toEqual(["in b"]);
  });

  test("the account's most recently synced project changes with any sync", async () => {
    const fresh = caller({ tokenId: "token_fresh" });
    await sync(A, "in a");
    expect(await contents({}, fresh)).toEqual(["in a"]);
    temp.world.advance(1000);
    await sync(B, "in b");
    expect(await contents({}, fresh)).toEqual(["in b"]);
  });

  test("project_id comes before X-Project-Id, and each before the current one", async () => {
    await sync(A, "in a");
    await sync(B, "in b");
    expect(await contents()).toEqual(["in b"]);
    expect(await contents({ headerProjectId: A })).toEqual(["in a"]);
    expect(await contents({ headerProjectId: A, projectId: B })).toEqual(["in b"]);
  });

  test("nobody is given another's page", async () => {
    await sync(A, "in a");
    await sync(B, "in b");
    await create("mine", "user");
    await create("all's", "global");
    expect(await contents({ projectId: A })).toEqual(["in a", "mine", "all's"]);
    const bound = caller({ tokenId: "token_bound", boundTo: [A] });
    expect(await contents({ projectId: A }, bound)).toEqual(["in a"]);
    await expect(contents({ projectId: B }, bound)).rejects.toMatchObject({ code: "forbidden" });
    const colleague = caller({ user: "user_2", tokenId: "token_2" });
    expect(await contents({ projectId: A }, colleague)).toEqual(["in a", "all's"]);
    const stranger = caller({ account: "acct_other", tokenId: "token_other" });
    await expect(contents({ projectId: A }, stranger)).rejects.toMatchObject({ code: "not_found" });
    await sync(A, "theirs", stranger);
    expect(await contents({ projectId: A }, stranger)).toEqual(["theirs"]);
    expect(await contents({ projectId: A })).toEqual(["in a", "mine", "all's"]);
  });
});

describe("over HTTP, in memory", () => {
  test("an answer comes again with its tag, and with the headers of its own request", async () => {
    const emulator = await startEmulator();
    const headers = { Authorization: `Bearer ${emulator.token}` };
    const url = `${emulator.url}/v1/memories`;
    const write = (content: string) => {
      const body = JSON.stringify({ content, layer: "user", key: "key" });
      return fetch(url, { method: "POST", headers, body });
    };
    try {
      await write("one");
      const [first, second] = [await fetch(url, { headers }), await fetch(url, { headers })];
      expect(await second.text()).toBe(await first.text());
      expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
      expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
      const tag = String(first.headers.get("etag"));
      const known = { ...headers, "If-None-Match": tag };
      expect((await fetch(url, { headers: known })).status).toBe(304);
      await write("two");
      const changed = await fetch(url, { headers: known });
      expect(changed.status).toBe(200);
      expect(await changed.json()).toMatchObject({ memories: [{ content: "two" }] });
    } finally {
      await emulator.close();
    }
  });
});

describe("kept pages are bounded", () => {
  const filter = { account: me.account, documents: [A] };

  function pageOf(contentBytes: number): Page<Memory> {
    const memory = { key: "key", content: "x".repeat(contentBytes) } as Memory;
    return { items: [memory], total: 1, nextCursor: null };
  }

  /** Asks for a page of each cursor, and returns how many of them come again. */
  async function keptOf(count: number, contentBytes: number): Promise<number> {
    const pages = new KeptPages();
    const ask = (cursor: string) => {
      const page = { limit: undefined, cursor };
      return pages.get(temp.store.reader, filter, {
        request: page,
        make: async () => pageOf(contentBytes),
      });
    };
    const first = new Map<string, Page<Memory>>();
    for (let at = 0; at < count; at++) first.set(String(at), await ask(String(at)));
    let kept = 0;
    for (const [cursor, page] of [...first].reverse()) {
      if ((await ask(cursor)) !== page) break;
      kept += 1;
    }
    return kept;
  }

  test("kept pages are bounded in number, the ones unused longest going first", async () => {
    expect(await keptOf(600, 10)).toBe(512);
  });

  test("kept pages are bounded in bytes, and one of over a quarter is only shared while somebody has it", async () => {
    expect(await keptOf(100, 200_000)).toBe(20);
    // More than there is room for, and the test has them all.
    expect(await keptOf(10, 2_000_000)).toBe(10);
  });
});
