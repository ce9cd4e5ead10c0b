import { afterEach, beforeEach, expect, test } from "bun:test";
import type { LiveHandlers } from "../../daemon/service/service.ts";
import type { SyncEngine } from "../../daemon/sync/engine.ts";
import type { ProjectId } from "../../shared/ids.ts";
import type { Position } from "../../shared/wire/position.ts";
import { createDrivenWorld, type DrivenWorld } from "../support/driven-world.ts";
import { engineOf, settle, write } from "../support/plain-cluster.ts";
import { seededRandom } from "../support/random.ts";
import { type Machine, PROJECT, SyncCluster } from "../support/sync-cluster.ts";
import { waitFor } from "../support/wait-for.ts";

/** Less than what is linked waits for more to be linked, and more than it. */
const SOON_MS = 300;
const LATER_MS = 2000;
const ROUNDS = 3;
const TEXT = "# Rules\n\nUse tabs.\n";

let world: DrivenWorld;
let cluster: SyncCluster;
let one: Machine;
let other: Machine;
let engine: SyncEngine;
let calls: string[];
let live: LiveHandlers;
let projects: Map<ProjectId, string>;
/** What the bodies of the calls about the project say of its document. */
let asked: object[];

beforeEach(async () => {
  world = createDrivenWorld();
  cluster = new SyncCluster(seededRandom(1));
  await cluster.start(2);
  [one, other] = cluster.machines as [Machine, Machine];
  projects = new Map();
  asked = [];
  cluster.intercept = async (request, pass) => {
    const body = JSON.parse(await request.clone().text());
    const part = body.crdt?.projects?.[PROJECT] ?? body.crdt;
    if (part?.documents?.project) asked.push(part.documents.project);
    return await pass(request);
  };
  const openLive = (handlers: LiveHandlers) => {
    live = handlers;
    return { subscribe: () => undefined, close: () => undefined };
  };
  ({ engine, calls } = engineOf(cluster, one, { world, projects: () => projects, openLive }));
  engine.start();
  live.opened();
  live.frame({ type: "subscribed", positions: new Map() });
  world.advance(LATER_MS);
  await waitFor("the first call", () => engine.contact.online);
  calls.length = 0;
});

afterEach(async () => {
  await engine.stop();
  await cluster.stop();
});

/** The project is linked, and the service says where it stands, if it does anywhere. */
async function link(...positions: [ProjectId, Position][]): Promise<void> {
  projects.set(PROJECT, "cluster");
  engine.refresh();
  world.advance(SOON_MS);
  live.frame({ type: "subscribed", positions: new Map(positions) });
  await framesTaken();
}

/** Frames are taken in writes, which go one after another. */
async function framesTaken(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await one.store.write(async () => undefined);
}

/** Until there is long nothing more to do. */
async function comeToRest(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    world.advance(LATER_MS);
    await engine.syncNow();
  }
}

async function nextCall(): Promise<void> {
  const before = calls.length;
  world.advance(SOON_MS);
  await waitFor("the call", () => calls.length > before);
  await framesTaken();
}

const textOf = (machine: Machine) => machine.read(({ document }) => document.content());

test("a project that the service has not goes by one call", async () => {
  await link();
  await write(one, TEXT);
  await nextCall();
  expect(calls).toHaveLength(1);
  expect(asked).toEqual([{ epoch: "", seq: 0, update: expect.any(String) }]);
  cluster.intercept = undefined;
  await settle(other);
  expect(await textOf(other)).toBe(TEXT);
});

test("of a project that the service has, or was not asked about, it is asked first", async () => {
  await write(other, TEXT);
  await settle(other);
  asked.length = 0;
  await link([PROJECT, { epoch: "other", seq: 1 }]);
  await write(one, TEXT);
  await nextCall();
  expect(asked[0]).toEqual({ state_vector: expect.any(String) });
  await comeToRest();
  expect(await textOf(one)).toBe(TEXT);
});

test("what somebody else sends before this machine does is asked for first", async () => {
  await link();
  await write(one, TEXT);
  await write(other, TEXT);
  await settle(other);
  asked.length = 0;
  live.frame({
    type: "changed",
    projectId: PROJECT,
    document: "project",
    epoch: "other",
    seq: 1,
  });
  await framesTaken();
  await nextCall();
  expect(asked[0]).toEqual({ state_vector: expect.any(String) });
  await comeToRest();
  await settle(other);
  expect([await textOf(one), await textOf(other)]).toEqual([TEXT, TEXT]);
});

test("what both send before they hear of each other stands there once", async () => {
  await link();
  await write(one, TEXT);
  await write(other, TEXT);
  await settle(other);
  await nextCall();
  await comeToRest();
  await settle(other);
  expect([await textOf(one), await textOf(other)]).toEqual([TEXT, TEXT]);
});

test("an answer about other projects says nothing of one that was linked after the question", async () => {
  projects.set(PROJECT, "cluster");
  live.frame({ type: "subscribed", positions: new Map() });
  await framesTaken();
  engine.refresh();
  await write(one, TEXT);
  world.advance(LATER_MS);
  await waitFor("the call", () => calls.length > 0);
  expect(asked[0]).toEqual({ state_vector: expect.any(String) });
});
