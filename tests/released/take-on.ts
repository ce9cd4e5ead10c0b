import { expect } from "bun:test";
import { join } from "node:path";
import { waitFor } from "../support/wait-for.ts";
import { loadDatabase } from "./database-text.ts";
import type { HomeCommands, HomeState } from "./home-state.ts";

/**
 * Puts a released version's database, as `sql`, into an empty home and demands that all that it
 * held `then` is read from it, without a daemon and after one has taken it on.
 */
export async function takeOn(home: HomeCommands, sql: string, then: HomeState): Promise<void> {
  loadDatabase(sql, join(home.home, "memsync.db"));
  expect(then.memories).toHaveLength(3);
  expect(await home.read()).toMatchObject(then);
  const daemon = home.spawn("up");
  await daemon.untilPrinted(/memsync is up/);
  await waitFor("the inbox to be taken in", async () => {
    const status = await home.run("list", "--project", "proj_released", "--json");
    return !status.includes('"inbox"');
  });
  expect(await home.read()).toMatchObject(then);
  await home.run("stop");
  await daemon.ended();
}
