import { afterEach, beforeEach, expect, test } from "bun:test";
import type { SyncUnit } from "../../daemon/budget/sync-units.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { createCalls } from "../../daemon/service/http-service.ts";
import { SyncEngine } from "../../daemon/sync/engine.ts";
import { createEmulatorApp, type EmulatorApp } from "../../server/emulator/emulator-app.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { createDrivenWorld, type DrivenWorld } from "../support/driven-world.ts";
import { projectId } from "../support/project-id.ts";
import { waitFor } from "../support/wait-for.ts";

const TOKEN = "mst_dev_linking";
/** A busy machine takes this long to link a folder, and to take the text of one. */
const SLOW_MS = 1500;
const STEP_MS = 500;
/** Longer than the calls about one project are apart. */
const LATER_MS = 2000;

let world: DrivenWorld;
let emulator: EmulatorApp;
let store: ReplicaStore<DaemonTables>;
let engine: SyncEngine;
let projects: Map<ProjectId, string>;
/** Projects whose text is yet to be taken. */
let beginning: Set<SyncUnit>;
let isLinking: boolean;
let requests: number;
let answered: number;

beforeEach(async () => {
  world = createDrivenWorld();
  projects = new Map();
  beginning = new Set();
  isLinking = false;
  requests = 0;
  answered = 0;
  emulator = await createEmulatorApp({
    ...{ path: ":memory:", plan: "pro", limits: "off", loopbackOnly: false },
    ...{ world, log: silentLog },
  });
  store = await openReplica(":memory:", world);
  const send = async (request: Request) => {
    requests += 1;
    const response = await emulator.app.fetch(request);
    answered += 1;
    return response;
  };
  const calls = createCalls({ send, base: "http://localhost", token: TOKEN, world });
  engine = new SyncEngine({
    ...{ store, account: LOCAL_ACCOUNT, user: LOCAL_USER, world, log: silentLog },
    service: { ...calls, name: "service", close: async () => undefined },
    projects: () => projects,
    onContact: () => undefined,
    isLinking: () => isLinking,
    isTextAwaited: (project) => beginning.has(project),
  });
  engine.start();
  await pass(LATER_MS);
});

afterEach(async () => {
  await engine.stop();
  await store.close();
  await emulator.close();
});

/** Time goes by, in steps of the timers, and the calls that begin in it end. */
async function pass(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += STEP_MS) {
    world.advance(STEP_MS);
    await written(4);
  }
  await written(2 * FOLDERS.length);
  await waitFor("the answers", () => requests === answered);
  await written(2 * FOLDERS.length);
}

/** Calls are prepared and taken in writes, one for each project, which go one after another. */
async function written(writes: number): Promise<void> {
  for (let write = 0; write < writes; write++) await store.write(async () => undefined);
}

/** Comes to be followed, with a text that is taken once the service was heard. */
function follow(id: ProjectId): void {
  projects.set(id, id);
  beginning.add(id);
  engine.refresh();
}

async function takeText(id: ProjectId, text: string): Promise<void> {
  await store.write(async (context) => {
    const open = await context.open(projectDocument(LOCAL_ACCOUNT, id));
    open.document.text.insert(0, text);
  });
  beginning.delete(id);
}

async function readAt(id: ProjectId): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const request = new Request(`http://localhost/api/projects/${id}`, { headers });
  return (await (await emulator.app.fetch(request)).json()) as Record<string, unknown>;
}

async function textAt(id: ProjectId): Promise<string> {
  return String((await readAt(id)).claude_md_content);
}

async function memoryCountAt(id: ProjectId): Promise<unknown> {
  return (await readAt(id)).memory_count;
}

const FOLDERS = Array.from({ length: 50 }, (_, at) => projectId(`${at}`));
const [FIRST, SECOND, THIRD] = FOLDERS as [ProjectId, ProjectId, ProjectId];

async function linkSlowly(ids: readonly ProjectId[]): Promise<void> {
  isLinking = true;
  for (const id of ids) {
    await pass(SLOW_MS);
    follow(id);
  }
}

test("fifty folders cost two requests, however long linking and reading them takes", async () => {
  const before = requests;
  await linkSlowly(FOLDERS);
  isLinking = false;
  await pass(LATER_MS);
  expect(requests - before).toBe(1);
  for (const id of FOLDERS) {
    await pass(SLOW_MS);
    await takeText(id, `# ${id}\n`);
  }
  await pass(LATER_MS);
  expect(requests - before).toBe(2);
  for (const id of FOLDERS) expect(await textAt(id)).toBe(`# ${id}\n`);
});

test("more folders than fit into a call do not wait for the last one", async () => {
  const before = requests;
  await linkSlowly([...FOLDERS, projectId("more")]);
  expect(requests - before).toBe(1);
});

test("while others are linked, an edit of a known project goes at once and takes them along", async () => {
  await linkSlowly([FIRST]);
  isLinking = false;
  await pass(LATER_MS);
  await takeText(FIRST, "first\n");
  await pass(LATER_MS);
  const before = requests;
  await linkSlowly([SECOND, THIRD]);
  await takeText(FIRST, "edited\n");
  await pass(STEP_MS);
  expect(requests - before).toBe(1);
  expect(await textAt(FIRST)).toContain("edited\n");
  isLinking = false;
  await pass(LATER_MS);
  // Both were asked about by the same call.
  expect(requests - before).toBe(1);
});

test("an edit of a folder whose first text is sent does not wait for the others' texts", async () => {
  await linkSlowly([FIRST, SECOND]);
  isLinking = false;
  await pass(LATER_MS);
  await takeText(FIRST, "first\n");
  await pass(STEP_MS);
  await takeText(FIRST, "edited\n");
  await pass(LATER_MS);
  expect(await textAt(FIRST)).toContain("edited\n");
});

test("a folder that is not linked in ten seconds holds up no other", async () => {
  const before = requests;
  await linkSlowly([FIRST, SECOND]);
  await pass(9000);
  expect(requests - before).toBe(0);
  await pass(2000);
  expect(requests - before).toBe(1);
  await takeText(FIRST, "first\n");
  // Nor does one of which the text can't be read.
  await pass(12_000);
  expect(await textAt(FIRST)).toBe("first\n");
});

test("who writes into a new folder waits for no other's text, however often", async () => {
  await linkSlowly([FIRST, SECOND]);
  isLinking = false;
  await pass(LATER_MS);
  // There is no text in it.
  beginning.delete(FIRST);
  const before = requests;
  let count = 0;
  for (const key of ["one", "two", "three"]) {
    await store.write(async (context) => {
      const { document } = await context.open(projectDocument(LOCAL_ACCOUNT, FIRST));
      document.setEntry("memories", key, { value: key, now: world.now() });
    });
    await pass(LATER_MS);
    expect(await memoryCountAt(FIRST)).toBe(++count);
  }
  expect(requests - before).toBe(3);
});

test("what fails meanwhile is tried again, and who waits for a sync waits for no link", async () => {
  const before = requests;
  await linkSlowly([FIRST]);
  engine.hurry();
  await pass(STEP_MS);
  expect(requests - before).toBe(0);
  engine.hurry("person");
  await pass(STEP_MS);
  expect(requests - before).toBe(1);
});
