import { expect, setDefaultTimeout, test } from "bun:test";
import { ArrivalClock } from "../../daemon/files/arrivals/arrival-clock.ts";
import { UNSEEN_MS } from "../../daemon/files/arrivals/arrivals.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { exchange } from "../support/exchange-machines.ts";
import { FILE, FollowedClones, START } from "../support/followed-clones.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const HOUR_MS = 3_600_000;

test("a change from before a restart is unseen for a minute by the wall clock", () => {
  const world = createDrivenWorld("clock");
  const clock = new ArrivalClock(world);
  const arrival = { id: 1, at: world.now() - HOUR_MS };
  const isUnseen = (savedAt: number) => clock.unseenAt([arrival], savedAt).length === 1;
  expect(isUnseen(arrival.at + UNSEEN_MS - 1)).toBe(true);
  expect(isUnseen(arrival.at + UNSEEN_MS)).toBe(false);
  expect(isUnseen(arrival.at - HOUR_MS)).toBe(true);
});

test("a save whose file says that it was made in the future may not have seen what came before a restart", () => {
  const world = createDrivenWorld("clock");
  const clock = new ArrivalClock(world);
  const arrival = { id: 1, at: world.now() - HOUR_MS };
  expect(clock.unseenAt([arrival], world.now() + 1)).toEqual([arrival]);
});

test("a change that came while the daemon ran is seen after a minute, whatever the file's time is", () => {
  const world = createDrivenWorld("clock");
  const clock = new ArrivalClock(world);
  const arrival = { id: 1, at: world.now() };
  clock.came(1);
  world.advance(UNSEEN_MS);
  expect(clock.unseenAt([arrival], world.now() + HOUR_MS)).toEqual([]);
});

for (const [way, sign] of [
  ["ahead", 1],
  ["back", -1],
] as const) {
  test(`a clock that is set ${way} while the daemon runs makes no save one that has seen others' lines`, async () => {
    const lab = new FollowedClones();
    const { a, b } = await lab.apart();
    a.put(START, FILE);
    await a.settle();
    await exchange([a, b]);
    const first = START.replace("make.\n", "make.\nLint first.\n");
    await b.setDoc(first);
    await exchange([a, b]);
    a.setClockBy(sign * 5 * HOUR_MS);
    await b.setDoc(`${first}Ship.\n`);
    await exchange([a, b]);
    expect(a.file()).toBe(`${first}Ship.\n`);
    a.put(`${START}Own.\n`);
    await a.settle();
    await exchange([a, b]);
    expect(await b.doc()).toContain("Lint first.\n");
    expect(await b.doc()).toContain("Ship.\n");
    expect(await a.listed()).not.toEqual([]);
    await lab.end();
  });
}
