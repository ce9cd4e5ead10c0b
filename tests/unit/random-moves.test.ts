import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Y from "yjs";
import { listHeld } from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { outgoingOf } from "../../daemon/home/outgoing.ts";
import { keepPersonalVersion } from "../../daemon/home/personal-versions.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { moveMemories } from "../../daemon/remotes/move-memories.ts";
import { PrivateThere } from "../../daemon/remotes/private-parts.ts";
import { addRemote, moveProject } from "../../daemon/remotes/remote-book.ts";
import type { AccountId } from "../../shared/ids.ts";
import { recordTextConflict } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { Entry } from "../../shared/replica/document/entry-index.ts";
import { removeMemory } from "../../shared/replica/document/memory-deletion.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { projectId } from "../support/project-id.ts";
import { pick, seededRandom } from "../support/random.ts";
import { exchangeAll, NOW, viewOf } from "../support/replicas.ts";

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const PROJECT = projectId("random-moves");
const OWN_LINE = "Answer me in short sentences";
const book = { world: realWorld, environment: { url: undefined, token: undefined } };
const folder = mkdtempSync(join(tmpdir(), "memsync-random-moves-"));
const stores: ReplicaStore<DaemonTables>[] = [];

afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

/** A home with a remote, and with a text of its owner's own. */
async function openHome() {
  const store = await openTestReplica(join(folder, `${stores.length}.db`), realWorld);
  stores.push(store);
  const there = await store.write(async (context) => {
    await keepPersonalVersion(context.db, {
      id: "abcdefghij",
      value: `${OWN_LINE}\n`,
      isOwn: true,
    });
    return (await addRemote(context, book, { name: "a", url: "https://a.example.com" })).account;
  });
  const place = (owner: AccountId, name: string) => ({ owner, name });
  return {
    store,
    there,
    take: (owner: AccountId, name: string, update: Uint8Array) =>
      store.write(async (context) => {
        const open = await context.open(place(owner, name));
        expect(open.applyUpdate(update)).toMatchObject({ kind: "admitted" });
      }),
    edit: (owner: AccountId, name: string, make: (document: ReplicaDocument) => unknown) =>
      store.write(async (context) => {
        make((await context.open(place(owner, name))).document);
      }),
    state: (owner: AccountId, name: string) =>
      store.write(async (context) => {
        const { document } = await context.open(place(owner, name));
        return Y.encodeStateAsUpdate(document.ydoc);
      }),
    /** The whole document as it goes to a service that has answered for the first time. */
    sent: (owner: AccountId, name: string) =>
      store.write(async (context) => {
        const open = await context.open(place(owner, name));
        const position = { remote: { epoch: "e", seq: 0 }, ackedSeq: 0, refused: undefined };
        return (await outgoingOf(context.db, open, position)).request.update ?? new Uint8Array();
      }),
  };
}

function load(update: Uint8Array): ReplicaDocument {
  return new ReplicaDocument([update], 99);
}

const KEYS = ["a", "b", "c", "d"];
const LINES = ["# P", "one", "two", "three", "four", "five"];

function edit(document: ReplicaDocument, random: () => number, values: readonly string[]) {
  const now = NOW + Math.floor(random() * 50);
  const key = pick(random, KEYS);
  switch (Math.floor(random() * 7)) {
    case 0:
    case 1:
    case 2:
      document.setEntry("memories", key, { value: pick(random, values), now });
      break;
    case 3:
      document.setEntry("metadata", key, { value: pick(random, values), now });
      break;
    case 4:
      removeMemory(document, { key, now });
      break;
    case 5: {
      const lines = LINES.filter(() => random() < 0.6);
      document.setContent(lines.map((each) => `${each}\n`).join(""), now);
      break;
    }
    default: {
      const at = (text: string, machine: string) => ({ text: `${text}\n`, machine, at: now });
      const versions = [at(pick(random, LINES), "x"), at(pick(random, values), "y")] as const;
      recordTextConflict(document, { kind: "both", versions }, { now });
    }
  }
}

/** Documents of several machines that hear of each other now and then; in the end all have all. */
function machines(random: () => number, values: readonly string[], first = 1): ReplicaDocument[] {
  const all = [0, 1, 2].map((nth) => new ReplicaDocument([], first + nth));
  for (let step = 0; step < 40; step++) {
    edit(pick(random, all), random, values);
    if (random() < 0.1) exchangeAll(all);
  }
  exchangeAll(all);
  return all;
}

const FINE = ["v1", "v2", "v3", "v4"];

describe.each(SEEDS)("seed %i", (seed) => {
  test("a project stays whole where it has something private, and moves with all its entries", async () => {
    const random = seededRandom(seed);
    for (const values of [FINE, [...FINE, OWN_LINE]]) {
      const home = await openHome();
      const [document] = machines(random, values) as [ReplicaDocument];
      await home.take(LOCAL_ACCOUNT, PROJECT, Y.encodeStateAsUpdate(document.ydoc));
      const before = await home.state(LOCAL_ACCOUNT, PROJECT);
      const isPrivate = Buffer.from(before).toString("latin1").includes(OWN_LINE);
      const moving = home.store.write((context) =>
        moveProject(context, PROJECT, { to: home.there }),
      );
      if (isPrivate) await expect(moving).rejects.toBeInstanceOf(PrivateThere);
      else expect(await moving).toBe(true);
      const owner = isPrivate ? LOCAL_ACCOUNT : home.there;
      const after = await home.state(owner, PROJECT);
      expect(viewOf(load(after))).toEqual(viewOf(document));
      expect(Buffer.from(after)).toEqual(Buffer.from(before));
      expect(await listHeld(home.store.reader)).toEqual([]);
    }
  });

  test("machines that move one after another or at once are as if they had met where they were", async () => {
    const random = seededRandom(seed + 100);
    const [shared] = machines(random, FINE) as [ReplicaDocument];
    shared.setEntry("memories", "own", { value: OWN_LINE, now: NOW });
    const service = new ReplicaDocument([], 50);
    const met = new ReplicaDocument([], 51);
    const homes = [await openHome(), await openHome()];
    for (const home of homes) {
      await home.take(LOCAL_ACCOUNT, PROJECT, Y.encodeStateAsUpdate(shared.ydoc));
      const moving = home.store.write((context) =>
        moveProject(context, PROJECT, { to: home.there }),
      );
      await expect(moving).rejects.toBeInstanceOf(PrivateThere);
    }
    const isAtOnce = random() < 0.5;
    const editSome = (document: ReplicaDocument) => {
      for (let step = 0; step < 4; step++) edit(document, random, FINE);
    };
    for (const home of homes) {
      await home.edit(LOCAL_ACCOUNT, PROJECT, (document) => {
        editSome(document);
        removeMemory(document, { key: "own", now: NOW + 60 });
      });
      Y.applyUpdate(met.ydoc, await home.state(LOCAL_ACCOUNT, PROJECT));
      await home.store.write((context) => moveProject(context, PROJECT, { to: home.there }));
      if (isAtOnce) continue;
      Y.applyUpdate(service.ydoc, await home.sent(home.there, PROJECT));
    }
    for (const home of homes) {
      Y.applyUpdate(service.ydoc, await home.sent(home.there, PROJECT));
    }
    const all = Y.encodeStateAsUpdate(service.ydoc);
    expect(Buffer.from(all).toString("latin1")).not.toContain(OWN_LINE);
    expect(viewOf(service)).toEqual(viewOf(met));
    for (const home of homes) {
      await home.take(home.there, PROJECT, all);
      expect(viewOf(load(await home.state(home.there, PROJECT)))).toEqual(viewOf(met));
    }
  });

  test("of a layer, what is not private is all there, and what is private is held once", async () => {
    const random = seededRandom(seed + 200);
    const home = await openHome();
    const [from] = machines(random, [...FINE, OWN_LINE]) as [ReplicaDocument];
    const [to] = machines(random, ["v1", "w1", "w2"], 11) as [ReplicaDocument];
    await home.take(LOCAL_ACCOUNT, "global", Y.encodeStateAsUpdate(from.ydoc));
    await home.take(home.there, "global", Y.encodeStateAsUpdate(to.ydoc));
    await home.store.write((context) =>
      moveMemories(context, "global", { from: LOCAL_ACCOUNT, to: home.there }),
    );
    const after = load(await home.state(home.there, "global"));
    const held = await listHeld(home.store.reader);
    const plain = ({ value, created_at, updated_at }: Entry) => ({ value, created_at, updated_at });
    for (const key of KEYS) {
      const [mine, theirs] = [from.memories.get(key), to.memories.get(key)];
      const fine = mine.filter(({ value }) => value !== OWN_LINE);
      const values = new Set([...fine, ...theirs].map(({ value }) => value));
      const there = after.memories.get(key);
      expect(new Set(there.map(({ value }) => value))).toEqual(values);
      const latest = Math.max(...[...fine, ...theirs].map((each) => each.updated_at));
      if (there.length > 0) expect(there[0]?.updated_at).toBe(latest);
      const own = fine.filter(({ value }) => theirs.every((each) => each.value !== value));
      const moved = there.filter(({ value }) => own.some((each) => each.value === value));
      expect(moved.map(plain)).toEqual(own.map(plain));
      const hidden = mine.filter(({ value }) => value === OWN_LINE);
      const kept = held.filter((each) => each.key === key);
      expect(kept.map((each) => each.writtenAt)).toEqual(
        hidden.slice(0, 1).map((each) => each.updated_at),
      );
      const told = [...to.deletionsOf(key), ...(fine.length > 0 ? from.deletionsOf(key) : [])];
      expect(after.deletionsOf(key).map(plain)).toEqual(expect.arrayContaining(told.map(plain)));
    }
    const state = Buffer.from(await home.state(home.there, "global")).toString("latin1");
    expect(state).not.toContain(OWN_LINE);
    expect([...load(await home.state(LOCAL_ACCOUNT, "global")).memories.keys()]).toEqual([]);
  });
});
