import { expect, test } from "bun:test";
import { realWorld } from "../../shared/world-real.ts";
import { engineOf, set, startPlain } from "../support/plain-cluster.ts";
import { PROJECT } from "../support/sync-cluster.ts";
import { waitFor } from "../support/wait-for.ts";

for (const status of [403, 404]) {
  test(`user memories that a plain service refuses by ${status} do not make a project refused`, async () => {
    const [cluster, machine] = await startPlain();
    cluster.intercept = async (request, pass) => {
      if (!request.url.endsWith("/v1/memories")) return await pass(request);
      return Response.json({ error: { code: "forbidden", message: "no" } }, { status });
    };
    const projects = () => new Map([[PROJECT, "one"]]);
    const { engine, calls } = engineOf(cluster, machine, { world: realWorld, projects });
    engine.start();
    await waitFor("the user's memories to be refused", () => engine.refusal("own") !== undefined);
    expect(engine.refusal(PROJECT)).toBeUndefined();
    await set(machine, "key", "value");
    await waitFor("the memory to be sent", () =>
      calls.includes(`POST /api/projects/${PROJECT}/sync`),
    );
    await engine.syncNow();
    expect(engine.refusal(PROJECT)).toBeUndefined();
    expect(engine.refusal("own")).toMatchObject({ said: expect.stringContaining(`${status}`) });
    await engine.stop();
    await cluster.stop();
  });
}
