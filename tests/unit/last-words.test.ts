import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Y from "yjs";
import { ALL_LAST_WORDS, lastWordsSeq } from "../../daemon/home/last-words.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { outgoingOf } from "../../daemon/home/outgoing.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { listUnsent } from "../../daemon/home/unlinked-projects.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { DELETION_KEY } from "../../shared/replica/document/deletion-entry.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { JOINED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { deleteProject } from "../../shared/replica/document/project-deletion.ts";
import { recordJoin } from "../../shared/replica/document/project-join.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { projectId } from "../support/project-id.ts";

const [X, OTHER] = [projectId("x"), projectId("y")];
const folder = mkdtempSync(join(tmpdir(), "memsync-last-words-"));
const stores: ReplicaStore<DaemonTables>[] = [];

afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

const sayJoined = (document: ReplicaDocument, now: number) =>
  recordJoin(document, { of: X, to: OTHER, name: "y", at: now, machine: "lap", home: undefined });

/** A home with a project that no folder is linked to, and that has a memory from before. */
async function openUnlinked() {
  const path = join(folder, `home-${stores.length}.db`);
  const store = await openTestReplica(path, realWorld, { machine: "lap" });
  stores.push(store);
  const edit = async (make: (open: OpenDocument, now: number) => unknown) => {
    await store.write(async (context) => {
      await make(await context.open(projectDocument(LOCAL_ACCOUNT, X)), context.now);
    });
  };
  const set = (key: string) =>
    edit(({ document }, now) => document.setEntry("memories", key, { value: "1", now }));
  /** What goes out where the service has acknowledged the rows through `ackedSeq`. */
  const outgoing = (ackedSeq: number) =>
    store.write(async (context) => {
      const open = await context.open(projectDocument(LOCAL_ACCOUNT, X));
      const seq = await lastWordsSeq(context.db, open.id, { ackedSeq, words: ALL_LAST_WORDS });
      const position = { remote: { epoch: "e", seq: 1 }, ackedSeq, refused: undefined };
      return await outgoingOf(context.db, open, { ...position, untilSeq: seq ?? ackedSeq });
    });
  const unsent = (what: (typeof ALL_LAST_WORDS)[number]) =>
    listUnsent(store.reader, { what, links: [], serviceOf: () => "service" });
  await set("before");
  return { edit, set, outgoing, unsent };
}

/** What a service has that got this: memories, and the last words. */
function keysIn(update: Uint8Array | undefined): string[] {
  const { memories, metadata } = new ReplicaDocument(update ? [update] : [], 1);
  const isLast = (key: string) => key.startsWith(JOINED_PREFIX) || key === DELETION_KEY;
  return [...memories.keys(), ...[...metadata.keys()].filter(isLast)];
}

const JOIN = `${JOINED_PREFIX}${X}/${OTHER}`;

test("of a project without a link that has nothing more to say nothing is sent", async () => {
  const { set, outgoing, unsent } = await openUnlinked();
  await set("mine");
  expect(await unsent("join")).toEqual([]);
  for (const acked of [0, 1]) {
    const { request, throughSeq, more } = await outgoing(acked);
    expect({ update: request.update, throughSeq, more }).toEqual({
      update: undefined,
      throughSeq: acked,
      more: false,
    });
  }
});

test("a join is sent, and what is written after it stays here", async () => {
  const { edit, set, outgoing, unsent } = await openUnlinked();
  await edit(({ document }, now) => sayJoined(document, now));
  await set("mine");
  expect(await unsent("join")).toEqual([X]);
  const whole = await outgoing(0);
  expect(keysIn(whole.request.update)).toEqual(["before", JOIN]);
  expect(whole).toMatchObject({ throughSeq: 2, more: false });
  const part = await outgoing(1);
  expect(Y.parseUpdateMeta(part.request.update ?? new Uint8Array()).to.size).toBe(1);
  expect(part).toMatchObject({ throughSeq: 2, more: false });
  // Once it is acknowledged it is over, whatever is written then.
  await set("later");
  const after = await outgoing(2);
  expect(after).toMatchObject({ throughSeq: 2, more: false });
  expect(after.request.update).toBeUndefined();
});

test("what is written into a deleted project after its deletion stays here", async () => {
  const { edit, set, outgoing, unsent } = await openUnlinked();
  await edit(({ document }, now) => deleteProject(document, now));
  await set("mine");
  expect(await unsent("deletion")).toEqual([X]);
  const { request, throughSeq } = await outgoing(0);
  expect(keysIn(request.update)).toEqual([DELETION_KEY]);
  expect(throughSeq).toBe(2);
});

test("what another machine has said of a project is not sent, nor what is written here", async () => {
  for (const say of [sayJoined, deleteProject]) {
    const { edit, set, outgoing, unsent } = await openUnlinked();
    const theirs = new ReplicaDocument([], 7);
    await say(theirs, 1);
    await edit((open) => open.applyUpdate(Y.encodeStateAsUpdate(theirs.ydoc)));
    await set("mine");
    expect([await unsent("join"), await unsent("deletion")]).toEqual([[], []]);
    expect((await outgoing(1)).request.update).toBeUndefined();
  }
});
