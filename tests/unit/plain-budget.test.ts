import { expect, test } from "bun:test";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import { SyncEngine } from "../../daemon/sync/engine.ts";
import { createCalls } from "../../daemon/sync/http-service.ts";
import { RequestBudget } from "../../daemon/sync/request-budget.ts";
import { silentLog } from "../../shared/log.ts";
import { manualTimers } from "../support/manual-timers.ts";
import { seededRandom } from "../support/random.ts";
import { SyncCluster } from "../support/sync-cluster.ts";
import { waitFor } from "../support/wait-for.ts";

test("many user memories leave a person's part of a plain service's requests", async () => {
  const cluster = new SyncCluster(seededRandom(1), true);
  await cluster.start(1);
  const [machine] = cluster.machines;
  if (!machine) throw new Error("a machine was started");
  await machine.edit(({ document }) => {
    for (let at = 0; at < 100; at++) {
      document.setEntry("memories", `note ${at}`, `value ${at}`, { now: 1 });
    }
  }, "user");
  const { world } = manualTimers();
  const budget = new RequestBudget("account", world);
  let calls = 0;
  const send = (request: Request) => {
    calls += 1;
    return cluster.ask(request);
  };
  const engine = new SyncEngine({
    store: machine.store,
    service: {
      name: "cluster",
      ...createCalls({ send, base: "http://localhost", token: "mst_dev_cluster", world, budget }),
      budget,
      close: async () => {},
    },
    budget,
    world,
    log: silentLog,
    account: LOCAL_ACCOUNT,
    user: LOCAL_USER,
    projects: () => new Map(),
    onContact: () => {},
  });
  engine.start();
  await waitFor("the requests to be used up", () => {
    engine.hurry();
    return engine.heldBack !== undefined;
  });
  expect(budget.notBefore("person")).toBe(0);
  expect(calls).toBeLessThanOrEqual(54);
  await engine.stop();
  await cluster.stop();
});
