import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import * as Y from "yjs";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { type Outgoing, outgoingOf } from "../../daemon/home/outgoing.ts";
import { readPosition } from "../../daemon/home/positions.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { applyAnswer, applyFrame } from "../../daemon/sync/incoming.ts";
import type { AccountId } from "../../shared/ids.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { DocumentAnswer } from "../../shared/wire/exchange.ts";
import { createTestWorld } from "../support/test-world.ts";

const SERVICE = "service";
const EPOCH = "e".repeat(22);
const ADDRESS = { owner: LOCAL_ACCOUNT, name: "proj_a" };
const STATES = ["new", "level", "ahead"] as const;
type State = (typeof STATES)[number];

let store: ReplicaStore<DaemonTables>;
let othersClient = 100;
let address = ADDRESS;

beforeEach(async () => {
  address = ADDRESS;
  store = await openReplica(":memory:", createTestWorld());
});

afterEach(() => store.close());

function inDocument<Result>(
  work: (context: WriteContext<DaemonTables>, open: OpenDocument) => Promise<Result>,
): Promise<Result> {
  return store.write(async (context) => await work(context, await context.open(address)));
}

function write(key: string): Promise<void> {
  return inDocument(async ({ now }, { document }) => {
    document.setEntry("memories", key, { value: "mine", now });
  });
}

function outgoing(): Promise<Outgoing> {
  return inDocument(async ({ db }, open) => {
    return await outgoingOf(db, open, await readPosition(db, SERVICE, open.id));
  });
}

function take(sent: Outgoing, answer: DocumentAnswer): Promise<unknown> {
  return inDocument((context, open) => applyAnswer(context, SERVICE, { open, sent, answer }));
}

/** A call that is answered so. */
async function call(answer: DocumentAnswer): Promise<void> {
  await take(await outgoing(), answer);
}

function frame(seq: number): Promise<unknown> {
  const told = { epoch: EPOCH, seq, update: othersWrite() };
  return inDocument((context, open) =>
    applyFrame(context, SERVICE, { open, frame: told, echoes: new Map() }),
  );
}

/** Another machine's, with a client id of its own. */
function othersWrite(): Uint8Array {
  const document = new ReplicaDocument([], othersClient++);
  document.setEntry("memories", `theirs-${othersClient}`, { value: "2", now: 0 });
  return Y.encodeStateAsUpdate(document.ydoc);
}

async function stateNow(): Promise<State> {
  const { request } = await outgoing();
  if (!request.position) return "new";
  return request.update ? "ahead" : "level";
}

async function bring(state: State): Promise<void> {
  if (state === "new") return await write("first");
  await call({ epoch: EPOCH, seq: 1, update: othersWrite() });
  if (state === "ahead") await write("mine");
}

const served = () => ({ epoch: EPOCH, seq: 2, update: othersWrite() });

/** What happens, by the headings of the page's table. */
const EVENTS: Readonly<Record<string, () => Promise<unknown>>> = {
  served: () => call(served()),
  "`reset` or `missing`": () =>
    call({ ...served(), reset: true, stateVector: new Uint8Array([0]) }),
  "`refused`, `forbidden`": () => call({ forbidden: true }),
  "update not acceptable": () => call({ epoch: EPOCH, seq: 2, update: new Uint8Array([1, 2, 3]) }),
  "next frame": () => frame(2),
  "other frame": () => frame(7),
  "write here": () => write("another"),
};

/** The page's table of transitions: by state, then by event, the states that may follow. */
async function readTable(): Promise<Map<string, Map<string, readonly string[]>>> {
  const page = await Bun.file(join(import.meta.dir, "..", "..", "PROTOCOL.md")).text();
  const rows = page.split("\n").filter((line) => line.startsWith("| "));
  const cells = rows.map((row) => row.slice(2, -2).split(" | "));
  const start = cells.findIndex(([, second]) => second === "served");
  const [, ...events] = cells[start] ?? [];
  const table = new Map<string, Map<string, readonly string[]>>();
  for (const [state = "", ...next] of cells.slice(start + 2, start + 2 + STATES.length)) {
    const to = events.map((event, at) => [event, (next[at] ?? "").split(" or ")] as const);
    table.set(state, new Map(to));
  }
  return table;
}

test("first contact asks and brings nothing", async () => {
  await write("first");
  const { request } = await outgoing();
  expect(request.update).toBeUndefined();
  expect(request.position).toBeUndefined();
  expect(request.stateVector).toBeInstanceOf(Uint8Array);
});

test("every state goes where the table says", async () => {
  const table = await readTable();
  expect([...table.keys()]).toEqual([...STATES]);
  for (const [state, events] of table) {
    expect([...events.keys()]).toEqual(Object.keys(EVENTS));
    for (const [event, next] of events) {
      await store.close();
      store = await openReplica(":memory:", createTestWorld());
      await bring(state as State);
      expect([state, await stateNow()]).toEqual([state, state]);
      await EVENTS[event]?.();
      expect(next, `${state}, ${event}`).toContain(await stateNow());
    }
  }
});

test("what was written during a call is not acknowledged by its answer", async () => {
  await bring("ahead");
  const sent = await outgoing();
  await write("meanwhile");
  await take(sent, { epoch: EPOCH, seq: 2 });
  const { request } = await outgoing();
  const { structs } = Y.decodeUpdate(request.update ?? new Uint8Array());
  expect(structs.map((struct) => keysIn(struct))).toEqual([["meanwhile"]]);
});

test("what a token was refused is asked about, and its answer acknowledges nothing", async () => {
  address = { owner: LOCAL_ACCOUNT, name: "global" };
  await bring("ahead");
  await call({ forbidden: true });
  expect(await refusal()).toBe("token-forbids");
  const asked = await outgoing();
  expect([asked.request.update, asked.request.position?.seq]).toEqual([undefined, 1]);
  await take(asked, { forbidden: true });
  expect(await refusal()).toBe("out-of-reach");
  expect(await take(await outgoing(), served())).toEqual({ again: true });
  expect(await refusal()).toBeUndefined();
  const { structs } = Y.decodeUpdate((await outgoing()).request.update ?? new Uint8Array());
  expect(structs.map((struct) => keysIn(struct))).toEqual([["mine"]]);
});

function refusal(): Promise<string | undefined> {
  return inDocument(async ({ db }, open) => {
    return (await readPosition(db, SERVICE, open.id)).refused?.code;
  });
}

function keysIn(struct: ReturnType<typeof Y.decodeUpdate>["structs"][number]): unknown[] {
  if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentAny)) return [];
  return struct.content.arr.map(({ key }: { readonly key: string }) => key);
}

test("each start writes under a client id of its own", async () => {
  const world = createTestWorld();
  const ids = new Set<number>();
  for (let start = 0; start < 20; start++) {
    const opened = await openReplica(":memory:", world);
    ids.add(opened.writer.clientId);
    await opened.close();
  }
  expect(ids.size).toBe(20);
});

test("two replicas of one document in one home are written under different client ids", async () => {
  const opened = await openReplica(":memory:", createTestWorld());
  const ids = await opened.write(async (context) => {
    const owners = Array.from({ length: 50 }, (_, at) => `acct_${at}` as AccountId);
    const found: number[] = [];
    for (const owner of owners) {
      const { document } = await context.open({ owner, name: "global" });
      found.push(document.ydoc.clientID);
    }
    return found;
  });
  await opened.close();
  expect(new Set(ids).size).toBe(50);
});
