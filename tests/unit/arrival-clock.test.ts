import { expect, test } from "bun:test";
import { ArrivalClock } from "../../daemon/files/arrival-clock.ts";
import { UNSEEN_MS } from "../../daemon/files/arrivals.ts";
import { createDrivenWorld } from "../support/driven-world.ts";

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
