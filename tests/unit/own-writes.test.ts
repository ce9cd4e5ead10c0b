import { afterEach, expect, test } from "bun:test";
import { seededRandom } from "../support/random.ts";
import { type Machine, SyncCluster } from "../support/sync-cluster.ts";

const CALLS_MAX = 50;
const opened: SyncCluster[] = [];

afterEach(async () => {
  for (const cluster of opened.splice(0)) await cluster.stop();
});

/** Two machines of which the second writes under the first one's client id, as its copy would. */
async function startCopies(): Promise<{ a: Machine; copy: Machine }> {
  const cluster = new SyncCluster(seededRandom(1));
  opened.push(cluster);
  await cluster.start(2);
  const [a, copy] = cluster.machines;
  if (!a || !copy) throw new Error("there are two machines");
  await write(a, "before");
  await a.edit(({ document }) => document.setContent("# One\n\nfirst\n", 1000));
  await settle(a, copy);
  await settle(a, copy);
  const id = await a.read(({ document }) => document.ydoc.clientID);
  await copy.edit(({ document }) => {
    document.ydoc.clientID = id;
  });
  return { a, copy };
}

async function settle(...machines: readonly Machine[]): Promise<void> {
  for (const machine of machines) {
    let calls = 0;
    while (!(await machine.sync("none"))) {
      calls += 1;
      if (calls > CALLS_MAX) throw new Error("it comes to no end");
    }
  }
}

function write(machine: Machine, key: string): Promise<void> {
  return machine.edit(({ document }) => {
    document.setEntry("memories", key, { value: `value of ${key}`, now: 1000 });
  });
}

function contentOf(machine: Machine) {
  return machine.read(({ document }) => ({
    keys: [...document.memories.keys()].sort(),
    text: document.content(),
  }));
}

// The copy wrote as much, less or more of it than this machine did.
for (const count of [0, 1, 2, 3]) {
  test(`of a copy's writes and ${count} unsent ones under one client id all stay`, async () => {
    const { a, copy } = await startCopies();
    await write(copy, "copy-1");
    await copy.edit(({ document }) => document.setContent("# One\n\nfirst\ncopied\n", 2000));
    await settle(copy);
    const own = ["own-1", "own-2"].slice(0, count);
    for (const key of own) await write(a, key);
    if (count > 2) {
      await a.edit(({ document }) => document.setContent("# One, own\n\nfirst\n", 2000));
    }
    await settle(a, copy, a, copy);
    const all = { keys: ["before", "copy-1", ...own].sort(), text: expect.any(String) };
    expect(await contentOf(a)).toEqual(all);
    expect(await contentOf(copy)).toEqual(await contentOf(a));
    const { text } = await contentOf(a);
    expect(text).toBe(count > 2 ? "# One, own\n\nfirst\ncopied\n" : "# One\n\nfirst\ncopied\n");
    // It goes on under an id of its own.
    await write(a, "later");
    await write(copy, "later-copy");
    await settle(a, copy, a);
    expect((await contentOf(a)).keys).toEqual([...all.keys, "later", "later-copy"].sort());
    expect(await contentOf(copy)).toEqual(await contentOf(a));
  });
}

test("copies that never met a service keep all that each writes once one knows of it", async () => {
  const cluster = new SyncCluster(seededRandom(2));
  opened.push(cluster);
  await cluster.start(2);
  const [a, copy] = cluster.machines;
  if (!a || !copy) throw new Error("there are two machines");
  const id = await a.read(({ document }) => document.ydoc.clientID);
  await copy.edit(({ document }) => {
    document.ydoc.clientID = id;
  });
  const { clientId } = copy.store.writer;
  await copy.store.write(async (context) => context.renewIds());
  expect(copy.store.writer.clientId).not.toBe(clientId);
  // As much of it under each: by their state vectors they would be equal.
  await write(a, "of-a");
  await write(copy, "of-b");
  await settle(a, copy, a);
  expect((await contentOf(a)).keys).toEqual(["of-a", "of-b"]);
  expect(await contentOf(copy)).toEqual(await contentOf(a));
});
