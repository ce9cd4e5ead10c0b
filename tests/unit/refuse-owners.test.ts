import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepHeard } from "../../daemon/home/audience-store.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/home/local-account.ts";
import { findBinding, listRemotes } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { bindProject } from "../../daemon/remotes/bind-project.ts";
import { findOfAnother } from "../../daemon/remotes/refuse-owners.ts";
import { addRemote } from "../../daemon/remotes/remote-book.ts";
import { changeRemote, type RemoteChange } from "../../daemon/remotes/remote-change.ts";
import { projectDocument, userDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { projectId } from "../support/project-id.ts";

const PROJECT = projectId("owned");
const BOOK = { world: realWorld, environment: { url: undefined, token: undefined } };
const folder = mkdtempSync(join(tmpdir(), "memsync-owners-"));
const stores: ReplicaStore<DaemonTables>[] = [];

afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

interface Person {
  readonly name: string | null;
  readonly user: string | null;
}

/** A home with a remote of each, the first one's with a project and a memory of the layer user. */
async function twoOwners(one: Person, other: Person) {
  const store = await openTestReplica(join(folder, `home-${stores.length}.db`), realWorld);
  stores.push(store);
  const [first, second] = await store.write(async (context) => {
    const remotes = [];
    for (const [name, owner] of [
      ["one", one],
      ["other", other],
    ] as const) {
      const remote = await addRemote(context, BOOK, { name, url: `https://${name}.example.com` });
      const heard = { plan: null, users: 2, ...owner };
      await keepHeard(context.db, remote, { heard, now: context.now });
      remotes.push(remote.account);
    }
    const [account = LOCAL_ACCOUNT] = remotes;
    await context.open(projectDocument(account, PROJECT));
    const user = await context.open(userDocument(account, LOCAL_USER));
    user.document.setEntry("memories", "me", { value: "of one", now: context.now });
    return remotes;
  });
  const change = (asked: RemoteChange) =>
    store.write((context) => changeRemote(context, BOOK, asked));
  const link = (ofAnother: boolean) =>
    store.write((context) => {
      const binding = { project: PROJECT, former: undefined, others: [], ofAnother };
      return bindProject(context, BOOK, { ...binding, remote: "other" });
    });
  const ways = [
    (ofAnother: boolean) => change({ op: "move", project: PROJECT, to: "other", ofAnother }),
    (ofAnother: boolean) =>
      change({ op: "memories", layer: "user", from: "one", to: "other", ofAnother }),
    link,
  ] as const;
  if (first === undefined || second === undefined) throw new Error("both were added");
  return { store, first, second, change, ways };
}

const ANN = { name: "acme", user: "ann" };

test.each([
  ["another user of the account", { name: "acme", user: "bob" }],
  ["another account of the same name", { name: "home", user: "ann" }],
])("nothing is moved to %s before somebody has agreed", async (_, other) => {
  const { store, first, second, ways } = await twoOwners(ANN, other);
  const why = `what is at one is ann's of the account acme, and other is ${other.user}'s of`;
  for (const way of ways) await expect(way(false)).rejects.toThrow(why);
  expect(await findBinding(store.reader, PROJECT)).toBe(first);
  for (const way of ways) await way(true);
  expect(await findBinding(store.reader, PROJECT)).toBe(second);
});

test.each([
  ["the same", ANN],
  ["nobody who is known", { name: null, user: null }],
])("everything is moved to %s without a question", async (_, other) => {
  const { store, second, ways } = await twoOwners(ANN, other);
  for (const way of ways) await way(false);
  expect(await findBinding(store.reader, PROJECT)).toBe(second);
});

test("what a removed remote had stays its owner's in the embedded service", async () => {
  const { store, change } = await twoOwners(ANN, { name: "acme", user: "bob" });
  await change({ op: "remove", name: "one", isGone: true });
  const accountOf = async (name: string) =>
    (await listRemotes(store.reader)).find((each) => each.name === name)?.account ?? LOCAL_ACCOUNT;
  const move = { from: await accountOf("embedded"), to: await accountOf("other") };
  expect(await findOfAnother(store.reader, move)).toEqual({
    whose: expect.stringMatching(/^what is at embedded is ann's .*, and other is bob's /),
    way: "`memsync login --url https://one.example.com --remote NAME --move` with a token of ann",
  });
  const back = { op: "memories", layer: "user", from: "embedded", to: "other" } as const;
  await expect(change(back)).rejects.toThrow("ann's");
  // Two owners' memories come into one service no sooner than somebody agrees.
  const bobs = { op: "memories", layer: "user", from: "other", to: "embedded" } as const;
  await change({ ...back, ofAnother: true });
  await expect(change(bobs)).rejects.toThrow("bob's");
  await expect(change({ op: "remove", name: "other", isGone: true })).rejects.toThrow("bob's");
  await change({ op: "remove", name: "other", isGone: true, ofAnother: true });
});

test("what comes into the embedded service first makes it its owner's", async () => {
  const project = { op: "move", project: PROJECT } as const;
  const memories = { op: "memories", layer: "user" } as const;
  for (const [into, on, back] of [
    [{ to: "embedded" }, { to: "other" }, { to: "one" }].map((to) => ({ ...project, ...to })),
    [
      { ...memories, from: "one", to: "embedded" },
      { ...memories, from: "embedded", to: "other" },
      { ...memories, from: "embedded", to: "one" },
    ],
  ] as const) {
    const { change } = await twoOwners(ANN, { name: "acme", user: "bob" });
    if (!into || !on || !back) throw new Error("each has three moves");
    await change(into);
    await expect(change(on)).rejects.toThrow("ann's");
    await change(back);
  }
});
