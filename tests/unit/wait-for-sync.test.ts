import { expect, test } from "bun:test";
import { SyncWaiter } from "../../daemon/status/wait-for-sync.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { madeUpProject, madeUpStatus } from "../support/made-up-status.ts";

const WAIT_S = 30;
const PERSON_S = 10;

/** Seconds after which a sync ends at a service that never answers, and whether by its silence. */
async function endOf(unlessOffline: boolean, { live = false, calledS = 0 } = {}) {
  const world = createDrivenWorld();
  const since = new Date(world.now() - calledS * 1000).toISOString();
  const never = new Promise<void>(() => {});
  const waiter = new SyncWaiter({
    world,
    followers: { files: () => [], looking: 0, lookAll: async () => {}, settled: async () => {} },
    remotes: { hurry: () => {}, syncNow: () => never },
    async status() {
      const status = madeUpStatus([madeUpProject(0, { waiting: 1 })]);
      const silent = { online: false, live, message: null, unanswered_since: since };
      const service = { ...status.service, ...silent };
      return { ...status, remotes: status.remotes.map((remote) => ({ ...remote, service })) };
    },
  });
  let ended: { readonly offline: boolean } | undefined;
  void waiter.sync(WAIT_S, { unlessOffline }).then((result) => {
    ended = result;
  });
  for (let seconds = 0; ; seconds += 1) {
    // What is due by then, which no timer waits for.
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    if (ended) return [seconds, ended.offline];
    world.advance(1000);
  }
}

test("who did not say how long to wait waits for a silent service as long as for any answer", async () => {
  expect(await endOf(true)).toEqual([PERSON_S, true]);
  expect(await endOf(true, { calledS: PERSON_S })).toEqual([1, true]);
  expect(await endOf(false)).toEqual([WAIT_S, false]);
});

test("a call over a live connection may just be long", async () => {
  expect(await endOf(true, { live: true })).toEqual([WAIT_S, false]);
});
