import { expect, test } from "bun:test";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../../daemon/gateway/mount.ts";
import { SyncEngine } from "../../daemon/sync/engine.ts";
import { createCalls } from "../../daemon/sync/http-service.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { seededRandom } from "../support/random.ts";
import { PROJECT, SyncCluster } from "../support/sync-cluster.ts";
import { waitFor } from "../support/wait-for.ts";

for (const status of [403, 404]) {
  test(`user memories that a plain service refuses by ${status} do not make a project refused`, async () => {
    const cluster = new SyncCluster(seededRandom(1), true);
    await cluster.start(1);
    const [machine] = cluster.machines;
    if (!machine) throw new Error("a machine was started");
    cluster.intercept = async (request, pass) => {
      if (!request.url.endsWith("/v1/memories")) return await pass(request);
      return Response.json({ error: { code: "forbidden", message: "no" } }, { status });
    };
    const calls: string[] = [];
    const send = (request: Request) => {
      calls.push(`${request.method} ${new URL(request.url).pathname}`);
      return cluster.ask(request);
    };
    const world = realWorld;
    const engine = new SyncEngine({
      store: machine.store,
      service: {
        name: "cluster",
        ...createCalls({ send, base: "http://localhost", token: "mst_dev_cluster", world }),
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
    await waitFor("the user's memories to be refused", () => engine.refusal("own") !== undefined);
    expect(engine.refusal(PROJECT)).toBeUndefined();
    await machine.edit(({ document }) => {
      document.setEntry("memories", "key", "value", { now: 1 });
    });
    await waitFor("the memory to be sent", () =>
      calls.includes(`POST /api/projects/${PROJECT}/sync`),
    );
    await engine.syncNow();
    expect(engine.refusal(PROJECT)).toBeUndefined();
    expect(engine.refusal("own")).toContain(`${status}`);
    await engine.stop();
    await cluster.stop();
  });
}
