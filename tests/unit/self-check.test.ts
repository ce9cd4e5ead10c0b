import { expect, test } from "bun:test";
import { SelfCheck } from "../../daemon/supervise/self-check.ts";
import { createDrivenWorld } from "../support/driven-world.ts";

const INTERVAL_MS = 15_000;
const MINUTE_MS = 60_000;

/** A checked process, which is as busy and as silent as it is told to be. */
function checked() {
  const world = createDrivenWorld();
  const process = { answers: true, share: 0, cpuMs: 0, beats: 0, sick: [] as string[] };
  const check = new SelfCheck({
    world,
    intervalMs: INTERVAL_MS,
    answers: async () => process.answers,
    cpuMs: () => process.cpuMs,
    onBeat: () => {
      process.beats++;
    },
    onSick: (reason) => process.sick.push(reason),
  });
  /** One look after another, each to its end. */
  async function pass(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += INTERVAL_MS) {
      process.cpuMs += INTERVAL_MS * process.share;
      world.advance(INTERVAL_MS);
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    }
  }
  return { world, process, check, pass };
}

test("a daemon that answers and rests is well, and beats at each look", async () => {
  const { process, pass } = checked();
  process.share = 0.5;
  await pass(60 * MINUTE_MS);
  expect(process).toMatchObject({ sick: [], beats: 240 });
});

test("silence now and then is no sickness, three times in a row it is, said once", async () => {
  const { process, pass, world } = checked();
  for (let round = 0; round < 5; round++) {
    process.answers = false;
    await pass(2 * INTERVAL_MS);
    process.answers = true;
    await pass(INTERVAL_MS);
  }
  expect(process.sick).toEqual([]);
  process.answers = false;
  await pass(2 * INTERVAL_MS);
  expect(process.sick).toEqual([]);
  await pass(10 * INTERVAL_MS);
  expect(process.sick).toEqual(["its socket did not answer"]);
  expect(world.timers).toBe(0);
});

test("a processor kept busy for minutes on end is a sickness, hard work is none", async () => {
  const { process, pass } = checked();
  process.share = 1;
  await pass(9 * MINUTE_MS);
  process.share = 0.1;
  await pass(INTERVAL_MS);
  process.share = 1.8;
  await pass(9 * MINUTE_MS);
  expect(process.sick).toEqual([]);
  await pass(2 * MINUTE_MS);
  expect(process.sick).toEqual(["it kept a processor busy for too long"]);
});

test("a check that was stopped looks no more, and says nothing of a look under way", async () => {
  const { process, pass, check, world } = checked();
  process.answers = false;
  await pass(2 * INTERVAL_MS);
  world.advance(INTERVAL_MS);
  check.stop();
  await pass(10 * INTERVAL_MS);
  expect(process).toMatchObject({ sick: [], beats: 3 });
});
