import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findHeld, listHeld, putHeld } from "../../daemon/home/held-store.ts";
import type { Link } from "../../daemon/home/links.ts";
import { LOCAL_USER } from "../../daemon/home/local-account.ts";
import { writePosition } from "../../daemon/home/positions.ts";
import { findBinding } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { appendToInbox } from "../../daemon/inbox/inbox.ts";
import { moveToProject } from "../../daemon/links/relink.ts";
import { projectRound } from "../../daemon/plain/project-round.ts";
import { settleSalvaged } from "../../daemon/recovery/salvaged-memories.ts";
import { addRemote, moveProject } from "../../daemon/remotes/remote-book.ts";
import { failureBy } from "../../daemon/service/failure.ts";
import type { Service } from "../../daemon/service/service.ts";
import type { AccountId } from "../../shared/ids.ts";
import { projectDocument, userDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { PLANTED, TOKEN_FOUND } from "../support/planted-secrets.ts";
import { projectId } from "../support/project-id.ts";
import { NOW } from "../support/replicas.ts";

const PROJECT = projectId("held");
const OWN = `user/${LOCAL_USER}`;
const folder = mkdtempSync(join(tmpdir(), "memsync-remote-held-"));
const stores: ReplicaStore<DaemonTables>[] = [];

afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

/** A home with two remotes; the project is bound to the first one. */
async function twoRemotes() {
  const store = await openTestReplica(join(folder, `home-${stores.length}.db`), realWorld);
  stores.push(store);
  const book = { world: realWorld, environment: { url: undefined, token: undefined } };
  const accounts = await store.write(async (context) => {
    const a = await addRemote(context, book, { name: "a", url: "https://a.example.com" });
    const b = await addRemote(context, book, { name: "b", url: "https://b.example.com" });
    const { document } = await context.open(projectDocument(a.account, PROJECT));
    document.setEntry("memories", "known", { value: "value of known", now: NOW });
    return { a: a.account, b: b.account };
  });
  return { store, ...accounts };
}

function heldOf(account: AccountId, document: string, key = "k") {
  const write = { value: PLANTED.github, seen: [], reason: TOKEN_FOUND, writtenAt: NOW };
  return { kind: "memory", account, document, key, cause: "private", ...write } as const;
}

async function placesHeld({ reader }: ReplicaStore<DaemonTables>): Promise<string[]> {
  return (await listHeld(reader)).map(({ account, document }) => `${account} ${document}`);
}

test("what is held of a project goes with it, and of the user stays", async () => {
  const { store, a, b } = await twoRemotes();
  await store.write(async (context) => {
    await putHeld(context.db, heldOf(a, PROJECT));
    await putHeld(context.db, heldOf(a, OWN));
  });
  const ids = async () => (await listHeld(store.reader)).map(({ id }) => id);
  const before = await ids();
  await store.write((context) => moveProject(context, PROJECT, { to: b }));
  // Whoever was told of one goes on by the same id.
  expect(await ids()).toEqual(before);
  expect(await placesHeld(store)).toEqual([`${b} ${PROJECT}`, `${a} ${OWN}`]);
  expect(await findHeld(store.reader, heldOf(b, OWN))).toBeUndefined();
});

test("a folder that is linked to another remote's project leaves behind what is held", async () => {
  const { store, a, b } = await twoRemotes();
  const other = projectId("other");
  const link: Link = { dir: "/d", projectId: other, name: "d", write: false };
  await store.write(async (context) => {
    await putHeld(context.db, heldOf(a, PROJECT));
    await context.open(projectDocument(b, other));
    await moveToProject(context, b, {
      former: { ...link, projectId: PROJECT },
      link,
      derivedId: undefined,
      bringsMemories: true,
    });
  });
  expect(await placesHeld(store)).toEqual([`${a} ${PROJECT}`]);
});

test("what waits in the inbox for one remote's user is held and written there alone", async () => {
  const { store, a, b } = await twoRemotes();
  const write = { kind: "memory", document: OWN, seen: [], writtenAt: NOW } as const;
  await store.write(async ({ db }) => {
    await appendToInbox(db, { ...write, account: a, key: "secret", value: PLANTED.github });
    await appendToInbox(db, { ...write, account: a, key: "fine", value: "of a" });
    await appendToInbox(db, { ...write, account: b, key: "fine", value: "of b" });
    await appendToInbox(db, { ...write, document: "proj_new", key: "fine", value: "of b" });
  });
  await drainInbox(store, b);
  expect(await placesHeld(store)).toEqual([`${a} ${OWN}`]);
  expect(await findBinding(store.reader, projectId("new"))).toBe(b);
  const values = await store.write(async (context) => {
    const open = [await context.open(userDocument(a, LOCAL_USER))];
    open.push(await context.open(userDocument(b, LOCAL_USER)));
    return open.map(({ document }) => document.memories.get("fine").map(({ value }) => value));
  });
  expect(values).toEqual([["of a"], ["of b"]]);
});

test("a salvaged memory comes back at its own remote, once that has answered", async () => {
  const { store, a, b } = await twoRemotes();
  const serviceOf = (account: string) => (account === a ? "service-a" : "service-b");
  await store.write(async ({ db }) => {
    const salvaged = { key: "lost", value: "found", client: 5, clock: 0, updated_at: NOW };
    await db
      .insertInto("salvaged_memories")
      .values({ ...salvaged, account: a, document: OWN })
      .execute();
  });
  const answered = async (account: typeof a) => {
    await store.write(async (context) => {
      const { id } = await context.open(userDocument(account, LOCAL_USER));
      const remote = { epoch: "e", seq: 1 };
      const position = { remote, ackedSeq: 0, refused: undefined };
      await writePosition(context.db, serviceOf(account), { documentId: id, position });
    });
    await settleSalvaged(store, serviceOf);
  };
  const lost = (account: typeof a) =>
    store.write(async (context) => {
      const { document } = await context.open(userDocument(account, LOCAL_USER));
      return document.memories.get("lost").length;
    });
  await answered(b);
  expect([await lost(a), await lost(b)]).toEqual([0, 0]);
  await answered(a);
  expect([await lost(a), await lost(b)]).toEqual([1, 0]);
});

/** A service without the exchange, which refuses what it is sent in company; `during` each call. */
function plainService(calls: string[], during: (method: string) => Promise<unknown>): Service {
  return {
    name: "plain",
    exchange: async () => ({ kind: "answered", value: "plain" }),
    createProject: async () => ({ kind: "answered", value: undefined }),
    forward: async () => ({ kind: "answered", value: {} }),
    async request(method) {
      calls.push(method);
      await during(method);
      if (method === "POST") {
        const why = failureBy({ code: "call-answered", status: 400, said: "no" });
        return { kind: "refused", status: 400, ...why };
      }
      const project = { id: PROJECT, name: "p", claude_md_content: "", memories: [] };
      return { kind: "answered", value: { project, ...project } };
    },
    close: async () => {},
  };
}

test.each([
  { at: "GET", called: ["GET"] },
  { at: "POST", called: ["GET", "POST"] },
  { at: "never", called: ["GET", "POST", "POST", "POST"] },
])("a plain service is sent no more of a project bound anew at its $at", async ({ at, called }) => {
  const { store, a, b } = await twoRemotes();
  await store.write(async (context) => {
    const { document } = await context.open(projectDocument(a, PROJECT));
    document.setEntry("memories", "other", { value: "value of other", now: NOW });
  });
  const calls: string[] = [];
  const service = plainService(calls, async (method) => {
    if (method === at) await store.write((context) => moveProject(context, PROJECT, { to: b }));
  });
  const projects = () => new Map([[PROJECT, "p"]]);
  const options = { store, service, account: a, user: LOCAL_USER, projects, taken: new Set("") };
  const outcome = await projectRound(options, PROJECT);
  expect(calls).toEqual([...called]);
  expect(outcome).toMatchObject({ kind: "answered", value: { sent: false } });
});
