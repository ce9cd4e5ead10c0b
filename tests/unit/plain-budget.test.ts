import { expect, test } from "bun:test";
import { RequestBudget } from "../../daemon/budget/request-budget.ts";
import { manualTimers } from "../support/manual-timers.ts";
import { engineOf, startPlain } from "../support/plain-cluster.ts";
import { waitFor } from "../support/wait-for.ts";

test("many user memories leave a person's part of a plain service's requests", async () => {
  const [cluster, machine] = await startPlain();
  await machine.edit(({ document }) => {
    for (let at = 0; at < 100; at++) {
      document.setEntry("memories", `note ${at}`, { value: `value ${at}`, now: 1 });
    }
  }, "user");
  const { world } = manualTimers();
  const budget = new RequestBudget("account", world);
  const projects = () => new Map();
  const { engine, calls } = engineOf(cluster, machine, { world, projects, budget });
  engine.start();
  await waitFor("the requests to be used up", () => {
    engine.hurry();
    return engine.throttled !== undefined;
  });
  expect(budget.notBefore("person")).toBe(0);
  expect(calls.length).toBeLessThanOrEqual(54);
  await engine.stop();
  await cluster.stop();
});
