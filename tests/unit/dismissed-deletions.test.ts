import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Y from "yjs";
import { type DeletionConflict, listConflicts } from "../../cli/local/local-conflicts.ts";
import { memoryHistory } from "../../cli/local/local-history.ts";
import { listHeld, putHeld } from "../../daemon/home/held-store.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { appendToInbox, type InboxWrite } from "../../daemon/inbox/inbox.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { removeMemory } from "../../shared/replica/document/memory-deletion.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { projectId } from "../support/project-id.ts";

const PROJECT = projectId("dismissed-deletions");
const ADDRESS = projectDocument(LOCAL_ACCOUNT, PROJECT);
const KEY = "deploy";
const OF_KEY = { document: PROJECT, key: KEY };

let folder: string;
let store: ReplicaStore<DaemonTables>;

/** A memory was written here while another machine deleted it. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "memsync-dismissed-"));
  store = await openTestReplica(join(folder, "memsync.db"), realWorld, { machine: "laptop" });
  const other = new ReplicaDocument([], 7);
  other.setEntry("memories", KEY, { value: "base", now: 1 });
  const first = Y.encodeStateAsUpdate(other.ydoc);
  removeMemory(other, { key: KEY, now: 3 });
  await store.write(async (context) => {
    const open = await context.open(ADDRESS);
    open.applyUpdate(first);
    open.document.setEntry("memories", KEY, { value: "here", now: 2 });
  });
  await store.write(async (context) => {
    (await context.open(ADDRESS)).applyUpdate(Y.encodeStateAsUpdate(other.ydoc));
  });
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function conflicts(): Promise<DeletionConflict[]> {
  const all = await listConflicts(store.reader);
  return all.flatMap((each) => (each.kind === "deletion" ? [each] : []));
}

async function shown(): Promise<string | undefined> {
  return (await readLocalMemories(store.reader, PROJECT)).find(({ key }) => key === KEY)?.value;
}

async function save(write: InboxWrite): Promise<void> {
  await store.write(({ db }) => appendToInbox(db, write));
}

async function dismissal(): Promise<InboxWrite> {
  const [conflict] = await conflicts();
  const seen = conflict?.deletion.deletions ?? [];
  return { kind: "losers", ...OF_KEY, seen, writtenAt: 5 };
}

test("a deletion that is dismissed is over at once, and so it stays", async () => {
  expect(await conflicts()).toMatchObject([{ deletion: { winner: { value: "here" } } }]);
  await save(await dismissal());
  for (const applies of [false, true]) {
    if (applies) await drainInbox(store);
    expect([await conflicts(), await shown()]).toEqual([[], "here"]);
  }
});

test("who writes a memory after a dismissal has seen what that made", async () => {
  await save(await dismissal());
  const [known] = await readLocalMemories(store.reader, PROJECT);
  const write = { kind: "memory", ...OF_KEY, value: "later", writtenAt: 6 } as const;
  await save({ ...write, seen: known?.seen ?? [] });
  await drainInbox(store);
  expect([await listConflicts(store.reader), await shown()]).toEqual([[], "later"]);
});

test("a dismissal leaves a value that is held here", async () => {
  const place = { kind: "memory", account: LOCAL_ACCOUNT, ...OF_KEY } as const;
  const why = { cause: "refused", reason: { code: "no-room" }, retryBatch: 1 } as const;
  const seen = (await readLocalMemories(store.reader, PROJECT))[0]?.seen ?? [];
  const held = { ...place, ...why, value: "held", seen, writtenAt: 4 };
  await store.write(({ db }) => putHeld(db, held));
  await save(await dismissal());
  await drainInbox(store);
  expect((await listHeld(store.reader, place)).map(({ value }) => value)).toEqual(["held"]);
});

test("what came after a deletion was chosen stays, and is a conflict under another id", async () => {
  const [conflict] = await conflicts();
  const { entries = [], deletions = [] } = conflict?.deletion ?? {};
  const chosen = { kind: "memory", ...OF_KEY, value: undefined, writtenAt: 5 } as const;
  await save({ ...chosen, seen: [...entries, ...deletions] });
  expect([await conflicts(), await shown()]).toEqual([[], undefined]);
  await store.write(async (context) => {
    const { document } = await context.open(ADDRESS);
    document.setEntry("memories", KEY, { value: "since then", now: 6, seen: entries });
  });
  await drainInbox(store);
  const after = await conflicts();
  expect([after.length, await shown()]).toEqual([1, "since then"]);
  expect(after[0]?.id).not.toBe(conflict?.id);
});

test("the history of a memory has its deletion", async () => {
  const source = { db: store.reader, document: PROJECT, account: LOCAL_ACCOUNT, machine: "laptop" };
  const states = (await memoryHistory(source, KEY)).map(({ state }) => state);
  expect(states).toEqual(["deleted", "current", "replaced"]);
});
