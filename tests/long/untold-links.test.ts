import { expect, test } from "bun:test";
import type { ProjectId } from "../../shared/ids.ts";
import { UntoldLinks } from "../trust/budget/untold-links.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const SEED = 1;
const MINUTE_LIMIT = 60;

async function begun(machines: number): Promise<UntoldLinks> {
  const links = new UntoldLinks({ seed: SEED, machines, beginsAt: 9 * HOUR_MS });
  await links.begin();
  return links;
}

/** Whether the service is known to have all that the machines have. */
async function isSynced(links: UntoldLinks): Promise<boolean> {
  for (const at of links.machines.keys()) if ((await links.unsynced(at)) > 0) return false;
  return true;
}

// The table of docs/design/sync.md; by the pace of a day alone the second took 22 and 45 minutes.
for (const { projects, machines, textsMs, syncedMs } of [
  { projects: 12, machines: 1, textsMs: 10 * SECOND_MS, syncedMs: 75 * SECOND_MS },
  { projects: 50, machines: 1, textsMs: 4 * MINUTE_MS, syncedMs: 5 * MINUTE_MS },
  { projects: 200, machines: 1, textsMs: 15 * MINUTE_MS, syncedMs: undefined },
  { projects: 12, machines: 10, textsMs: 15 * MINUTE_MS, syncedMs: 20 * MINUTE_MS },
]) {
  test(`${projects} projects linked on ${machines} machines that are told no limits`, async () => {
    await using links = await begun(machines);
    for (let at = 0; at < machines; at++) await links.link(at, projects);
    const all = projects * machines;
    expect(await links.until(() => links.textAt.size === all, HOUR_MS)).toBeLessThan(textsMs);
    const readBack = await links.settle(links.unsynced(0));
    // All texts go before any is read back, but for what fits into the rest of a minute.
    if (machines === 1) expect(readBack).toBeGreaterThan(projects * 0.7);
    if (syncedMs !== undefined) {
      const ms = await links.until(() => isSynced(links), HOUR_MS);
      expect(ms).toBeLessThanOrEqual(syncedMs);
    }
    if (machines === 1) expect(links.requests.mostInAMinute()).toBeLessThanOrEqual(MINUTE_LIMIT);
    else expect(links.requests.refused.length).toBeLessThan(10 * machines);
  }, 60_000);
}

test("while calls wait it is known how many projects are still to go, and why", async () => {
  await using links = await begun(1);
  const { engine } = links.machines[0] ?? {};
  await links.link(0, 200);
  await links.runFor(30 * SECOND_MS);
  expect(engine?.throttled).toMatchObject({ why: { code: "requests-used", limit: 60 } });
  expect(engine?.throttled?.projects).toBeGreaterThan(190);
  await links.until(() => links.textAt.size === 200, HOUR_MS);
  await links.runFor(10 * MINUTE_MS);
  expect(engine?.throttled).toMatchObject({ why: { code: "requests-pace" } });
});

test("an edit goes at once, though many links have used their part of the day", async () => {
  await using links = await begun(1);
  const [edited] = await links.link(0, 200);
  await links.until(() => links.textAt.size === 200, HOUR_MS);
  await links.runFor(10 * MINUTE_MS);
  for (let edits = 0; edits < 20; edits++) {
    links.textAt.clear();
    await links.settle(links.write(0, edited as ProjectId, `# Edit ${edits}\n`));
    const isThere = () => links.textAt.has(edited ?? "");
    expect(await links.until(isThere, HOUR_MS)).toBeLessThan(MINUTE_MS);
    await links.runFor(MINUTE_MS);
  }
  expect(links.requests.charged.length).toBeLessThan(900);
}, 60_000);
