import { expect, test } from "bun:test";
import type { LiveHandlers } from "../../daemon/service/service.ts";
import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { manualTimers } from "../support/manual-timers.ts";
import { engineOf, startPlain } from "../support/plain-cluster.ts";
import { PROJECT } from "../support/sync-cluster.ts";
import { waitFor } from "../support/wait-for.ts";

const ASK_INTERVAL_MS = 10_000;

test("a plain service is asked in turn, and never again for a live socket", async () => {
  const [cluster, machine] = await startPlain();
  const { world: manual, fire } = manualTimers();
  const setTimer: World["setTimer"] = (delayMs, callback) =>
    (delayMs === ASK_INTERVAL_MS ? manual : realWorld).setTimer(delayMs, callback);
  const world = { ...manual, setTimer };
  const sockets: LiveHandlers[] = [];
  const openLive = (handlers: LiveHandlers) => {
    sockets.push(handlers);
    return { subscribe: () => {}, close: () => handlers.closed("404") };
  };
  const projects = () => new Map([[PROJECT, "one"]]);
  const { engine, calls } = engineOf(cluster, machine, { world, projects, openLive });
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
