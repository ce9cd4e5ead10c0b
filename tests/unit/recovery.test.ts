import { afterEach, expect, test } from "bun:test";
import { listHeld, placeOf, putHeld } from "../../daemon/home/held-store.ts";
import { listRevisions } from "../../shared/replica/history/revisions.ts";
import { seededRandom } from "../support/random.ts";
import { holding, REFUSAL } from "../support/refusing-service.ts";
import { type Machine, SyncCluster } from "../support/sync-cluster.ts";

const CALLS_MAX = 200;
const opened: SyncCluster[] = [];

afterEach(async () => {
  for (const cluster of opened.splice(0)) await cluster.stop();
});

async function startCluster(seed = 1): Promise<{ cluster: SyncCluster; a: Machine; b: Machine }> {
  const cluster = new SyncCluster(seededRandom(seed));
  opened.push(cluster);
  await cluster.start(2);
  const [a, b] = cluster.machines;
  if (!a || !b) throw new Error("there are two machines");
  return { cluster, a, b };
}

/** Calls the service until there is nothing more to exchange. */
async function settle(...machines: readonly Machine[]): Promise<void> {
  for (const machine of machines) {
    let calls = 0;
    while (!(await machine.sync("none"))) {
      calls += 1;
      if (calls > CALLS_MAX) throw new Error("it comes to no end");
    }
  }
}

function write(machine: Machine, key: string, value: string, now = 1000): Promise<void> {
  return machine.edit(({ document }) => document.setEntry("memories", key, { value, now }));
}

function memories(machine: Machine): Promise<Record<string, unknown>> {
  return machine.read(({ document }) =>
    Object.fromEntries(
      [...document.memories.keys()]
        .sort()
        .map((key) => [key, document.memories.get(key)[0]?.value]),
    ),
  );
}

const text = (machine: Machine) => machine.read(({ document }) => document.content());

async function heldOf({ store }: Machine) {
  const held = await listHeld(store.reader);
  return held.map(({ kind, key, value, reason, retryBatch }) => {
    return { kind, key, value, reason, retryBatch };
  });
}

const REFUSED = {
  reason: { code: "service-refused", said: REFUSAL },
  retryBatch: undefined,
} as const;

test("one refused memory is held in the service's words, and all else goes through", async () => {
  const { cluster, a, b } = await startCluster();
  await write(a, "shared", "1");
  await settle(a, b);
  cluster.refuses = holding("BAD");
  for (let at = 0; at < 20; at++) await write(a, `k${at}`, at === 13 ? "BAD" : `v${at}`);
  await a.edit(({ document }) => document.deleteEntry("memories", "shared"));
  await a.edit(({ document }) => document.setContent("# One\nfrom a\n", 1000));
  await a.edit(({ document }) =>
    document.setEntry("metadata", "color", { value: "red", now: 1000 }),
  );
  await settle(a, b);
  expect(await heldOf(a)).toEqual([{ kind: "memory", key: "k13", value: "BAD", ...REFUSED }]);
  expect(Object.keys(await memories(b))).toHaveLength(19);
  expect(await memories(b)).toEqual(await memories(a));
  expect(await memories(b)).not.toHaveProperty("shared");
  expect(await text(b)).toBe("# One\nfrom a\n");
  expect(await b.read(({ document }) => document.metadata.get("color")[0]?.value)).toBe("red");
});

test("refused metadata is held beside what is held of its key since", async () => {
  const { cluster, a, b } = await startCluster();
  await settle(a, b);
  cluster.refuses = holding("BAD");
  const mine = { value: '"mine"', seen: [], cause: "private", writtenAt: 2000 } as const;
  const reason = { code: "told-before", said: "a secret" } as const;
  await a.edit(({ document }) =>
    document.setEntry("metadata", "note", { value: "BAD", now: 1000 }),
  );
  const address = await a.read(({ address }) => address);
  await a.store.write(async (context) => {
    const place = placeOf(await context.open(address));
    await putHeld(context.db, { ...place, ...mine, kind: "metadata", key: "note", reason });
  });
  await settle(a, b);
  const held = await listHeld(a.store.reader);
  expect(held.map(({ value, shown }) => [value, shown])).toEqual([
    ['"BAD"', false],
    ['"mine"', true],
  ]);
});

test("after a refusal both machines go on writing, also to what was refused", async () => {
  const { cluster, a, b } = await startCluster();
  await write(a, "k", "first");
  await settle(a, b);
  cluster.refuses = holding("BAD");
  await write(a, "k", "BAD");
  await settle(a);
  expect(await memories(a)).toEqual({ k: "first" });
  await write(a, "k", "good", 2000);
  await write(b, "other", "of b");
  await settle(a, b, a);
  expect(await memories(a)).toEqual({ k: "good", other: "of b" });
  expect(await memories(b)).toEqual(await memories(a));
});

test("a refused text is held whole, and what others write goes on coming", async () => {
  const { cluster, a, b } = await startCluster();
  await a.edit(({ document }) => document.setContent("# One\n", 1000));
  await settle(a, b);
  cluster.refuses = holding("BAD");
  await a.edit(({ document }) => document.setContent("# One\nBAD\n", 2000));
  await write(a, "k", "v");
  await b.edit(({ document }) => document.setContent("# One\nof b\n", 2000));
  await settle(b, a, b);
  expect(await text(a)).toBe("# One\nof b\n");
  expect(await memories(b)).toEqual({ k: "v" });
  const [held] = await heldOf(a);
  expect(held).toMatchObject({ kind: "text", ...REFUSED });
  expect(held?.value?.split("\n").sort()).toEqual(["", "# One", "BAD", "of b"].sort());
  const { id } = await a.read((open) => open);
  const revisions = await listRevisions(a.store.reader as never, id, { kind: "text", key: "" });
  expect(revisions.some(({ value }) => value.includes("BAD"))).toBe(true);
});

test("what is being tried survives a restart in the middle", async () => {
  const { cluster, a, b } = await startCluster();
  await write(a, "start", "1");
  await settle(a, b);
  cluster.refuses = holding("BAD");
  for (let at = 0; at < 9; at++) await write(a, `k${at}`, at % 4 === 1 ? `BAD ${at}` : `v${at}`);
  for (let calls = 0; !(await a.sync(calls % 3 === 1 ? "lose answer" : "none")); calls++) {
    if (calls > CALLS_MAX) throw new Error("it comes to no end");
    await a.restart();
  }
  await settle(a, b);
  expect((await heldOf(a)).map(({ key, retryBatch }) => [key, retryBatch])).toEqual([
    ["k1", undefined],
    ["k5", undefined],
  ]);
  expect(Object.keys(await memories(b))).toHaveLength(8);
  expect(await memories(b)).toEqual(await memories(a));
});

test("a first document that is refused is taken apart in the same way", async () => {
  const { cluster, a, b } = await startCluster();
  cluster.refuses = holding("BAD");
  await write(a, "good", "1");
  await write(a, "bad", "BAD");
  await settle(a, b);
  expect(await memories(b)).toEqual({ good: "1" });
  expect(await heldOf(a)).toMatchObject([{ key: "bad", value: "BAD" }]);
});

test("a refused write over a key that another machine wrote meanwhile is no deletion", async () => {
  const { cluster, a, b } = await startCluster();
  await write(a, "k", "first");
  await settle(a, b);
  await write(b, "k", "of b", 3000);
  await settle(b);
  cluster.refuses = holding("BAD");
  await write(a, "k", "BAD", 2000);
  await settle(a, b);
  expect(await memories(a)).toEqual({ k: "of b" });
  expect(await memories(b)).toEqual({ k: "of b" });
  expect(await heldOf(a)).toMatchObject([{ key: "k", value: "BAD" }]);
});

test("a service that refuses everything leaves everything readable here", async () => {
  const { cluster, a } = await startCluster();
  cluster.refuses = () => true;
  for (let at = 0; at < 5; at++) await write(a, `k${at}`, `v${at}`);
  await settle(a);
  const held = (await heldOf(a)).map(({ key, value }) => [key, value]);
  expect(held.sort()).toEqual([0, 1, 2, 3, 4].map((at) => [`k${at}`, `v${at}`]));
});
