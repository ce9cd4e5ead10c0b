import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryHistory } from "../../cli/local/local-history.ts";
import { listHeld, putHeld } from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { appendToInbox } from "../../daemon/inbox/inbox.ts";
import { moveMemories } from "../../daemon/remotes/move-memories.ts";
import { addRemote, removeRemote } from "../../daemon/remotes/remote-book.ts";
import { changeRemote, describeRemotes } from "../../daemon/remotes/remote-change.ts";
import type { AccountId } from "../../shared/ids.ts";
import { sweepHistory } from "../../shared/replica/history/sweep-history.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { PLANTED, TOKEN_FOUND } from "../support/planted-secrets.ts";
import { NOW } from "../support/replicas.ts";

const USER = `user/${LOCAL_USER}`;
const ENVIRONMENT = { url: undefined, token: undefined };
const BOOK = { world: realWorld, environment: ENVIRONMENT };
const folder = mkdtempSync(join(tmpdir(), "memsync-move-memories-"));
const stores: Store[] = [];
type Store = ReplicaStore<DaemonTables>;

afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

/** A home with the embedded service and the remotes a and b. */
async function home(world = realWorld) {
  const store = await openTestReplica(join(folder, `home-${stores.length}.db`), world);
  stores.push(store);
  const [a, b] = await store.write(async (context) => [
    (await addRemote(context, BOOK, { name: "a", url: "https://a.example.com" })).account,
    (await addRemote(context, BOOK, { name: "b", url: "https://b.example.com" })).account,
  ]);
  if (!a || !b) throw new Error("both were added");
  return { store, a, b };
}

async function remember(store: Store, owner: AccountId, name: string, values: object, now = NOW) {
  await store.write(async (context) => {
    const { document } = await context.open({ owner, name });
    for (const [key, value] of Object.entries(values)) {
      document.setEntry("memories", key, { value, now });
    }
  });
}

/** By key all values, the one that counts first. */
async function valuesOf(store: Store, owner: AccountId, name: string) {
  return await store.write(async (context) => {
    const open = await context.find({ owner, name });
    const { memories } = open?.document ?? {};
    const keys = [...(memories?.keys() ?? [])].sort();
    return Object.fromEntries(
      keys.map((key) => [key, memories?.get(key).map(({ value }) => value)]),
    );
  });
}

const move = (store: Store, layer: "user" | "global", to: AccountId) =>
  store.write((context) => moveMemories(context, layer, { from: LOCAL_ACCOUNT, to }));

const NONE = { moved: 0, conflicts: 0, held: 0, stayed: 0 };

test("a layer moves whole, is gone where it was, and is moved once", async () => {
  const { store, a } = await home();
  await remember(store, LOCAL_ACCOUNT, USER, { one: "1", two: "2" });
  await remember(store, LOCAL_ACCOUNT, "global", { team: "t" });
  expect(await move(store, "user", a)).toEqual({ ...NONE, moved: 2 });
  expect(await valuesOf(store, a, USER)).toEqual({ one: ["1"], two: ["2"] });
  expect(await valuesOf(store, LOCAL_ACCOUNT, USER)).toEqual({});
  expect(await valuesOf(store, LOCAL_ACCOUNT, "global")).toEqual({ team: ["t"] });
  expect(await move(store, "user", a)).toEqual(NONE);
  expect(await valuesOf(store, a, USER)).toEqual({ one: ["1"], two: ["2"] });
  expect(await move(store, "global", a)).toEqual({ ...NONE, moved: 1 });
});

test("a move that fails changes nothing on either side", async () => {
  const { store, a } = await home();
  await remember(store, LOCAL_ACCOUNT, USER, { one: "1" });
  const failing = store.write(async (context) => {
    await moveMemories(context, "user", { from: LOCAL_ACCOUNT, to: a });
    throw new Error("the disk is full");
  });
  await expect(failing).rejects.toThrow("the disk is full");
  expect(await valuesOf(store, LOCAL_ACCOUNT, USER)).toEqual({ one: ["1"] });
  expect(await valuesOf(store, a, USER)).toEqual({});
});

test("of a key that both have all values stay, the later first; equal ones are one", async () => {
  const { store, a } = await home();
  await remember(store, a, USER, { later: "theirs", earlier: "theirs", equal: "same" }, NOW + 5);
  await remember(store, LOCAL_ACCOUNT, USER, { later: "mine", equal: "same" });
  await remember(store, LOCAL_ACCOUNT, USER, { earlier: "mine" }, NOW + 9);
  expect(await move(store, "user", a)).toEqual({ ...NONE, moved: 3, conflicts: 2 });
  expect(await valuesOf(store, a, USER)).toEqual({
    earlier: ["mine", "theirs"],
    equal: ["same"],
    later: ["theirs", "mine"],
  });
});

test("a conflict moves with both of its values, equally old ones in their order", async () => {
  const { store, a } = await home();
  await store.write(async (context) => {
    const { document } = await context.open({ owner: LOCAL_ACCOUNT, name: USER });
    for (const value of ["loses", "wins"]) {
      document.setEntry("memories", "key", { value, now: NOW, seen: [] });
    }
  });
  const before = await valuesOf(store, LOCAL_ACCOUNT, USER);
  expect(await move(store, "user", a)).toEqual({ ...NONE, moved: 1 });
  expect(await valuesOf(store, a, USER)).toEqual(before);
});

function held(account: AccountId, key: string, value: string = PLANTED.github) {
  const why = { cause: "private", reason: TOKEN_FOUND } as const;
  const place = { kind: "memory", account, document: USER } as const;
  return { ...place, key, value, seen: [], writtenAt: NOW, ...why };
}

async function heldAt({ reader }: Store) {
  return (await listHeld(reader)).map(({ account, key, value }) => [account, key, value]);
}

test("what is held moves as held, and replaces there what its author saw", async () => {
  const { store, a } = await home();
  await remember(store, LOCAL_ACCOUNT, USER, { deploy: "before" });
  await remember(store, a, USER, { deploy: "theirs" }, NOW - 5);
  await store.write(async (context) => {
    const { document } = await context.open({ owner: LOCAL_ACCOUNT, name: USER });
    const seen = document.memories.get("deploy").map(({ id }) => id);
    await putHeld(context.db, { ...held(LOCAL_ACCOUNT, "deploy"), seen });
  });
  const [before] = await listHeld(store.reader);
  expect(await move(store, "user", a)).toEqual({ ...NONE, moved: 1, conflicts: 1, held: 1 });
  expect(await heldAt(store)).toEqual([[a, "deploy", PLANTED.github]]);
  const [item] = await listHeld(store.reader);
  // Whoever was told of it goes on by the same id.
  expect(item?.id).toBe(before?.id ?? "none");
  const replaced = await store.write(async (context) => {
    const { document } = await context.open({ owner: a, name: USER });
    const isSeen = (id: { client: number; clock: number }) =>
      item?.seen.some(({ client, clock }) => client === id.client && clock === id.clock);
    return document.memories.get("deploy").map(({ id, value }) => [value, isSeen(id)]);
  });
  expect(replaced).toEqual([
    ["before", true],
    ["theirs", false],
  ]);
  await expect(store.write((context) => removeRemote(context, "a"))).rejects.toThrow(
    "are on this machine only: `memsync sync` first",
  );
});

test("a remote for which something is held is not removed, and no sync is said to help", async () => {
  const { store, a } = await home();
  await store.write(({ db }) => putHeld(db, held(a, "deploy")));
  await expect(store.write((context) => removeRemote(context, "a"))).rejects.toThrow(
    "for they are held, and no sync sends them; `memsync held` lists them: allow or drop each first",
  );
});

test("of two held writes of a key the one to be moved stays, and nothing is lost", async () => {
  const { store, a } = await home();
  const other = "github_pat_other";
  await store.write(async ({ db }) => {
    await putHeld(db, held(LOCAL_ACCOUNT, "both"));
    await putHeld(db, held(a, "both", other));
    await putHeld(db, held(LOCAL_ACCOUNT, "equal"));
    await putHeld(db, held(a, "equal"));
  });
  expect(await move(store, "user", a)).toEqual({ moved: 1, conflicts: 0, held: 1, stayed: 1 });
  expect((await heldAt(store)).sort()).toEqual(
    [
      [LOCAL_ACCOUNT, "both", PLANTED.github],
      [a, "both", other],
      [a, "equal", PLANTED.github],
    ].sort(),
  );
});

test("what the former service refused is a write at the next one, judged like any", async () => {
  const { store, a } = await home();
  const refused = { cause: "refused", reason: { code: "no-room" }, retryBatch: 1 } as const;
  await store.write(async (context) => {
    const { document } = await context.open({ owner: LOCAL_ACCOUNT, name: USER });
    document.setEntry("memories", "gone", {
      value: "deleted by its author",
      now: NOW,
    });
    const seen = document.memories.get("gone").map(({ id }) => id);
    const { db } = context;
    await putHeld(db, { ...held(LOCAL_ACCOUNT, "fine", "a value"), ...refused });
    await putHeld(db, { ...held(LOCAL_ACCOUNT, "secret"), ...refused });
    await putHeld(db, { ...held(LOCAL_ACCOUNT, "gone"), value: undefined, seen, ...refused });
  });
  expect(await move(store, "user", a)).toEqual({ moved: 2, conflicts: 0, held: 1, stayed: 0 });
  expect(await valuesOf(store, a, USER)).toEqual({ fine: ["a value"] });
  expect(await heldAt(store)).toEqual([[a, "secret", PLANTED.github]]);
  expect(await valuesOf(store, LOCAL_ACCOUNT, USER)).toEqual({});
});

test("what was salvaged moves, but for what its document has seen deleted", async () => {
  const { store, a } = await home();
  await remember(store, LOCAL_ACCOUNT, USER, { deleted: "seen" });
  const client = await store.write(async (context) => {
    const { document } = await context.open({ owner: LOCAL_ACCOUNT, name: USER });
    document.deleteEntry("memories", "deleted");
    return document.ydoc.clientID;
  });
  const salvaged = { account: LOCAL_ACCOUNT, document: USER, updated_at: NOW, clock: 0 };
  await store.write(async ({ db }) => {
    const lost = { ...salvaged, key: "lost", value: "found", client: 5 };
    const deleted = { ...salvaged, key: "deleted", value: "seen", client };
    await db.insertInto("salvaged_memories").values([lost, deleted]).execute();
  });
  expect(await move(store, "user", a)).toEqual({ ...NONE, moved: 1 });
  expect(await valuesOf(store, a, USER)).toEqual({ lost: ["found"] });
  expect(await store.reader.selectFrom("salvaged_memories").selectAll().execute()).toEqual([]);
});

test("what waits in the inbox is counted, and moves with the rest in one transaction", async () => {
  const { store, a, b } = await home();
  await remember(store, LOCAL_ACCOUNT, USER, { saved: "1", dropped: "2" });
  const write = { kind: "memory", seen: [], writtenAt: NOW } as const;
  await store.write(async ({ db }) => {
    await appendToInbox(db, { ...write, document: USER, key: "waits", value: "3" });
    await appendToInbox(db, { ...write, document: "global", key: "team", value: "4" });
    await appendToInbox(db, { ...write, document: USER, key: "of-b", value: "5", account: b });
    await appendToInbox(db, { ...write, document: USER, key: "token", value: PLANTED.github });
  });
  await store.write(async (context) => {
    const { document } = await context.open({ owner: LOCAL_ACCOUNT, name: USER });
    const seen = document.memories.get("dropped").map(({ id }) => id);
    const deletion = { ...write, document: USER, key: "dropped", value: undefined, seen };
    await appendToInbox(context.db, deletion);
  });
  const counts = async () => {
    const remotes = await describeRemotes(store.reader, ENVIRONMENT);
    return Object.fromEntries(remotes.map(({ name, memories }) => [name, memories]));
  };
  const none = { user: 0, global: 0 };
  const ofB = { user: 1, global: 0 };
  expect(await counts()).toEqual({ embedded: { user: 3, global: 1 }, a: none, b: ofB });
  const change = (layer: "user" | "global") =>
    store.write((context) =>
      changeRemote(context, BOOK, { op: "memories", layer, from: "embedded", to: "a" }),
    );
  expect((await change("user")).memories).toEqual({ ...NONE, moved: 3, held: 1 });
  expect((await change("global")).memories).toEqual({ ...NONE, moved: 1 });
  expect(await counts()).toEqual({ embedded: none, a: { user: 3, global: 1 }, b: ofB });
  expect(await drainInbox(store)).toEqual({ writes: 0, allows: false });
  expect(await valuesOf(store, a, USER)).toEqual({ saved: ["1"], waits: ["3"] });
  expect(await valuesOf(store, b, USER)).toEqual({ "of-b": ["5"] });
});

test("a login takes what waits for the service that was the default until then", async () => {
  const { store, a } = await home();
  const write = { kind: "memory", key: "k", value: "v", seen: [], writtenAt: NOW } as const;
  await store.write(({ db }) => appendToInbox(db, { ...write, document: "proj_waiting" }));
  await store.write((context) => changeRemote(context, BOOK, { op: "login", name: "a" }));
  const bound = await store.reader.selectFrom("documents").select(["name", "owner"]).execute();
  expect(bound).toEqual([{ name: "proj_waiting", owner: LOCAL_ACCOUNT }]);
  expect(await valuesOf(store, a, "proj_waiting")).toEqual({});
});

/** The values that a memory has had, the newest first. */
async function pastOf({ reader }: Store, account: AccountId, key: string) {
  const versions = await memoryHistory({ db: reader, document: USER, account, machine: "m" }, key);
  return versions.map(({ value, state, writtenAt }) => [value, state, writtenAt - NOW]);
}

async function forget(store: Store, owner: AccountId, key: string) {
  await store.write(async (context) => {
    (await context.open({ owner, name: USER })).deleteMemory({ key, now: NOW + 3 });
  });
}

test("the histories go with the memories, also those of deleted ones, and once", async () => {
  // All of it is replaced at one time, as on a fast machine.
  const { store, a, b } = await home({ ...realWorld, now: () => NOW + 10 });
  for (const [at, value] of ["one", "two", "three"].entries()) {
    await remember(store, a, USER, { key: value, dead: value }, NOW + at);
  }
  await forget(store, a, "dead");
  await sweepHistory((work) => store.write(({ db, now }) => work(narrowTables(db), now)));
  await remember(store, a, USER, { key: "four" }, NOW + 4);
  await remember(store, b, USER, { key: "of b" }, NOW - 2);
  await remember(store, b, USER, { key: "of b, again" }, NOW - 1);
  const past = [
    ["three", "replaced", 2],
    ["two", "replaced", 1],
    ["one", "replaced", 0],
  ];
  const key = [["four", "current", 4], ...past];
  await store.write((context) => moveMemories(context, "user", { from: a, to: LOCAL_ACCOUNT }));
  expect(await pastOf(store, LOCAL_ACCOUNT, "key")).toEqual(key);
  expect(await pastOf(store, LOCAL_ACCOUNT, "dead")).toEqual(past);
  // What is moved out and has its former value again is in no history twice.
  await remember(store, a, USER, { key: "four" }, NOW + 4);
  await store.write((context) => moveMemories(context, "user", { from: a, to: LOCAL_ACCOUNT }));
  expect(await pastOf(store, LOCAL_ACCOUNT, "key")).toEqual(key);
  await move(store, "user", b);
  const merged = (await pastOf(store, b, "key")).map(([value, state]) => [value, state]);
  expect(merged.slice(0, 2)).toEqual([
    ["four", "current"],
    ["of b, again", "conflict"],
  ]);
  expect(merged.map(([value]) => value).sort()).toEqual(
    ["four", "of b, again", "one", "two", "three", "of b"].sort(),
  );
  // Only a history is left.
  await forget(store, b, "key");
  await store.write((context) => moveMemories(context, "user", { from: b, to: a }));
  expect((await pastOf(store, a, "key")).map(([value]) => value)).toContain("of b");
});
