import { expect, test } from "bun:test";
import { statusOf } from "../../daemon/files/state/follow-status.ts";
import { SyncWaiter } from "../../daemon/status/wait-for-sync.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { madeUpProject, madeUpStatus } from "../support/made-up-status.ts";
import { projectId as projectIdOf } from "../support/project-id.ts";

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
    lookAtKept: async () => {},
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

test("a file is looked at while one waits, but not before a time that it is known to wait for", async () => {
  const world = createDrivenWorld();
  const projectId = projectIdOf("waits");
  const looks = { timed: 0, untimed: 0 };
  const file = (name: keyof typeof looks) => ({
    link: { dir: `/${name}`, projectId, name, write: false },
    status: statusOf("CLAUDE.md", "waiting", { code: "not-now" }),
    isTimed: name === "timed",
    look: () => void looks[name]++,
  });
  const files = [file("timed"), file("untimed")];
  const waiter = new SyncWaiter({
    world,
    followers: { files: () => files, looking: 0, lookAll: async () => {}, settled: async () => {} },
    lookAtKept: async () => {},
    remotes: { hurry: () => {}, syncNow: async () => {} },
    status: async () => madeUpStatus([{ ...madeUpProject(0, { waiting: 1 }), id: projectId }]),
  });
  void waiter.sync(WAIT_S, {});
  for (let seconds = 0; seconds < 2; seconds += 1) {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    world.advance(1000);
  }
  expect(looks).toEqual({ timed: 0, untimed: expect.any(Number) });
  expect(looks.untimed).toBeGreaterThan(0);
});
