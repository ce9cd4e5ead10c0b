import { afterEach, beforeEach, expect, test } from "bun:test";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { SyncEngine } from "../../daemon/sync/engine.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { createDrivenWorld, type DrivenWorld } from "../support/driven-world.ts";
import { projectId } from "../support/project-id.ts";
import { waitFor } from "../support/wait-for.ts";

const COUNT = 20;
/** Calls about one unit keep a distance of a second. */
const LATER_MS = 2000;

let world: DrivenWorld;
let store: ReplicaStore<DaemonTables>;
let engine: SyncEngine;
let projects: Map<ProjectId, string>;
let asked: (ProjectId | null)[];
let told: (readonly (ProjectId | "own")[])[];

beforeEach(async () => {
  world = createDrivenWorld();
  store = await openReplica(":memory:", world);
  projects = new Map();
  asked = [];
  told = [];
  const answered = async () => ({ kind: "answered", value: undefined }) as const;
  engine = new SyncEngine({
    store,
    service: {
      name: "service",
      async exchange(project) {
        asked.push(project);
        return { kind: "answered", value: { documents: {} } };
      },
      createProject: answered,
      request: answered,
      forward: answered,
      close: async () => {},
    },
    account: LOCAL_ACCOUNT,
    user: LOCAL_USER,
    projects: () => projects,
    world,
    log: silentLog,
    onContact: (units) => told.push(units),
  });
  engine.start();
  world.advance(LATER_MS);
  await waitFor("the first call", () => told.length === 1);
});

afterEach(async () => {
  await engine.stop();
  await store.close();
});

/** Follows more projects, one after another, each long after the calls about the one before. */
async function follow(count: number): Promise<ProjectId[]> {
  const ids = Array.from({ length: count }, (_, at) => projectId(`${at}`));
  for (const id of ids) {
    projects.set(id, id);
    engine.refresh();
    world.advance(LATER_MS);
    await waitFor("the call about it", () => told.flat().includes(id));
    world.advance(LATER_MS);
  }
  return ids;
}

test("a project that comes to be followed is called about, and no other", async () => {
  const ids = await follow(COUNT);
  expect(asked).toEqual([null, ...ids]);
});

test("who waits for an answer is told which units it was about", async () => {
  const ids = await follow(COUNT);
  expect(told).toEqual([["own"], ...ids.map((id) => [id])]);
});

test("a project that is followed again is called about again", async () => {
  const [id] = await follow(1);
  if (!id) throw new Error("one was followed");
  projects.delete(id);
  engine.refresh();
  projects.set(id, id);
  engine.refresh();
  world.advance(LATER_MS);
  await waitFor("the call", () => asked.length === 3);
  expect(asked).toEqual([null, id, id]);
});

test("a person's sync asks about everything that is followed", async () => {
  const ids = await follow(COUNT);
  asked.length = 0;
  await engine.syncNow();
  expect(asked.toSorted()).toEqual(ids.toSorted());
});
