import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync } from "node:fs";
import fc from "fast-check";
import * as Y from "yjs";
import { LIMITS } from "../../shared/limits.ts";
import { removeMemory } from "../../shared/replica/document/memory-deletion.ts";
import { nameMachine } from "../../shared/replica/log/machines.ts";
import { deletedIn } from "../../shared/replica/text/id-ranges.ts";
import { ExchangeClient, serve, served } from "../support/exchange-client.ts";
import { failureOf } from "../support/failure.ts";
import { anyEdit, applyEdit, NOW, viewOf } from "../support/replicas.ts";
import { address, inspect, memoriesOf, setMemory } from "../support/stored.ts";
import { createTempStore, type Store, storesOfTests } from "../support/temp-store.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const newStore = storesOfTests();

function set(client: ExchangeClient, key: string, value: string, now = NOW): void {
  client.document.setEntry("memories", key, { value, now });
}

function serverView(store: Store) {
  return inspect(store, ({ document }) => viewOf(document));
}

function headOf(store: Store) {
  return inspect(store, ({ head }) => ({ ...head }));
}

describe("positions", () => {
  test("a document that does not exist is at no epoch and 0, and is not made by asking", async () => {
    const { store } = await newStore();
    const nothing = { epoch: "", seq: 0 };
    expect(await serve(store, {})).toEqual(nothing);
    expect(await serve(store, { position: nothing })).toEqual(nothing);
    const stateVector = Y.encodeStateVector(new Y.Doc());
    expect(await serve(store, { stateVector })).toEqual(nothing);
    expect(await store.reader.selectFrom("documents").selectAll().execute()).toEqual([]);
  });

  test("first contact brings the whole document and the head", async () => {
    const { store } = await newStore();
    await setMemory(store, "a", "1");
    await setMemory(store, "b", "2");
    for (const request of [{}, { position: { epoch: "", seq: 0 } }]) {
      const client = new ExchangeClient(7);
      expect(client.take(await serve(store, request))).toBeFalse();
      expect(client.position).toEqual({ epoch: "epoch-1", seq: 2 });
      expect(viewOf(client.document)).toEqual(await serverView(store));
    }
  });

  test("later exchanges bring the rows after the position, and nothing when there are none", async () => {
    const { store } = await newStore();
    const client = new ExchangeClient(7);
    for (let at = 0; at < 50; at++) await setMemory(store, `key-${at}`, "v".repeat(1000));
    await client.sync(store);
    expect(await serve(store, client.request())).toEqual({ epoch: "epoch-1", seq: 50 });
    await setMemory(store, "key-0", "new");
    const answer = served(await serve(store, client.request()));
    expect(answer.update?.length).toBeLessThan(200);
    client.take(answer);
    expect(viewOf(client.document)).toEqual(await serverView(store));
  });

  test("nobody is sent the rows that it brought itself", async () => {
    const { store } = await newStore();
    const client = new ExchangeClient(7);
    await client.sync(store);
    set(client, "a", "1");
    const answer = served(await serve(store, client.request()));
    expect(answer).toEqual({ epoch: "epoch-1", seq: 1 });
    client.take(answer);
    expect(await serve(store, client.request())).toEqual({ epoch: "epoch-1", seq: 1 });
  });

  test("a push over rows of others gets exactly those", async () => {
    const { store } = await newStore();
    const [one, other] = [new ExchangeClient(7), new ExchangeClient(8)];
    await one.sync(store);
    await other.sync(store);
    set(one, "a", "1");
    await one.sync(store);
    set(other, "b", "2");
    const answer = served(await serve(store, other.request()));
    expect(answer.seq).toBe(2);
    const clients = Y.decodeUpdate(answer.update ?? new Uint8Array()).structs;
    expect(new Set(clients.map(({ id }) => id.client))).toEqual(new Set([7]));
  });

  test("any request may be repeated: the log does not grow and the client ends up equal", async () => {
    const { store } = await newStore();
    const client = new ExchangeClient(7);
    await setMemory(store, "a", "1");
    await client.sync(store);
    set(client, "b", "2");
    const request = client.request();
    const first = served(await serve(store, request));
    for (let repetition = 0; repetition < 3; repetition++) {
      const again = served(await serve(store, request));
      expect([again.epoch, again.seq]).toEqual([first.epoch, first.seq]);
      client.take(again);
    }
    client.take(first);
    expect((await headOf(store)).seq).toBe(2);
    expect(viewOf(client.document)).toEqual(await serverView(store));
  });

  test("an epoch that is not the one of that row is a position that was never reached", async () => {
    const { store } = await newStore();
    await setMemory(store, "a", "1");
    for (const position of [
      { epoch: "epoch-0", seq: 1 },
      { epoch: "epoch-1", seq: 2 },
      { epoch: "", seq: 1 },
    ]) {
      const answer = served(await serve(store, { position }));
      expect(answer.reset).toBeTrue();
      expect(answer.update).toBeUndefined();
      expect(answer.stateVector).toBeDefined();
    }
  });

  test("a position from before a restart goes on", async () => {
    const temp = await newStore();
    const client = new ExchangeClient(7);
    await setMemory(temp.store, "a", "1");
    await client.sync(temp.store);
    await temp.reopen();
    await setMemory(temp.store, "b", "2");
    const answer = served(await serve(temp.store, client.request()));
    expect(answer.reset).toBeUndefined();
    expect([answer.epoch, answer.seq]).toEqual(["epoch-2", 2]);
    client.take(answer);
    expect(viewOf(client.document)).toEqual(await serverView(temp.store));
  });

  test("rows that were compacted away are made up for by the whole document", async () => {
    const { store } = await newStore();
    const client = new ExchangeClient(7);
    await setMemory(store, "k", "first");
    await client.sync(store);
    const writes = Array.from({ length: 1536 }, (_, at) => `value ${at}`);
    await Promise.all(writes.map((value) => setMemory(store, "k", value)));
    const kept = await store.reader
      .selectFrom("updates")
      .select((select) => select.fn.min("seq").as("first"))
      .executeTakeFirst();
    expect(kept?.first).toBeGreaterThan(2);
    set(client, "mine", "1");
    expect(await client.sync(store)).toBe(1);
    expect(viewOf(client.document)).toEqual(await serverView(store));
  });

  // The row that the client brings is the last before a snapshot, the one with it, and the next.
  for (const row of [1535, 1536, 1537]) {
    test(`the whole document comes without what its client brings, as row ${row}`, async () => {
      const { store } = await newStore();
      const client = new ExchangeClient(7);
      await setMemory(store, "k", "first");
      await client.sync(store);
      const writes = Array.from({ length: row - 2 }, (_, at) => `value ${at}`);
      await Promise.all(writes.map((value) => setMemory(store, "k", value)));
      const before = await inspect(store, ({ document }) => Y.encodeStateVector(document.ydoc));
      set(client, "mine", "1");
      client.document.deleteEntry("memories", "mine");
      set(client, "mine", "2");
      const answer = served(await serve(store, client.request()));
      expect(answer.seq).toBe(row);
      const { update = new Uint8Array() } = answer;
      expect(Y.encodeStateVectorFromUpdate(update)).toEqual(before);
      expect([...deletedIn(update).keys()]).not.toContain(7);
      client.take(answer);
      expect(viewOf(client.document)).toEqual(await serverView(store));
      // Without anything to bring it is the same document.
      const reader = new ExchangeClient(8);
      reader.take(await serve(store, {}));
      expect(viewOf(reader.document)).toEqual(await serverView(store));
    });
  }
});

describe("recovery", () => {
  test("a server restored from an older copy and its client exchange everything in two calls", async () => {
    const temp = await newStore();
    const [client, other] = [new ExchangeClient(7), new ExchangeClient(8)];
    set(client, "old", "1");
    await client.sync(temp.store);
    await temp.store.close();
    const copy = `${temp.path}.copy`;
    copyFileSync(temp.path, copy);
    await temp.restart();
    set(client, "lost", "2");
    await client.sync(temp.store);
    client.document.deleteEntry("memories", "old");
    await client.sync(temp.store);
    await temp.store.close();
    copyFileSync(copy, temp.path);
    await temp.restart();
    await other.sync(temp.store);
    set(other, "meanwhile", "3");
    await other.sync(temp.store);
    expect(await client.sync(temp.store)).toBe(2);
    expect(await memoriesOf(temp.store)).toEqual({ lost: "2", meanwhile: "3" });
    await other.sync(temp.store);
    for (const each of [client, other]) {
      expect(viewOf(each.document)).toEqual(await serverView(temp.store));
    }
  });

  test("an update that builds on something lacking changes nothing and is healed by a resend", async () => {
    const { store } = await newStore();
    const client = new ExchangeClient(7);
    await client.sync(store);
    set(client, "a", "1");
    const lost = client.request();
    client.take({ epoch: "", seq: 0 });
    set(client, "a", "2");
    expect(lost.update).toBeDefined();
    const answer = served(await serve(store, client.request()));
    expect(answer.missing).toBeTrue();
    expect((await headOf(store)).seq).toBe(0);
    expect(client.take(answer)).toBeTrue();
    expect(await client.sync(store)).toBe(1);
    expect(await memoriesOf(store)).toEqual({ a: "2" });
    expect(viewOf(client.document)).toEqual(await serverView(store));
  });

  test("an update that fails admission is refused with a reason and changes nothing", async () => {
    const { store } = await newStore();
    await setMemory(store, "a", "1");
    const before = await serverView(store);
    const foreign = new Y.Doc();
    foreign.getMap("other").set("key", "value");
    const update = Y.encodeStateAsUpdate(foreign);
    const answer = await serve(store, { update });
    expect(answer).toHaveProperty("refused.message");
    expect(await serverView(store)).toEqual(before);
    expect((await headOf(store)).seq).toBe(1);
  });

  test("a malformed state vector is a 400 and writes nothing", async () => {
    const { store } = await newStore();
    const client = new ExchangeClient(7);
    set(client, "a", "1");
    const { update } = client.request();
    const vectors = [Uint8Array.of(), Uint8Array.of(255), Uint8Array.of(200, 1, 1, 1)];
    for (const stateVector of [...vectors, new Uint8Array(2 ** 21)]) {
      const call = () => serve(store, { stateVector, ...(update && { update }) });
      expect(await failureOf(call)).toMatchObject({
        code: "invalid_request",
        details: [{ path: "/crdt/documents/project/state_vector" }],
      });
    }
    expect(await store.reader.selectFrom("documents").selectAll().execute()).toEqual([]);
  });
});

describe("rights and limits", () => {
  test("a reader may send what is known already, and nothing new", async () => {
    const { store } = await newStore();
    const client = new ExchangeClient(7);
    set(client, "a", "1");
    await client.sync(store);
    const { ydoc } = client.document;
    const known = { position: { epoch: "epoch-1", seq: 1 }, update: Y.encodeStateAsUpdate(ydoc) };
    expect(await serve(store, known, { canWrite: false })).toEqual({ epoch: "epoch-1", seq: 1 });
    const before = await serverView(store);
    set(client, "b", "2");
    const forbidden = () => serve(store, client.request(), { canWrite: false });
    expect(await failureOf(forbidden)).toMatchObject({ code: "forbidden" });
    expect(await serverView(store)).toEqual(before);
    expect((await headOf(store)).seq).toBe(1);
  });

  test("a reader does not make a document", async () => {
    const { store } = await newStore();
    const client = new ExchangeClient(7);
    expect(await serve(store, client.request(), { canWrite: false })).toEqual({
      epoch: "",
      seq: 0,
    });
    set(client, "a", "1");
    const forbidden = () => serve(store, client.request(), { canWrite: false });
    expect(await failureOf(forbidden)).toMatchObject({ code: "forbidden" });
    expect(await store.reader.selectFrom("documents").selectAll().execute()).toEqual([]);
  });

  test("a document over its size refuses additions and takes deletions", async () => {
    const { store } = await newStore();
    const value = "x".repeat(LIMITS.memoryValueBytes);
    const count = Math.ceil(LIMITS.documentBytes / LIMITS.memoryValueBytes) + 1;
    await store.write(async (context) => {
      const { document } = await context.open(address());
      document.change("local", () => {
        for (let at = 0; at < count; at++) {
          document.setEntry("memories", `key-${at}`, { value, now: context.now });
        }
      });
    });
    const client = new ExchangeClient(7);
    client.take(await serve(store, {}));
    set(client, "new", "1");
    const refused = await serve(store, client.request());
    expect(refused).toHaveProperty("refused.message", expect.stringContaining("delete something"));
    const deleter = new ExchangeClient(9);
    deleter.take(await serve(store, {}));
    deleter.document.deleteEntry("memories", "key-0");
    deleter.document.deleteEntry("memories", "key-1");
    // The whole document again brings nothing new but the deletions.
    const whole = Y.encodeStateAsUpdate(deleter.document.ydoc);
    expect(await serve(store, { ...deleter.request(), update: whole })).toHaveProperty("seq", 2);
    expect(Object.keys(await memoriesOf(store)).length).toBe(count - 2);
    expect(await serve(store, client.request())).toHaveProperty("seq", 3);
  });

  test("a document over its size takes what tells of a memory's deletion", async () => {
    const { store } = await newStore();
    const value = "x".repeat(LIMITS.memoryValueBytes);
    const count = Math.ceil(LIMITS.documentBytes / LIMITS.memoryValueBytes) + 4;
    await store.write(async (context) => {
      const { document } = await context.open(address());
      document.change("local", () => {
        for (let at = 0; at < count; at++) {
          document.setEntry("memories", `key-${at}`, { value, now: context.now });
        }
      });
    });
    const client = new ExchangeClient(7);
    client.take(await serve(store, {}));
    expect(removeMemory(client.document, { key: "key-0", now: 1 })).toBeTrue();
    nameMachine(client.document, 7, { name: "laptop", home: undefined, now: 1 });
    expect(await serve(store, client.request())).toHaveProperty("seq", 2);
    const deletions = await store.write(async (context) => {
      const open = await context.open(address());
      open.deleteMemory({ key: "key-1", now: context.now });
      return ["key-0", "key-1"].map((key) => open.document.deletionsOf(key).length);
    });
    expect(deletions).toEqual([1, 1]);
    set(client, "key-0", "small");
    expect(await serve(store, client.request())).toHaveProperty("refused");
  });
});

test("any number of replicas converge whatever is lost, repeated or reordered on the way", async () => {
  const step = fc.record({
    client: fc.nat(3),
    edits: fc.array(anyEdit, { maxLength: 3 }),
    call: fc.constantFrom("none", "sync", "answer lost", "sent twice", "restart"),
  });
  const property = fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
    const temp = await createTempStore();
    const clients = [11, 12, 13, 14].map((id) => new ExchangeClient(id));
    for (const { client: index, edits, call } of steps) {
      const client = clients[index] as ExchangeClient;
      temp.world.advance(1);
      for (const edit of edits) applyEdit(client.document, edit, temp.world.now());
      if (call === "sync") await client.sync(temp.store);
      if (call === "answer lost" || call === "sent twice")
        await serve(temp.store, client.request());
      if (call === "sent twice") client.take(await serve(temp.store, client.request()));
      if (call === "restart") await temp.reopen();
    }
    for (const client of [...clients, ...clients]) await client.sync(temp.store);
    const expected = await serverView(temp.store);
    for (const { document } of clients) expect(viewOf(document)).toEqual(expected);
    await temp.remove();
  });
  await fc.assert(property, { numRuns: 25 });
});
