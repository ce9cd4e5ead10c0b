import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keptTextOf, readKeptText } from "../../daemon/home/kept-text.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import { appendToInbox, type InboxWrite, readInbox } from "../../daemon/inbox/inbox.ts";
import { dismissesConflict, laidOver, settlesEntry } from "../../daemon/inbox/overlay.ts";
import { readLocalMemories } from "../../daemon/reading/local-memories.ts";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { projectId } from "../support/project-id.ts";
import { createTestWorld } from "../support/test-world.ts";

const PROJECT = projectId("read");
const START = "# One\n\ntwo\n";

let folder: string;
let store: ReplicaStore<DaemonTables>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "memsync-reading-"));
  store = await openTestReplica(join(folder, "memsync.db"), createTestWorld());
  await store.write(async (context) => {
    const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, PROJECT));
    document.setContent(START, 1);
    for (const key of ["kept", "gone", "changed"]) {
      document.setEntry("memories", key, { value: `first ${key}`, now: 1 });
    }
  });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function wait(...writes: readonly InboxWrite[]): Promise<void> {
  await store.write(async ({ db }) => {
    for (const write of writes) await appendToInbox(db, write);
  });
}

const of = { document: PROJECT, writtenAt: 5 } as const;
const memory = (key: string, value: string | undefined): InboxWrite => {
  return { kind: "memory", ...of, key, value, seen: [] };
};

async function shown() {
  const memories = await readLocalMemories(store.reader, PROJECT);
  const text = await readLocalText(store.reader, PROJECT);
  return {
    memories: new Map(memories.map(({ key, value }) => [key, value])),
    text: text?.value ?? "",
  };
}

test("what waits is read as the next daemon will have it", async () => {
  const before = await shown();
  expect(before.text).toBe(START);
  const gone = (await readLocalMemories(store.reader, PROJECT)).find(({ key }) => key === "gone");
  await wait(
    memory("changed", "second"),
    memory("new", "first"),
    { kind: "memory", ...of, key: "gone", value: undefined, seen: gone?.seen ?? [] },
    { kind: "text", ...of, base: START, value: "# One\n\ntwo\nthree\n" },
    memory("new", "second"),
  );
  const waiting = await shown();
  expect(waiting).toEqual(laidOver(before, await readInbox(store.reader, PROJECT)));
  expect(waiting.text).toBe("# One\n\ntwo\nthree\n");
  await drainInbox(store);
  const after = await shown();
  expect(after.text).toBe(waiting.text);
  expect(Object.fromEntries(after.memories)).toEqual(Object.fromEntries(waiting.memories));
});

test("what is said of a text is the same with and without a daemon", async () => {
  for (const value of ["# One", "# One\n", "\n", "é\n\n", "a\nb", "a\r\nb\r\n"]) {
    await store.write(async (context) => {
      const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, PROJECT));
      document.setContent(value, 2);
    });
    const text = await readLocalText(store.reader, PROJECT);
    const kept = await readKeptText(store.reader, LOCAL_ACCOUNT, PROJECT);
    expect(text && keptTextOf(text.value, text.writtenAt)).toEqual(kept ?? undefined);
    expect(text?.value).toBe(value);
  }
});

test("what waits settles the entries that it saw, and the conflicts that it names", () => {
  const [one, other] = [
    { client: 1, clock: 2 },
    { client: 1, clock: 3 },
  ];
  const writes: InboxWrite[] = [
    { kind: "losers", ...of, key: "k", seen: [one] },
    { kind: "text-conflict", ...of, id: "c1" },
  ];
  expect(settlesEntry(writes, "k", { ...one })).toBe(true);
  expect(settlesEntry(writes, "k", other)).toBe(false);
  expect(settlesEntry(writes, "other", one)).toBe(false);
  expect(settlesEntry([memory("k", "v")], "k", one)).toBe(false);
  expect([dismissesConflict(writes, "c1"), dismissesConflict(writes, "k")]).toEqual([true, false]);
});
