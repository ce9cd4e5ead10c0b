import { expect, test } from "bun:test";
import { comeFirst, type Pause, patientPauseOf, pauseOf } from "../../shared/turns.ts";
import { setMemory } from "../support/stored.ts";
import { storesOfTests } from "../support/temp-store.ts";
import { createTestWorld, type TestWorld } from "../support/test-world.ts";

const newStore = storesOfTests();

/** Long work of so many steps, each of which lasts for a whole turn. */
async function work(
  world: TestWorld,
  { pause, steps, onStep }: { pause: Pause; steps: number; onStep: () => void },
): Promise<void> {
  for (let at = 0; at < steps; at++) {
    world.advance(3);
    await pause();
    onStep();
  }
}

test("what comes first has most of the turns, and others have some", async () => {
  const world = createTestWorld();
  const order: string[] = [];
  const of = (name: string, pause: Pause) =>
    work(world, { pause, steps: 40, onStep: () => void order.push(name) });
  const first = comeFirst(world, of("first", pauseOf(world)));
  await Promise.all([of("other", patientPauseOf(world)), first]);
  const others = order.slice(0, order.lastIndexOf("first")).filter((name) => name === "other");
  expect(others.length).toBeGreaterThan(2);
  expect(others.length).toBeLessThan(7);
});

test("where nothing comes first, patient work has as many turns as any", async () => {
  const world = createTestWorld();
  const order: string[] = [];
  const of = (name: string, pause: Pause) =>
    work(world, { pause, steps: 20, onStep: () => void order.push(name) });
  const failed = comeFirst(world, Promise.reject(new Error("failed"))).catch(() => {});
  await failed;
  await Promise.all([of("patient", patientPauseOf(world)), of("other", pauseOf(world))]);
  const patient = order.slice(0, order.lastIndexOf("other")).filter((name) => name === "patient");
  expect(patient.length).toBeGreaterThan(17);
});

test("a write's open transaction comes before long work that keeps nobody waiting", async () => {
  const order: string[] = [];
  const temp = await newStore({ pause: () => pauseOf(temp.world)() });
  await setMemory(temp.store, "k", "v");
  const write = temp.store.write(({ pause }) =>
    work(temp.world, { pause, steps: 40, onStep: () => void order.push("write") }),
  );
  const other = work(temp.world, {
    pause: patientPauseOf(temp.world),
    steps: 40,
    onStep: () => void order.push("other"),
  });
  await Promise.all([write, other]);
  const others = order.slice(order.indexOf("write"), order.lastIndexOf("write"));
  expect(others.filter((name) => name === "other").length).toBeLessThan(7);
});
