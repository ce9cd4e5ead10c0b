import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Y from "yjs";
import { activityLine } from "../../cli/screen/activity-view.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { SyncJournal } from "../../daemon/sync/sync-journal.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { removeMemory } from "../../shared/replica/document/memory-deletion.ts";
import { OWN_METADATA_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { projectId } from "../support/project-id.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-journal-"));
afterAll(() => rmSync(folder, { recursive: true }));

const PROJECT = projectId("widget");
const ADDRESS = projectDocument(LOCAL_ACCOUNT, PROJECT);

/** A journal beside a replica, with the lines that it makes. */
async function journalOf(name: string) {
  const store = await openTestReplica(join(folder, name), realWorld, { machine: "laptop" });
  const lines: string[] = [];
  const journal = new SyncJournal({
    store,
    projects: () => new Map([[PROJECT, "widget"]]),
    isEmbedded: false,
    onTransfer: (transfer) => lines.push(activityLine(transfer)),
  });
  store.onCommit((rows: readonly CommittedRow[]) => {
    for (const row of rows) row.origin === "local" ? journal.changed(row) : journal.received(row);
  });
  return { store, journal, lines };
}

/** An update of another machine's, which writes one memory. */
function updateOf(key: string): Uint8Array {
  const other = new ReplicaDocument([], 7);
  other.setEntry("memories", key, { value: "by another machine", now: 1 });
  return Y.encodeStateAsUpdate(other.ydoc);
}

test("what is not there any more is told as deleted, on both sides", async () => {
  const { store, journal, lines } = await journalOf("deleted.db");
  const other = new ReplicaDocument([], 7);
  const sent = async (bytes: number) => {
    journal.sent(ADDRESS.name, bytes);
    await journal.settled();
  };
  for (const key of ["theirs", "one", "two"]) {
    other.setEntry("memories", key, { value: "by another machine", now: 1 });
  }
  const update = () => Y.encodeStateAsUpdate(other.ydoc);
  await store.write(async (context) => {
    (await context.open(ADDRESS)).applyUpdate(update());
  });
  await store.write(async (context) => {
    (await context.open(ADDRESS)).document.deleteEntry("memories", "one");
  });
  await sent(10);
  await store.write(async (context) => {
    const { document } = await context.open(ADDRESS);
    document.deleteEntry("memories", "two");
    document.setEntry("memories", "three", { value: "3", now: 2 });
  });
  await sent(20);
  other.deleteEntry("memories", "theirs");
  await store.write(async (context) => {
    (await context.open(ADDRESS)).applyUpdate(update());
  });
  await journal.settled();
  expect(lines.slice(1)).toEqual([
    "sent       widget  memory one deleted  10 bytes",
    "sent       widget  1 memory, 1 memory deleted  20 bytes",
    expect.stringMatching(/^received {3}widget {2}memory theirs deleted {2}\d+ bytes/),
  ]);
  await store.close();
});

test("others' deletion of what was written here meanwhile is told", async () => {
  const { store, journal, lines } = await journalOf("undone.db");
  const other = new ReplicaDocument([updateOf("theirs")], 8);
  await store.write(async (context) => {
    const open = await context.open(ADDRESS);
    open.applyUpdate(updateOf("theirs"));
    open.document.setEntry("memories", "theirs", { value: "here", now: 2 });
  });
  removeMemory(other, { key: "theirs", now: 3 });
  await store.write(async (context) => {
    (await context.open(ADDRESS)).applyUpdate(Y.encodeStateAsUpdate(other.ydoc));
  });
  await journal.settled();
  expect(lines.at(-1)).toMatch(/^received {3}widget {2}memory theirs {2}\d+ bytes/);
  expect(lines).toHaveLength(2);
  await store.close();
});

test("what came from others in the same commit is not told as sent", async () => {
  const { store, journal, lines } = await journalOf("both.db");
  await store.write(async (context) => {
    const open = await context.open(ADDRESS);
    open.applyUpdate(updateOf("theirs"));
    open.document.setEntry("memories", "mine", { value: "here", now: 2 });
  });
  journal.sent(ADDRESS.name, 100);
  await journal.settled();
  expect(lines).toEqual([
    expect.stringMatching(/^received {3}widget {2}memory theirs {2}\d+ bytes/),
    "sent       widget  memory mine  100 bytes",
  ]);
  await store.close();
});

test("what a merge records of itself is sent without a line, what is older with one", async () => {
  const { store, journal, lines } = await journalOf("merge.db");
  journal.sent(ADDRESS.name, 50);
  await store.write(async (context) => {
    const open = await context.open(ADDRESS);
    open.applyUpdate(updateOf("theirs"));
    open.document.setEntry("metadata", `${OWN_METADATA_PREFIX}merge`, { value: {}, now: 2 });
  });
  journal.sent(ADDRESS.name, 100);
  await journal.settled();
  expect(lines).toEqual([
    "sent       widget  other changes  50 bytes",
    expect.stringMatching(/^received {3}widget {2}memory theirs/),
  ]);
  await store.close();
});
