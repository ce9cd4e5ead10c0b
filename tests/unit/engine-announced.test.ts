import { afterEach, beforeEach, expect, test } from "bun:test";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { createCalls } from "../../daemon/service/http-service.ts";
import type { LiveHandlers, Service } from "../../daemon/service/service.ts";
import { type Announced, isToFetch } from "../../daemon/sync/announced.ts";
import { SyncEngine } from "../../daemon/sync/engine.ts";
import { createEmulatorApp, type EmulatorApp } from "../../server/emulator/emulator-app.ts";
import { silentLog } from "../../shared/log.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { Position } from "../../shared/wire/position.ts";
import { createDrivenWorld, type DrivenWorld } from "../support/driven-world.ts";
import { projectId } from "../support/project-id.ts";
import { waitFor } from "../support/wait-for.ts";

const PROJECT = projectId("announced");
const TOKEN = "mst_dev_announced";
const LATER_MS = 2000;

let world: DrivenWorld;
let emulator: EmulatorApp;
let store: ReplicaStore<DaemonTables>;
let engine: SyncEngine;
let live: LiveHandlers | undefined;
let calls: number;
let ended: number;
/** Told of each position that an answer brings, before the answer is taken. */
let onAnswer: (position: Position) => void;

beforeEach(async () => {
  world = createDrivenWorld();
  calls = 0;
  ended = 0;
  onAnswer = () => undefined;
  emulator = await createEmulatorApp({
    path: ":memory:",
    plan: "pro",
    limits: "off",
    loopbackOnly: false,
    world,
    log: silentLog,
  });
  store = await openReplica(":memory:", world);
  engine = new SyncEngine({
    store,
    service: countedService(),
    account: LOCAL_ACCOUNT,
    user: LOCAL_USER,
    projects: () => new Map([[PROJECT, "announced"]]),
    world,
    log: silentLog,
    onContact: () => undefined,
  });
  engine.start();
  live?.opened();
  live?.frame({ type: "subscribed", positions: new Map() });
  await save("first");
  await comeToRest();
});

afterEach(async () => {
  await engine.stop();
  await store.close();
  await emulator.close();
});

function countedService(): Service {
  const base = "http://localhost";
  const send = (request: Request) => emulator.app.fetch(request);
  const real = createCalls({ send, base, token: TOKEN, world });
  return {
    ...real,
    name: "service",
    async exchange(project, request) {
      calls += 1;
      const outcome = await real.exchange(project, request);
      const answer = outcome.kind === "answered" ? outcome.value : "plain";
      const answered = answer === "plain" ? undefined : answer.documents.project;
      if (answered && "seq" in answered) onAnswer({ epoch: answered.epoch, seq: answered.seq });
      await framesTaken();
      ended += 1;
      return outcome;
    },
    openLive(handlers) {
      live = handlers;
      return { subscribe: () => undefined, close: () => undefined };
    },
    close: async () => undefined,
  };
}

/** Frames and calls are prepared and taken in writes, which go one after another. */
async function framesTaken(): Promise<void> {
  for (let write = 0; write < 4; write++) await store.write(async () => undefined);
}

async function save(value: string): Promise<void> {
  await store.write(async (context) => {
    const open = await context.open(projectDocument(LOCAL_ACCOUNT, PROJECT));
    open.document.setEntry("memories", "key", { value, now: context.now });
  });
}

/** Until no call follows on the last one, however long it is waited. */
async function comeToRest(): Promise<void> {
  for (let before = -1; before !== calls; ) {
    before = calls;
    world.advance(LATER_MS);
    await framesTaken();
    await waitFor("the end of the calls", () => ended === calls);
    await framesTaken();
  }
}

/** What the frame about a row says whose update is too long for it. */
function announce({ epoch, seq }: Position): void {
  live?.frame({ type: "changed", projectId: PROJECT, document: "project", epoch, seq });
}

test("the announcement of this machine's own push is no reason for another call", async () => {
  const before = calls;
  onAnswer = announce;
  await save("second");
  await comeToRest();
  expect(calls - before).toBe(1);
});

test("what others wrote while a push was under way is fetched after it", async () => {
  const before = calls;
  onAnswer = ({ epoch, seq }) => {
    onAnswer = () => undefined;
    announce({ epoch, seq: seq + 1 });
  };
  await save("second");
  await comeToRest();
  expect(calls - before).toBe(2);
});

test("where a document stands after a subscription is compared with where it is held", async () => {
  const before = calls;
  let stands: Position | undefined;
  onAnswer = (position) => {
    stands = position;
  };
  await save("second");
  await comeToRest();
  if (!stands) throw new Error("no position was answered");
  const subscribed = (position: Position) =>
    live?.frame({ type: "subscribed", positions: new Map([[PROJECT, position]]) });
  subscribed(stands);
  await comeToRest();
  expect(calls - before).toBe(1);
  subscribed({ ...stands, seq: stands.seq - 1 });
  await comeToRest();
  expect(calls - before).toBe(2);
});

test("a document restored to an older copy stands behind and is to be fetched", () => {
  const at = (seq: number, by: Announced["by"]): Announced => {
    return { unit: PROJECT, name: PROJECT, position: { epoch: "e", seq }, by };
  };
  const known = { epoch: "e", seq: 5 };
  expect([4, 5, 6].map((seq) => isToFetch(at(seq, "stands"), known))).toEqual([true, false, true]);
  expect([4, 5, 6].map((seq) => isToFetch(at(seq, "changed"), known))).toEqual([
    false,
    false,
    true,
  ]);
  expect(isToFetch(at(5, "changed"), { epoch: "other", seq: 5 })).toBe(true);
  expect(isToFetch(at(5, "changed"), undefined)).toBe(true);
});
