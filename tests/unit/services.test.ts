import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import * as Y from "yjs";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { SyncPayload } from "../../shared/wire/sync.ts";
import { failureOf } from "../support/failure.ts";
import { projectId } from "../support/project-id.ts";
import { NOW } from "../support/replicas.ts";
import { inspect } from "../support/stored.ts";
import {
  caller,
  createTestServices,
  EVERYTHING,
  refusal,
  session,
  type TestServices,
} from "../support/test-services.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const A = projectId("a");
const me = caller();
const reader = caller({ canWrite: false, tokenId: "token_reader" });

let served: TestServices;
const made: TestServices[] = [];

beforeEach(async () => {
  served = await createTestServices();
  made.push(served);
});

afterAll(async () => {
  for (const { temp } of made) await temp.remove();
});

function sync(payload: SyncPayload, { createMissing = true, by = me, id = A } = {}) {
  return served.services.sync.apply(by, id, { payload, createMissing });
}

function memories(...pairs: readonly (readonly [string, string])[]): SyncPayload {
  return { memories: pairs.map(([key, value]) => ({ key, value })) };
}

async function updatedAt(): Promise<string> {
  return (await served.services.projects.get(me, A)).project.updated_at;
}

describe("a plain sync", () => {
  test("a plain sync upserts by key, counts, and answers the merged state; absence never deletes", async () => {
    const first = await sync({
      claude_md_content: "one\n",
      metadata: { language: "TypeScript", list: [1, { two: 2 }] },
      ...memories(["a", "1"], ["b", "2"]),
    });
    expect(first).toMatchObject({
      project_id: A,
      claude_md_content: "one\n",
      metadata: { language: "TypeScript", list: [1, { two: 2 }] },
      changes: { created: 2, updated: 0, unchanged: 0 },
    });
    served.temp.world.advance(1000);
    const second = await sync(memories(["b", "3"], ["c", "4"]));
    expect(second).toMatchObject({
      claude_md_content: "one\n",
      metadata: { language: "TypeScript" },
      changes: { created: 1, updated: 1, unchanged: 0 },
    });
    const values = Object.fromEntries(second.memories.map(({ key, value }) => [key, value]));
    expect(values).toEqual({ a: "1", b: "3", c: "4" });
    expect((await sync({})).memories).toEqual(second.memories);
  });

  test("null removes a metadata key, any other value replaces it, the rest stays", async () => {
    await sync({ metadata: { a: 1, b: { deep: true }, c: "x" } });
    const { metadata } = await sync({ metadata: { a: null, b: [null], missing: null } });
    expect(metadata).toEqual({ b: [null], c: "x" });
  });

  test("values equal to what is stored change nothing, not even updated_at", async () => {
    const payload: SyncPayload = {
      claude_md_content: "one\r\ntwo",
      metadata: { a: { x: 1, y: [2] } },
      ...memories(["a", "1"]),
    };
    await sync(payload);
    const [project, [memory]] = [await updatedAt(), await listed()];
    served.temp.world.advance(5000);
    const again = await sync({ ...payload, metadata: { a: { y: [2], x: 1 } } });
    expect(again.changes).toEqual({ created: 0, updated: 0, unchanged: 1 });
    expect(await updatedAt()).toBe(project);
    expect((await listed())[0]).toEqual(memory);
    expect((await inspect(served.temp.store, ({ head }) => head)).seq).toBe(1);
    expect(again.synced_at > project).toBeTrue();
  });

  test("a plain sync keeps the time of creation and moves the time of the change", async () => {
    await sync(memories(["a", "1"]));
    const [before] = await listed();
    served.temp.world.advance(1000);
    await sync(memories(["a", "2"]));
    const [after] = await listed();
    expect(after?.created_at).toBe(before?.created_at ?? "");
    expect(after?.id).toBe(before?.id as never);
    expect(Date.parse(after?.updated_at ?? "") - Date.parse(before?.updated_at ?? "")).toBe(1000);
  });

  test("a plain sync gives every text back, character for character", async () => {
    for (const text of ["", "\n", "a", "\uFEFFa\r\nb", "a\rb\r\r\n", "😀\n\n\n", "a"]) {
      const { claude_md_content: content } = await sync({ claude_md_content: text });
      expect(content).toBe(text);
      expect((await served.services.projects.get(me, A)).claudeMdContent).toBe(text);
    }
  });

  test("a plain sync of an unknown project is a 404, unless it may be made", async () => {
    expect(await refusal(() => sync({}, { createMissing: false }))).toBe("not_found");
    expect((await served.services.projects.list(me, EVERYTHING)).total).toBe(0);
    await sync({});
    expect((await served.services.projects.list(me, EVERYTHING)).total).toBe(1);
  });

  test("a plain sync by a reader is allowed where it changes nothing, and makes no project", async () => {
    await sync(memories(["a", "1"]));
    const same = await sync(memories(["a", "1"]), { by: reader });
    expect(same.changes.unchanged).toBe(1);
    for (const payload of [
      memories(["a", "2"]),
      { metadata: { a: 1 } },
      { claude_md_content: "x" },
      { sessions: [session("one")] },
    ]) {
      expect(await refusal(() => sync(payload, { by: reader }))).toBe("forbidden");
    }
    const making = () => sync({}, { by: reader, id: projectId("other") });
    expect(await refusal(making)).toBe("forbidden");
    const answer = await served.services.sync.read(reader, A);
    expect(answer.memories).toEqual([{ key: "a", value: "1" }]);
    expect([answer.metadata, answer.claude_md_content]).toEqual([{}, ""]);
    expect((await served.services.stats.get(me)).sessions).toBe(0);
  });

  test("a plain sync that goes over a limit changes nothing at all", async () => {
    await sync({ metadata: { big: "x".repeat(40_000) }, ...memories(["a", "1"]) });
    const payload = { metadata: { more: "x".repeat(40_000) }, ...memories(["a", "2"]) };
    expect(await failureOf(() => sync(payload))).toMatchObject({
      code: "invalid_request",
      details: [{ path: "/metadata" }],
    });
    const answer = await served.services.sync.read(me, A);
    expect(answer.memories).toEqual([{ key: "a", value: "1" }]);
    expect(Object.keys(answer.metadata)).toEqual(["big"]);
  });

  test("a plain sync may remove metadata that a merge has taken over the limit", async () => {
    await sync({});
    await served.temp.store.write(async (context) => {
      const { document } = await context.open({ owner: me.account, name: A });
      for (const key of ["a", "b"]) {
        document.setEntry("metadata", key, {
          value: "x".repeat(50_000),
          now: context.now,
        });
      }
    });
    const { metadata } = await sync({ metadata: { a: null } });
    expect(Object.keys(metadata)).toEqual(["b"]);
  });

  test("a plain sync hides what is the program's own", async () => {
    await served.services.projects.put(me, { id: A, name: "Name", claude_md_content: "a\r\nb" });
    const { metadata } = await served.services.sync.read(me, A);
    expect(metadata).toEqual({});
    expect((await served.services.projects.get(me, A)).project.metadata).toEqual({});
  });

  test("a plain sync leaves a conflict alone when its value is equal; a created memory settles it", async () => {
    await sync(memories(["a", "1"]));
    await served.temp.store.write(async (context) => {
      const { document } = await context.open({ owner: me.account, name: A });
      document.setEntry("memories", "a", {
        value: "2",
        now: context.now + 1,
        seen: [],
      });
    });
    const conflicts = () =>
      inspect(served.temp.store, ({ document }) => document.memories.get("a").length);
    expect((await sync(memories(["a", "2"]))).changes.unchanged).toBe(1);
    expect(await conflicts()).toBe(2);
    const request = { content: "2", key: "a", layer: "project", project_id: A } as const;
    await served.services.memories.create(me, request);
    expect(await conflicts()).toBe(1);
  });
});

async function listed() {
  const query = { ...EVERYTHING, projectId: A };
  return (await served.services.memories.list(me, query)).items;
}

describe("putting a project", () => {
  const put = (request: Parameters<TestServices["services"]["projects"]["put"]>[1]) =>
    served.services.projects.put(me, request);

  test("putting a project by id creates it once and then updates it", async () => {
    const first = await put({ id: A, metadata: { a: 1, b: 2 } });
    expect([first.created, first.name, first.id]).toEqual([true, A, A]);
    const second = await put({
      id: A,
      name: "Named",
      metadata: { a: null },
      claude_md_content: "x",
    });
    expect([second.created, second.name, second.metadata]).toEqual([false, "Named", { b: 2 }]);
    const third = await put({ id: A });
    expect([third.created, third.name, third.metadata]).toEqual([false, "Named", { b: 2 }]);
    expect((await served.services.projects.get(me, A)).claudeMdContent).toBe("x");
  });

  test("putting a project by name updates the only one of exactly that name, else creates one", async () => {
    const first = await put({ name: "Name" });
    expect([first.created, first.name]).toEqual([true, "Name"]);
    const second = await put({ name: "Name", metadata: { a: 1 } });
    expect([second.created, second.id, second.metadata]).toEqual([false, first.id, { a: 1 }]);
    expect((await put({ name: "name" })).created).toBeTrue();
    const other = await put({ id: projectId("b"), name: "Name" });
    const ambiguous = await failureOf(() => put({ name: "Name" }));
    expect(ambiguous).toMatchObject({ code: "invalid_request" });
    expect(String(ambiguous)).toContain(first.id);
    expect(String(ambiguous)).toContain(other.id);
  });

  test("putting a project by name finds a project that is called by its id", async () => {
    await put({ id: A });
    expect(await put({ name: A })).toMatchObject({ id: A, created: false });
  });

  test("putting a project by neither is a 400, by a reader a 403", async () => {
    expect(await refusal(() => put({}))).toBe("invalid_request");
    const byReader = () => served.services.projects.put(reader, { id: A });
    expect(await refusal(byReader)).toBe("forbidden");
  });

  test("putting a project with nothing new changes nothing", async () => {
    const first = await put({ id: A, name: "Name", metadata: { a: 1 }, claude_md_content: "x" });
    served.temp.world.advance(1000);
    const again = await put({ id: A, name: "Name", metadata: { a: 1 }, claude_md_content: "x" });
    expect(again).toEqual({ ...first, created: false });
  });
});

describe("a replica exchange", () => {
  test("a replica exchange serves each document by itself and counts as a sync", async () => {
    await sync(memories(["a", "1"]));
    const documents = { project: {}, user: {}, global: {} };
    const options = { createMissing: false };
    const answer = await served.services.sync.exchange(me, A, { documents, ...options });
    expect(answer.documents.project).toMatchObject({ seq: 1 });
    expect(answer.documents.user).toEqual({ epoch: "", seq: 0 });
    expect((await served.services.stats.get(me)).syncs.total).toBe(2);
  });

  test("a replica exchange without a project serves user and global alone", async () => {
    const documents = { project: {}, user: {}, global: {} };
    const options = { createMissing: true };
    const answer = await served.services.sync.exchange(me, null, { documents, ...options });
    expect(Object.keys(answer.documents).sort()).toEqual(["global", "user"]);
  });

  test("a replica exchange forbids user and global to a token that is bound to projects", async () => {
    await sync({});
    const bound = caller({ boundTo: [A] });
    const documents = { project: {}, user: {}, global: {} };
    const options = { createMissing: false };
    const answer = await served.services.sync.exchange(bound, A, { documents, ...options });
    expect(answer.documents).toMatchObject({
      user: { forbidden: true },
      global: { forbidden: true },
    });
    expect(answer.documents.project).toHaveProperty("epoch");
  });

  test("an exchange with one bad update writes the good ones", async () => {
    const good = foreignUpdate();
    const bad = Uint8Array.of(1, 2, 3);
    const documents = { project: { update: bad }, global: { update: good } };
    const options = { createMissing: true };
    const answer = await served.services.sync.exchange(me, A, { documents, ...options });
    expect(answer.documents.project).toHaveProperty("refused");
    expect(answer.documents.global).toMatchObject({ seq: 1 });
    const { memories: counted } = await served.services.stats.get(me);
    expect(counted).toEqual({ total: 1, project: 0, user: 0, global: 1 });
  });
});

/** The update of another replica that has written one memory. */
function foreignUpdate(): Uint8Array {
  const document = new ReplicaDocument([], 77);
  document.setEntry("memories", "a", { value: "1", now: NOW });
  return Y.encodeStateAsUpdate(document.ydoc);
}
