import { expect, test } from "bun:test";
import { QuietTime } from "../../daemon/home/quiet-time.ts";
import { createDrivenWorld } from "../support/driven-world.ts";
import { memoriesOf, setMemory } from "../support/stored.ts";
import { createTempStore } from "../support/temp-store.ts";

const MINUTE_MS = 60_000;

function quietTime() {
  const world = createDrivenWorld();
  const state = { rests: 0, collections: 0 };
  let onIdle = () => {};
  const quiet = new QuietTime({
    world,
    store: {
      whenIdle: (listener) => {
        onIdle = listener;
      },
      rest: () => {
        state.rests++;
      },
    },
    shrinkRuntime: () => {
      state.collections++;
    },
  });
  return { world, state, quiet, write: () => onIdle() };
}

test("memory is given back once, a minute after the last write, and nothing runs from then on", () => {
  const { world, state, write } = quietTime();
  write();
  world.advance(MINUTE_MS - 1);
  write();
  world.advance(1);
  expect(state.rests).toBe(0);
  world.advance(MINUTE_MS - 1);
  expect(state).toEqual({ rests: 1, collections: 1 });
  expect(world.timers).toBe(0);
  write();
  world.advance(MINUTE_MS);
  expect(state.rests).toBe(2);
});

test("nothing runs after the end, whatever is still written", () => {
  const { world, state, quiet, write } = quietTime();
  write();
  quiet.stop();
  write();
  world.advance(MINUTE_MS);
  expect({ timers: world.timers, rests: state.rests }).toEqual({ timers: 0, rests: 0 });
});

test("a store at rest keeps the document used last, and loses nothing of the others", async () => {
  const temp = await createTempStore();
  const { store } = temp;
  try {
    const names = ["one", "two", "three"];
    for (const name of names) await setMemory(store, "key", name, name);
    const idle = Promise.withResolvers<void>();
    store.whenIdle(idle.resolve);
    await setMemory(store, "key", "later", "one");
    await idle.promise;
    expect(store.inMemory.documents).toBe(3);
    store.rest();
    expect(store.inMemory.documents).toBe(1);
    const found = await Promise.all(names.map((name) => memoriesOf(store, name)));
    expect(found).toEqual([{ key: "later" }, { key: "two" }, { key: "three" }]);
  } finally {
    await temp.remove();
  }
});
