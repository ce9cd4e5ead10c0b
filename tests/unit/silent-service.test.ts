import { afterEach, expect, test } from "bun:test";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { createHttpService } from "../../daemon/service/http-service.ts";
import { SyncEngine } from "../../daemon/sync/engine.ts";
import { silentLog } from "../../shared/log.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { EmulatorProcess } from "../support/emulator-process.ts";
import { projectId } from "../support/project-id.ts";
import { startSilentServer } from "../support/silent-server.ts";
import { waitFor } from "../support/wait-for.ts";

/** The service pings every 30 seconds. */
const SILENCE_MS = 35_000;
const UNANSWERED_MS = 10_000;
const LATE_MS = 3000;
const SIGN_MS = 5000;
const PERSON_MS = 10_000;
const A_CALL_LATER_MS = 2000;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function startEmulator(): Promise<EmulatorProcess> {
  const emulator = await EmulatorProcess.start({ env: { PATH: process.env.PATH ?? "" }, cwd: "/" });
  ends.push(() => emulator.end("SIGKILL"));
  return emulator;
}

/** An engine on a service at an address, in a world of the test's time. */
async function startEngine(url: string) {
  const world = createDrivenWorld();
  const store = await openReplica(":memory:", world);
  const service = createHttpService({ url, token: "mst_dev_silent", world });
  const engine = new SyncEngine({
    store,
    service,
    account: LOCAL_ACCOUNT,
    user: LOCAL_USER,
    projects: () => new Map([[projectId("silent"), "silent"]]),
    world,
    log: silentLog,
    onContact: () => {},
  });
  ends.push(async () => {
    service.abandonCalls?.();
    await engine.stop();
    await store.close();
  });
  engine.start();
  const standing = () => [engine.contact.socket === "live", engine.contact.online];
  return { world, engine, service, standing };
}

test("a service that freezes is neither live nor online, and is both when it goes on", async () => {
  const emulator = await startEmulator();
  const { world, engine, standing } = await startEngine(emulator.url);
  await waitFor("a live socket and an answer", () => standing().every((each) => each));
  await engine.syncNow();
  emulator.freeze();
  world.advance(SILENCE_MS - 1);
  expect(standing()).toEqual([true, true]);
  world.advance(1);
  expect(standing()).toEqual([false, false]);
  expect(engine.contact.why?.message).toBe("it does not answer");
  emulator.thaw();
  await waitFor("the answer to the ping", () => standing().every((each) => each));
  expect(engine.contact.why?.message).toBeUndefined();
});

test("a service that takes a call and does not answer is not online", async () => {
  const emulator = await startEmulator();
  const { world, engine, standing } = await startEngine(emulator.url);
  await waitFor("a live socket and an answer", () => standing().every((each) => each));
  await engine.syncNow();
  expect(engine.contact.unansweredSince).toBeUndefined();
  emulator.freeze();
  world.advance(A_CALL_LATER_MS);
  const asked = engine.syncNow();
  await waitFor("the call", () => engine.contact.unansweredSince !== undefined);
  expect(engine.contact.unansweredSince).toBe(world.now());
  world.advance(UNANSWERED_MS);
  expect(engine.contact.online).toBe(false);
  emulator.thaw();
  await asked;
  expect(engine.contact.online).toBe(true);
});

test("below a late call the socket is asked for a sign, and is silent without one", async () => {
  const emulator = await startEmulator();
  const { world, engine, standing } = await startEngine(emulator.url);
  await waitFor("a live socket and an answer", () => standing().every((each) => each));
  await engine.syncNow();
  emulator.freeze();
  world.advance(A_CALL_LATER_MS);
  const asked = engine.syncNow();
  await waitFor("the call", () => engine.contact.unansweredSince !== undefined);
  world.advance(LATE_MS);
  world.advance(SIGN_MS - 1);
  expect(standing()).toEqual([true, true]);
  world.advance(1);
  expect(standing()).toEqual([false, false]);
  emulator.thaw();
  await asked;
  await waitFor("the answer to the ping", () => standing().every((each) => each));
});

test("a handshake without an answer to the subscription is not live", async () => {
  const server = await startSilentServer(true);
  ends.push(() => server.close());
  const { world, engine, standing } = await startEngine(server.url);
  await waitFor("the subscription", () => server.frames > 0);
  expect(standing()).toEqual([false, false]);
  world.advance(SILENCE_MS);
  expect(standing()).toEqual([false, false]);
  expect(engine.contact.lastContactAt).toBeUndefined();
});

test("a person waits ten seconds for an answer, and is told so", async () => {
  const server = await startSilentServer();
  ends.push(() => server.close());
  const world = createDrivenWorld();
  const service = createHttpService({ url: server.url, token: "token", world });
  const asked = service.forward("GET", "/api/projects/stats");
  await waitFor("the call", () => service.unansweredSince?.() !== undefined);
  world.advance(PERSON_MS);
  expect(await asked).toEqual({
    kind: "unreachable",
    code: "call-late",
    message: "it did not answer within 10 seconds",
    tooMuch: true,
  });
});
