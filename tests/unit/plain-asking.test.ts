import { expect, test } from "bun:test";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import { SyncEngine } from "../../daemon/sync/engine.ts";
import { createCalls } from "../../daemon/sync/http-service.ts";
import type { LiveHandlers } from "../../daemon/sync/service.ts";
import { silentLog } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { manualTimers } from "../support/manual-timers.ts";
import { seededRandom } from "../support/random.ts";
import { PROJECT, SyncCluster } from "../support/sync-cluster.ts";
import { waitFor } from "../support/wait-for.ts";

const ASK_INTERVAL_MS = 10_000;

test("a plain service is asked in turn, and never again for a live socket", async () => {
  const cluster = new SyncCluster(seededRandom(1), true);
  await cluster.start(1);
  const [machine] = cluster.machines;
  if (!machine) throw new Error("a machine was started");
  const { world: manual, fire } = manualTimers();
  const setTimer: World["setTimer"] = (delayMs, callback) =>
    (delayMs === ASK_INTERVAL_MS ? manual : realWorld).setTimer(delayMs, callback);
  const world = { ...manual, setTimer };
  const calls: string[] = [];
  const send = (request: Request) => {
    calls.push(`${request.method} ${new URL(request.url).pathname}`);
    return cluster.ask(request);
  };
  const sockets: LiveHandlers[] = [];
  const openLive = (handlers: LiveHandlers) => {
    sockets.push(handlers);
    return { subscribe: () => {}, close: () => handlers.closed("404") };
  };
  const engine = new SyncEngine({
    store: machine.store,
    service: {
      name: "cluster",
      ...createCalls({ send, base: "http://localhost", token: "mst_dev_cluster", world }),
      openLive,
      close: async () => {},
    },
    world,
    log: silentLog,
    account: LOCAL_ACCOUNT,
    user: LOCAL_USER,
    projects: () => new Map([[PROJECT, "one"]]),
    onContact: () => {},
  });
  engine.start();
  await waitFor("it to be known as plain", () => engine.contact.plain);
  await engine.syncNow();
  const project = `GET /api/projects/${PROJECT}`;
  for (const asked of [project, "GET /v1/memories", project]) {
    calls.length = 0;
    fire(ASK_INTERVAL_MS);
    await waitFor("the call", () => calls.length > 0);
    expect(calls).toEqual([asked]);
  }
  await engine.syncNow();
  expect(sockets.length).toBe(1);
  await engine.stop();
  await cluster.stop();
});
