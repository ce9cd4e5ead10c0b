import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEnvironment } from "../../cli/place/environment.ts";
import { importInto } from "../../cli/writes/import-into.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import { keepHeard } from "../../daemon/home/audience-store.ts";
import { findOwner } from "../../daemon/home/former-service.ts";
import { prepareHome } from "../../daemon/home/home.ts";
import { readPosition, writePosition } from "../../daemon/home/positions.ts";
import { findBinding, listRemotes, setTokenPlace } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { appendToInbox } from "../../daemon/inbox/inbox.ts";
import { ownRound } from "../../daemon/plain/own-round.ts";
import { bindProject } from "../../daemon/remotes/bind-project.ts";
import {
  addRemote,
  type LoginTarget,
  moveProject,
  nameEnvironment,
  nameRemotes,
  openLogin,
  removeRemote,
} from "../../daemon/remotes/remote-book.ts";
import { readRemotes } from "../../daemon/remotes/remote-view.ts";
import { failureBy } from "../../daemon/service/failure.ts";
import { createHttpService } from "../../daemon/service/http-service.ts";
import type { Service } from "../../daemon/service/service.ts";
import { exchangeRound } from "../../daemon/sync/round.ts";
import type { AccountId } from "../../shared/ids.ts";
import { projectDocument, userDocument } from "../../shared/replica/document/address.ts";
import { recordJoin } from "../../shared/replica/document/project-join.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { projectId } from "../support/project-id.ts";

const PROJECT = projectId("book");
const NOBODY = { name: null, plan: null, users: null, user: null };
const A = "https://a.example.com";
const B = "https://b.example.com";
const folder = mkdtempSync(join(tmpdir(), "memsync-book-"));
const stores: ReplicaStore<DaemonTables>[] = [];
let made = 0;

afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

async function openStore() {
  const store = await openTestReplica(join(folder, `home-${made++}.db`), realWorld);
  stores.push(store);
  return store;
}

function under(url?: string) {
  return { world: realWorld, environment: { url, token: undefined } };
}

type Store = ReplicaStore<DaemonTables>;

/** Writes memories as the default of the home has them. */
async function remember(store: Store, owner: AccountId, name: string, ...keys: readonly string[]) {
  await store.write(async (context) => {
    const open = await context.open({ owner, name });
    for (const key of keys) {
      open.document.setEntry("memories", key, {
        value: `value of ${key}`,
        now: context.now,
      });
    }
  });
}

async function keysOf(store: Store, owner: AccountId, name: string): Promise<string[]> {
  return await store.write(async (context) => {
    const open = await context.find({ owner, name });
    return open ? [...open.document.memories.keys()].sort() : [];
  });
}

/** A home with the projects' default in the embedded service, and two remotes. */
async function twoRemotes() {
  const store = await openStore();
  const [a, b] = await store.write(async (context) => [
    await addRemote(context, under(), { name: "a", url: A }),
    await addRemote(context, under(), { name: "b", url: B }),
  ]);
  if (!a || !b) throw new Error("both were added");
  return { store, a: a.account, b: b.account };
}

const own = (owner: AccountId) => userDocument(owner, LOCAL_USER).name;

test("without named remotes everything is what the environment says", async () => {
  const store = await openStore();
  const embedded = await readRemotes(store.reader, { url: undefined, token: undefined });
  expect(embedded.default).toMatchObject({ name: "embedded", account: LOCAL_ACCOUNT });
  const named = await readRemotes(store.reader, { url: A, token: undefined });
  expect(named.default).toMatchObject({ url: A, account: LOCAL_ACCOUNT });
  expect(await listRemotes(store.reader)).toEqual([]);
});

test.each([
  ["the service that it was synced with last", A, B, A],
  ["the one that the environment names", undefined, B, B],
  ["the embedded one", undefined, undefined, undefined],
])("with the first name, what is in the home stays with %s", async (_, synced, named, url) => {
  const store = await openStore();
  await remember(store, LOCAL_ACCOUNT, PROJECT, "key");
  await store.write(async (context) => {
    const open = await context.open(projectDocument(LOCAL_ACCOUNT, PROJECT));
    const position = { remote: { epoch: "e", seq: 1 }, ackedSeq: 1, refused: undefined };
    if (synced !== undefined)
      await writePosition(context.db, synced, { documentId: open.id, position });
  });
  const remotes = await store.write((context) => nameRemotes(context, under(named)));
  const owner = remotes.find(({ account }) => account === LOCAL_ACCOUNT);
  expect(owner?.url).toBe(url);
  expect(remotes.map(({ name }) => name)).toContain("embedded");
  expect(new Set(remotes.map(({ account }) => account)).size).toBe(remotes.length);
});

test.each([
  ["without a variable", undefined],
  ["with another address in it", B],
])("a start with the embedded service takes nothing from the one before, %s", async (_, named) => {
  const store = await openStore();
  const before = { url: A, account: LOCAL_ACCOUNT };
  await store.write(async (context) => {
    const open = await context.open(projectDocument(LOCAL_ACCOUNT, PROJECT));
    const heard = { ...NOBODY, name: "acme", user: "ann" };
    await keepHeard(context.db, before, { heard, now: context.now });
    const position = { remote: { epoch: "e", seq: 1 }, ackedSeq: 1, refused: undefined };
    await writePosition(context.db, "embedded", { documentId: open.id, position });
  });
  const told = { name: "acme", user: "bob" };
  const login = (target: LoginTarget) =>
    store.write((context) => openLogin(context, under(named), { ...target, told }));
  for (const target of [{ url: A }, { url: `${A}:443/` }, { url: A, name: "a.example.com" }]) {
    await expect(login(target)).rejects.toThrow("this token is bob's");
    expect(await listRemotes(store.reader)).toEqual([]);
  }
  const { remote } = await login({ url: A, name: "bob" });
  expect(remote.account).not.toBe(LOCAL_ACCOUNT);
  const holder = (await listRemotes(store.reader)).find((each) => each.account === LOCAL_ACCOUNT);
  expect(holder).toMatchObject({ name: "a.example.com", url: A });
  // Of two at one address a login without a name means the one that is the token's owner's.
  const { remote: anns } = await store.write((context) =>
    openLogin(context, under(named), { url: A, told: { name: "acme", user: "ann" } }),
  );
  expect(anns.name).toBe("a.example.com");
  await store.write(({ db, now }) => keepHeard(db, remote, { heard: { ...NOBODY, ...told }, now }));
  expect((await login({ url: A })).remote.name).toBe("bob");
});

test("the schema itself refuses a project to a second account", async () => {
  const { store, a } = await twoRemotes();
  await remember(store, LOCAL_ACCOUNT, PROJECT, "key");
  const second = store.write((context) => context.open(projectDocument(a, PROJECT)));
  await expect(second).rejects.toThrow(/UNIQUE/);
  expect(await findBinding(store.reader, PROJECT)).toBe(LOCAL_ACCOUNT);
});

test("a move takes everything along, forgets positions, and is done once", async () => {
  const { store, a } = await twoRemotes();
  await remember(store, LOCAL_ACCOUNT, PROJECT, "one", "two");
  const id = await store.write(async (context) => {
    const open = await context.open(projectDocument(LOCAL_ACCOUNT, PROJECT));
    const position = { remote: { epoch: "e", seq: 1 }, ackedSeq: 1, refused: undefined };
    await writePosition(context.db, "embedded", { documentId: open.id, position });
    return open.id;
  });
  const failing = store.write(async (context) => {
    await moveProject(context, PROJECT, { to: a });
    throw new Error("the disk is full");
  });
  await expect(failing).rejects.toThrow("the disk is full");
  expect(await keysOf(store, LOCAL_ACCOUNT, PROJECT)).toEqual(["one", "two"]);
  expect(await store.write((context) => moveProject(context, PROJECT, { to: a }))).toBe(true);
  expect(await store.write((context) => moveProject(context, PROJECT, { to: a }))).toBe(false);
  expect(await keysOf(store, a, PROJECT)).toEqual(["one", "two"]);
  expect(await keysOf(store, LOCAL_ACCOUNT, PROJECT)).toEqual([]);
  expect((await readPosition(store.reader, "embedded", id)).remote).toBeUndefined();
  await remember(store, a, PROJECT, "three");
  expect(await keysOf(store, a, PROJECT)).toEqual(["one", "three", "two"]);
});

test("what waits in the inbox goes where its project is bound by then, the rest stays", async () => {
  const { store, a, b } = await twoRemotes();
  await remember(store, a, PROJECT, "key");
  const item = { kind: "memory", value: "v", seen: [], writtenAt: 1 } as const;
  await store.write(async ({ db }) => {
    await appendToInbox(db, { ...item, document: PROJECT, account: a, key: "waiting" });
    await appendToInbox(db, { ...item, document: own(a), account: a, key: "of-a" });
    await appendToInbox(db, { ...item, document: "global", account: b, key: "of-b" });
  });
  await store.write((context) => moveProject(context, PROJECT, { to: b }));
  expect(await drainInbox(store)).toEqual({ writes: 3, allows: false });
  expect(await keysOf(store, b, PROJECT)).toEqual(["key", "waiting"]);
  expect(await keysOf(store, a, own(a))).toEqual(["of-a"]);
  expect(await keysOf(store, b, own(b))).toEqual([]);
  expect(await keysOf(store, b, "global")).toEqual(["of-b"]);
});

test("an import without a daemon gives what waits of a new project to the default alone", async () => {
  const env = readEnvironment({ MEMSYNC_HOME: join(folder, "imported") });
  prepareHome(env.home);
  const before = await openTestReplica(env.home.database, realWorld);
  const b = await before.write(async (context) => {
    // What there was before remotes had names stays with A.
    await nameRemotes(context, under(A));
    return await openLogin(context, under(), { name: "b", url: B, makeDefault: true });
  });
  const item = { kind: "memory", value: "v", seen: [], writtenAt: 1 } as const;
  await before.write(({ db }) => appendToInbox(db, { ...item, document: PROJECT, key: "waiting" }));
  await before.close();
  const nothing = { format: 1, projects: [], user: { memories: [] }, global: { memories: [] } };
  await importInto(env, nothing, () => {});
  const after = await openTestReplica(env.home.database, realWorld);
  stores.push(after);
  expect(await findBinding(after.reader, PROJECT)).toBe(b.remote.account);
});

test("a folder's new project is bound where its former one was, not to the default", async () => {
  const { store, a } = await twoRemotes();
  await remember(store, a, PROJECT, "key");
  const former = { dir: "/f", projectId: PROJECT, name: "f", write: false };
  const project = projectId("derived");
  const account = await store.write((context) =>
    bindProject(context, under(), { project, remote: undefined, former, others: [] }),
  );
  expect(account).toBe(a);
});

test("a remote gets another address by a word for just the one that it had", async () => {
  const store = await openStore();
  const told = { name: "acme", user: "ann" };
  const login = (target: Parameters<typeof openLogin>[2]) =>
    store.write((context) => openLogin(context, under(), { name: "b", told, ...target }));
  const { remote } = await login({ url: A });
  await store.write(async ({ db, now }) => {
    await keepHeard(db, remote, { heard: { ...told, plan: null, users: null }, now, token: "x" });
    await setTokenPlace(db, "b", "file");
  });
  await expect(login({ url: B })).rejects.toThrow(`b is at ${A} (ann's of the account acme)`);
  await expect(login({ url: B, movedFrom: B })).rejects.toThrow("nobody has agreed to that");
  const zoe = { url: B, movedFrom: A, told: { name: "acme", user: "zoe" } };
  await expect(login(zoe)).rejects.toThrow("give a token of ann");
  const [before] = (await listRemotes(store.reader)).filter(({ name }) => name === "b");
  expect(before).toMatchObject({ url: A, tokenPlace: "file" });
  // A service that does not tell whose a token is leaves nothing to compare; the owner stays.
  await login({ url: B, movedFrom: A, told: undefined });
  const [after] = (await listRemotes(store.reader)).filter(({ name }) => name === "b");
  expect(after).toEqual({ ...remote, url: B, tokenPlace: undefined, isDefault: true });
  expect(await findOwner(store.reader, remote)).toEqual({ ...told, service: B, tokens: [] });
});

test("the first login becomes the default, and later ones only when asked", async () => {
  const store = await openStore();
  const login = (target: Parameters<typeof openLogin>[2]) =>
    store.write((context) => openLogin(context, under(), target));
  expect(await login({ url: A })).toMatchObject({ becameDefault: true });
  expect(await login({ url: B, name: "b" })).toMatchObject({ becameDefault: false });
  expect(await login({ name: "b" })).toMatchObject({ remote: { url: B } });
  expect(await login({ name: "b", makeDefault: true })).toMatchObject({ becameDefault: true });
  const usual = (await listRemotes(store.reader)).filter(({ isDefault }) => isDefault);
  expect(usual.map(({ name }) => name)).toEqual(["b"]);
  await expect(login({ name: "embedded" })).rejects.toThrow("needs no login");
  await expect(login({ name: "none" })).rejects.toThrow("there is no remote none");
  await expect(login({ name: "b", url: A })).rejects.toThrow("nobody has agreed to that");
  // The environment's service gets a name of its own, and is that run's default alone.
  const c = "https://c.example.com";
  await store.write((context) => nameEnvironment(context, under(c)));
  const view = await readRemotes(store.reader, { url: c, token: undefined });
  expect(view.default).toMatchObject({ name: "c.example.com", isDefault: false });
});

test("a remote of which something is here alone is not removed", async () => {
  const { store, a, b } = await twoRemotes();
  const remove = (name: string) => store.write((context) => removeRemote(context, name));
  await expect(remove("embedded")).rejects.toThrow("can't be removed");
  await remember(store, a, own(a), "unsynced");
  await expect(remove("a")).rejects.toThrow("are on this machine only");
  await remove("b");
  await store.write((context) => addRemote(context, under(), { name: "b", url: B }));
  const again = (await listRemotes(store.reader)).find(({ name }) => name === "b");
  expect(again?.account).toMatch(/^local\/b\//);
  expect(again?.account).not.toBe(b);
});

test("of a remote whose service is gone for good, what is here alone goes into the embedded one", async () => {
  const { store, a } = await twoRemotes();
  await remember(store, a, own(a), "unsynced");
  await store.write((context) => removeRemote(context, "a", { isGone: true }));
  expect((await listRemotes(store.reader)).map(({ name }) => name)).toEqual(["b", "embedded"]);
  expect(await keysOf(store, LOCAL_ACCOUNT, own(LOCAL_ACCOUNT))).toEqual(["unsynced"]);
});

test("what a service has acknowledged stays here, too, where that service is gone", async () => {
  for (const isGone of [true, false]) {
    const { store, a } = await twoRemotes();
    await remember(store, a, own(a), "synced");
    await store.write(async (context) => {
      const { id: documentId } = await context.open({ owner: a, name: own(a) });
      const position = { remote: { epoch: "e", seq: 1 }, ackedSeq: 1, refused: undefined };
      await writePosition(context.db, A, { documentId, position });
    });
    const count = await store.write((context) => removeRemote(context, "a", { isGone }));
    const kept = await keysOf(store, LOCAL_ACCOUNT, own(LOCAL_ACCOUNT));
    expect({ count, kept }).toEqual({ count: 1, kept: isGone ? ["synced"] : [] });
  }
});

test("a project that is linked nowhere does not keep a remote whose service is gone", async () => {
  const { store, a } = await twoRemotes();
  await remember(store, a, PROJECT, "kept");
  const remove = (isGone: boolean) =>
    store.write((context) => removeRemote(context, "a", { isGone }));
  await expect(remove(false)).rejects.toThrow(/linked to no folder here.*--gone keeps it/);
  await remove(true);
  expect(await keysOf(store, LOCAL_ACCOUNT, PROJECT)).toEqual(["kept"]);
});

test("a project that has still to say where its folder went keeps its remote", async () => {
  const { store, a } = await twoRemotes();
  await remember(store, a, PROJECT, "kept");
  await store.write(async (context) => {
    const { document, author } = await context.open(projectDocument(a, PROJECT));
    const join = { of: PROJECT, to: projectId("other"), name: "other", at: context.now };
    recordJoin(document, { ...join, ...author });
  });
  const removed = store.write((context) => removeRemote(context, "a"));
  await expect(removed).rejects.toThrow(
    /linked to no folder here.*was not told yet where its folder went \(.*\): `memsync sync` first/,
  );
});

test("a remote is not removed while its service has refused a memory that is nowhere else", async () => {
  const { store, a } = await twoRemotes();
  await remember(store, a, own(a), "refused");
  const refused = { kind: "refused", status: 400, ...failureBy({ code: "put-off" }) } as const;
  const empty = { kind: "answered", value: { memories: [], total: 0 } } as const;
  const service: Service = {
    ...listening([]),
    name: A,
    request: async (method) => (method === "GET" ? empty : refused),
  };
  const projects = () => new Map();
  const options = { store, service, account: a, user: LOCAL_USER, projects, taken: new Set("") };
  for (let round = 0; round < 2; round++) await ownRound(options);
  const removed = store.write((context) => removeRemote(context, "a"));
  await expect(removed).rejects.toThrow("are on this machine only");
});

/** A service that is told of everything that reaches it. */
function listening(heard: string[], during: () => Promise<unknown> = async () => {}): Service {
  return {
    name: B,
    async exchange(project, { documents }) {
      heard.push(`${project}: ${Object.keys(documents)}`);
      await during();
      const document = { epoch: "e", seq: 1 };
      return { kind: "answered", value: { documents: { project: document } } };
    },
    createProject: async () => ({ kind: "answered", value: undefined }),
    request: async () => ({ kind: "answered", value: {} }),
    forward: async () => ({ kind: "answered", value: {} }),
    close: async () => {},
  };
}

test("an engine never sends a project of another account, nor takes an answer about it", async () => {
  const { store, a, b } = await twoRemotes();
  await remember(store, a, PROJECT, "secret");
  const heard: string[] = [];
  const options = (account: AccountId, service: Service) => {
    const projects = () => new Map([[PROJECT, "book"]]);
    return { store, service, account, user: LOCAL_USER, projects };
  };
  const plan = { unit: PROJECT, withOwn: true };
  const outcome = await exchangeRound(options(b, listening(heard)), plan);
  expect(heard).toEqual([]);
  // Its own documents are still due, in their turn: a call about them may just have been made.
  const value = { again: new Set(), later: new Set(["own"]) };
  expect(outcome).toMatchObject({ kind: "answered", value });
  // Bound anew while the answer is on its way: the answer is nobody's any more.
  const move = () => store.write((context) => moveProject(context, PROJECT, { to: b }));
  await exchangeRound(options(a, listening(heard, move)), { unit: PROJECT, withOwn: false });
  expect(heard).toEqual([`${PROJECT}: project`]);
  const positions = await store.reader.selectFrom("sync_positions").selectAll().execute();
  expect(positions).toEqual([]);
  expect(await findBinding(store.reader, PROJECT)).toBe(b);
});

test("a service that sends on to another address, or repeats a token, gets neither further", async () => {
  const token = "mst_dev_repeated";
  let reached = 0;
  const elsewhere = Bun.serve({ port: 0, fetch: () => new Response(`{"n":${++reached}}`) });
  const server = Bun.serve({
    port: 0,
    fetch: (request) =>
      new URL(request.url).pathname.endsWith("/sync")
        ? Response.redirect(`${elsewhere.url}stolen`, 307)
        : Response.json(
            { error: { message: `no ${request.headers.get("authorization")}` } },
            { status: 403 },
          ),
  });
  const url = server.url.origin;
  const service = createHttpService({ url, token, world: realWorld });
  const sent = await service.exchange(PROJECT, { documents: {} });
  expect(sent).toMatchObject({ kind: "refused", status: 307 });
  expect(reached).toBe(0);
  const answer = await service.forward("GET", "/api/projects/stats");
  expect(JSON.stringify(answer)).toContain("no Bearer (the token)");
  expect(JSON.stringify(answer)).not.toContain(token);
  await Promise.all([server.stop(true), elsewhere.stop(true)]);
});
