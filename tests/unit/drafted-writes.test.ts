import { expect, setDefaultTimeout, test } from "bun:test";
import * as Y from "yjs";
import { createSyncService } from "../../server/services/sync-service.ts";
import type { ServiceTables } from "../../server/stores/tables.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { deleteProject } from "../../shared/replica/document/project-deletion.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { DocumentRequest } from "../../shared/wire/exchange.ts";
import type { SyncPayload } from "../../shared/wire/sync.ts";
import { failureOf } from "../support/failure.ts";
import { projectId } from "../support/project-id.ts";
import { shownValue } from "../support/replicas.ts";
import {
  address,
  checkFullText,
  inspect,
  memoriesOf,
  memoryRows,
  setMemory,
  viewsAroundRestart,
} from "../support/stored.ts";
import { storesOfTests, type TempStore, type TempStoreOptions } from "../support/temp-store.ts";
import { caller } from "../support/test-services.ts";
import { watched } from "../support/watched-connection.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const newStore = storesOfTests();
const PROJECT = projectOf(address().name) ?? ("" as never);
const KEYS = Array.from({ length: 300 }, (_, at) => `key-${at}`);

function valuesOf(value: string, keys: readonly string[] = KEYS): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, value]));
}

function syncTo(
  temp: TempStore,
  values: Record<string, string>,
  { id = PROJECT, ...rest }: Partial<SyncPayload> & { readonly id?: typeof PROJECT } = {},
) {
  const memories = Object.entries(values).map(([key, value]) => ({ key, value }));
  const service = createSyncService(temp.store, { world: temp.world });
  const asked = { payload: { memories, ...rest }, createMissing: true };
  return service.apply(caller(), id, asked);
}

/** A project that has all keys; `meanwhile` is called once while the next long sync is drafted. */
async function newProject(options: TempStoreOptions = {}) {
  let meanwhile: (() => Promise<unknown>) | undefined;
  const pause = async () => {
    const work = meanwhile;
    meanwhile = undefined;
    await work?.();
  };
  const temp = await newStore({ ...options, pause });
  await syncTo(temp, valuesOf("first"));
  return {
    temp,
    next(work: () => Promise<unknown>) {
      meanwhile = work;
    },
  };
}

/** Memory, disk and index say the same, before and after a restart. */
async function checkStored(temp: TempStore, expected: Record<string, string>): Promise<void> {
  expect(await memoriesOf(temp.store)).toEqual(expected);
  expect(await memoryRows(temp.store)).toEqual(expected);
  await checkFullText(temp);
  const { before, after } = await viewsAroundRestart(temp);
  expect(after).toEqual(before);
}

async function rowsOfLog({ store }: TempStore): Promise<number> {
  return (await store.reader.selectFrom("updates").select("seq").execute()).length;
}

test("while a long sync is worked out others write, and see nothing of it", async () => {
  const { temp, next } = await newProject();
  let seen: unknown;
  next(async () => {
    await setMemory(temp.store, "k", "of another", "b");
    seen = (await memoryRows(temp.store))["key-7"];
  });
  const answer = await syncTo(temp, valuesOf("second"), { claude_md_content: "text\n" });
  expect(seen).toBe("first");
  expect(answer.changes).toEqual({ created: 0, updated: 300, unchanged: 0 });
  expect(answer.memories).toHaveLength(300);
  expect(answer.claude_md_content).toBe("text\n");
  expect(await memoriesOf(temp.store, "b")).toEqual({ k: "of another" });
  expect(await rowsOfLog(temp)).toBe(3);
  await checkStored(temp, valuesOf("second"));
});

test("a new project of a long sync is there with the sync, and not before", async () => {
  const { temp, next } = await newProject();
  let seen: unknown[] = [];
  next(async () => {
    await setMemory(temp.store, "k", "v", "b");
    seen = await temp.store.reader.selectFrom("documents").select(["id", "name"]).execute();
  });
  const id = projectId("proj_new");
  const answer = await syncTo(temp, valuesOf("v"), { id });
  expect(answer.changes).toEqual({ created: 300, updated: 0, unchanged: 0 });
  // The id that the new one has is taken before another's.
  const others = [1, 3].map((each, at) => ({ id: each, name: address(at ? "b" : "a").name }));
  expect(seen).toEqual(others);
  const documents = temp.store.reader.selectFrom("documents").select(["id", "name", "seq"]);
  expect(await documents.where("name", "=", id).execute()).toEqual([{ id: 2, name: id, seq: 1 }]);
  await temp.reopen();
  const again = await syncTo(temp, { "key-7": "w" }, { id });
  expect(again.memories).toHaveLength(300);
  expect(again.memories[7]).toEqual({ key: "key-7", value: "w" });
  await checkFullText(temp);
});

test("of a new project whose long sync is refused nothing is left, not even the project", async () => {
  const { temp } = await newProject();
  const id = projectId("proj_new");
  const metadata = { key: "x".repeat(300_000) };
  const failure = await failureOf(() => syncTo(temp, valuesOf("v"), { metadata, id }));
  expect(String(failure)).toContain("metadata may take at most");
  const documents = await temp.store.reader.selectFrom("documents").select("id").execute();
  expect(documents).toEqual([{ id: 1 }]);
  expect((await syncTo(temp, valuesOf("v"), { id })).changes.created).toBe(300);
});

test("a new project that somebody else makes meanwhile is the one that is synced", async () => {
  const { temp, next } = await newProject();
  next(() => setMemory(temp.store, "mine", "v", "c"));
  const id = projectOf(address("c").name) ?? PROJECT;
  const { memories } = await syncTo(temp, valuesOf("v"), { id });
  expect(memories).toHaveLength(301);
  expect(await memoriesOf(temp.store, "c")).toEqual({ ...valuesOf("v"), mine: "v" });
  await checkFullText(temp);
});

test("a project that was deleted is begun anew by a long sync", async () => {
  const { temp } = await newProject();
  await temp.store.write(async (context) => {
    await deleteProject((await context.open(address())).document, context.now);
  });
  const { memories, changes } = await syncTo(temp, valuesOf("second"));
  expect(changes.created).toBe(300);
  expect(memories).toHaveLength(300);
  await checkStored(temp, valuesOf("second"));
});

test("when its transaction begins, a long sync has nothing to read of what it writes", async () => {
  const ran: string[] = [];
  const wrap: TempStoreOptions["wrap"] = (each) => watched(each, (sql) => void ran.push(sql));
  const { temp, next } = await newProject({ wrap });
  next(async () => void ran.splice(0));
  await syncTo(temp, valuesOf("second"));
  expect(ran.filter((sql) => sql === "BEGIN IMMEDIATE")).toHaveLength(1);
  expect(ran.filter((sql) => sql.startsWith("update memories")).length).toBeGreaterThan(4);
  const read = ran.filter((sql) => sql.startsWith("select") && sql.includes('"key" in'));
  expect(read).toEqual([]);
});

test("a long write has a commit of its own, and nobody waits for two of them", async () => {
  const ran: string[] = [];
  const { temp } = await newProject({
    wrap: (each) => watched(each, (sql) => void ran.push(sql)),
  });
  ran.length = 0;
  const write = (name: string, meanwhile?: () => void): Promise<unknown> => {
    const work = async () => {
      ran.push(name);
      meanwhile?.();
    };
    return temp.store.write(work, { isLong: name.startsWith("long") });
  };
  let late: Promise<unknown>[] = [];
  const comeLate = () => {
    late = ["long-3", "c"].map((name) => write(name));
  };
  const first = [write("a"), write("long-1", comeLate), write("long-2"), write("b")];
  await Promise.all(first);
  await Promise.all(late);
  const steps = ran.filter((sql) => !sql.includes("step"));
  const commits = [["a", "b"], ["long-1"], ["c"], ["long-2"], ["long-3"]];
  expect(steps).toEqual(commits.flatMap((names) => ["BEGIN IMMEDIATE", ...names, "COMMIT"]));
});

test("the account's own write that comes later is written later", async () => {
  const { temp, next } = await newProject();
  const later: Promise<unknown>[] = [];
  next(async () => {
    later.push(syncTo(temp, { "key-7": "later" }));
  });
  await syncTo(temp, valuesOf("second"));
  await Promise.all(later);
  await checkStored(temp, { ...valuesOf("second"), "key-7": "later" });
});

type Change = (context: WriteContext<ServiceTables>) => Promise<unknown>;

const CHANGES: Record<string, { change: Change; left?: Record<string, string> }> = {
  "was written to": {
    change: async (context) => {
      const { document } = await context.open(address());
      document.setEntry("memories", "mine", { value: "v", now: context.now });
    },
    left: { mine: "v" },
  },
  "was rebuilt": {
    change: async (context) => {
      const open = await context.open(address());
      await context.rebuild(open, new Uint8Array([0, 0]));
    },
  },
  "was put back by the host": {
    change: async (context) => context.reread(caller().account),
  },
};

for (const [what, { change, left = {} }] of Object.entries(CHANGES)) {
  test(`a draft is dropped where its document ${what}, and the sync applies to what is there`, async () => {
    const { temp, next } = await newProject();
    next(() => temp.store.write(change));
    await syncTo(temp, valuesOf("second"));
    const rows = await temp.store.reader.selectFrom("updates").select("epoch").execute();
    expect(rows.at(-1)?.epoch).toBe(temp.store.writer.epoch);
    await checkStored(temp, { ...valuesOf("second"), ...left });
  });
}

test("a draft is dropped where another project has come in its place", async () => {
  const { temp, next } = await newProject();
  next(async () => {
    await temp.store.write(async (context) => {
      const open = await context.open(address());
      await context.giveTo(open, caller({ account: "other" }).account);
    });
    await setMemory(temp.store, "mine", "v");
  });
  const { changes } = await syncTo(temp, valuesOf("second"));
  expect(changes).toEqual({ created: KEYS.length, updated: 0, unchanged: 0 });
  expect(await memoriesOf(temp.store)).toEqual({ ...valuesOf("second"), mine: "v" });
  await checkFullText(temp);
});

/** Another replica that has all of the project, and the long update that it makes next. */
async function replicaOf(temp: TempStore) {
  const held = await inspect(temp.store, ({ document }) => Y.encodeStateAsUpdate(document.ydoc));
  const there = new ReplicaDocument([held], 77);
  const updates: Uint8Array[] = [];
  there.ydoc.on("update", (update: Uint8Array) => void updates.push(update));
  const write = (value: string) => {
    const values = KEYS.map((key) => ({ key, value }));
    there.setEntries("memories", values, temp.world.now());
    return updates.at(-1) ?? new Uint8Array();
  };
  return { there, write };
}

async function exchange({ store, world }: TempStore, request: DocumentRequest) {
  const asked = { documents: { project: request }, createMissing: true };
  const answer = await createSyncService(store, { world }).exchange(caller(), PROJECT, asked);
  return answer.documents.project;
}

const LONG = "long ".repeat(60);

test("a replica's long update is applied while others write, and is one row of the log", async () => {
  const { temp, next } = await newProject();
  const { write } = await replicaOf(temp);
  const { epoch } = temp.store.writer;
  next(() => setMemory(temp.store, "k", "of another", "b"));
  const answer = await exchange(temp, { update: write(LONG), position: { epoch, seq: 1 } });
  expect(answer).toEqual({ epoch, seq: 2 });
  expect(await memoriesOf(temp.store, "b")).toEqual({ k: "of another" });
  await checkStored(temp, valuesOf(LONG));
});

test("what was written while a long update was drafted goes to its replica", async () => {
  const { temp, next } = await newProject();
  const { there, write } = await replicaOf(temp);
  const { epoch } = temp.store.writer;
  next(() => setMemory(temp.store, "mine", "v"));
  const answer = await exchange(temp, { update: write(LONG), position: { epoch, seq: 1 } });
  expect(answer).toMatchObject({ epoch, seq: 3 });
  const update = answer && "update" in answer ? answer.update : undefined;
  Y.applyUpdate(there.ydoc, update ?? new Uint8Array([0, 0]), "remote");
  expect(shownValue(there, "mine")).toBe("v");
  await checkStored(temp, { ...valuesOf(LONG), mine: "v" });
});

test("a long update that is not admitted changes nothing, and says why", async () => {
  const { temp } = await newProject();
  const { write } = await replicaOf(temp);
  const refused = await exchange(temp, { update: new Uint8Array(100_000).fill(7) });
  expect(refused).toHaveProperty("refused");
  write("unsent");
  const later = await exchange(temp, { update: write(LONG), position: { epoch: "", seq: 0 } });
  expect(later).toMatchObject({ missing: true, seq: 1 });
  await checkStored(temp, valuesOf("first"));
});

test("a long sync over a limit is refused, and leaves nothing", async () => {
  const { temp } = await newProject();
  const metadata = Object.fromEntries(KEYS.map((key) => [key, "x".repeat(1000)]));
  const failure = await failureOf(() => syncTo(temp, valuesOf("second"), { metadata }));
  expect(String(failure)).toContain("metadata may take at most");
  expect(await rowsOfLog(temp)).toBe(1);
  await checkStored(temp, valuesOf("first"));
});

test("whichever statement of a long sync fails, it leaves nothing, and the next one works", async () => {
  let countdown = Number.POSITIVE_INFINITY;
  let failed = 0;
  const wrap: TempStoreOptions["wrap"] = (each) => {
    each.exec("PRAGMA synchronous = OFF");
    return watched(each, (sql) => {
      countdown -= 1;
      if (countdown !== 0) return;
      failed += 1;
      throw new Error(`disk I/O error at ${sql}`);
    });
  };
  const { temp } = await newProject({ wrap });
  let value = "first";
  for (let at = 1; ; at += at < 40 ? 1 : 37) {
    countdown = at;
    const before = failed;
    const failure = await failureOf(() => syncTo(temp, valuesOf(`${at}`)));
    countdown = Number.POSITIVE_INFINITY;
    expect(failure !== undefined).toBe(failed > before);
    if (!failure) value = `${at}`;
    expect(await memoryRows(temp.store)).toEqual(valuesOf(value));
    expect(await memoriesOf(temp.store)).toEqual(valuesOf(value));
    if (!failure) break;
  }
  expect(failed).toBeGreaterThan(20);
  await checkStored(temp, valuesOf(value));
});
