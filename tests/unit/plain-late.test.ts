import { afterEach, beforeEach, expect, test } from "bun:test";
import { settle, startPlain } from "../support/plain-cluster.ts";
import type { Machine, SyncCluster } from "../support/sync-cluster.ts";

let cluster: SyncCluster;
let first: Machine;
let second: Machine;

beforeEach(async () => {
  [cluster, first, second] = await startPlain();
});

afterEach(() => cluster.stop());

async function write(machine: Machine, value: string) {
  await machine.edit(({ document }) => {
    document.setEntry("memories", "key", { value, now: 1 });
    document.setEntry("metadata", "language", { value, now: 1 });
    document.setContent(`# Title\n\n${value}\n`, 1);
  });
}

function shown(machine: Machine) {
  return machine.read(({ document }) => ({
    text: document.content(),
    values: document.memories.get("key").map(({ value }) => value),
    language: document.metadata.get("language")[0]?.value,
  }));
}

/** The service does not answer the next sync, and does it when it is told to. */
async function hangOnce(): Promise<() => Promise<unknown>> {
  let hanging: (() => Promise<unknown>) | undefined;
  cluster.intercept = async (request, pass) => {
    if (hanging || request.method !== "POST" || (await request.clone().text()).includes("crdt")) {
      return await pass(request);
    }
    const copy = new Request(request.url, {
      method: "POST",
      headers: request.headers,
      body: await request.text(),
    });
    hanging = () => pass(copy);
    throw new Error("it did not answer in time");
  };
  expect(await first.sync("none")).toBe(false);
  return hanging ?? Promise.reject(new Error("nothing was sent"));
}

for (const restarted of [false, true]) {
  const when = restarted ? " and a restart" : "";
  test(`what is done after all, later than what replaced it${when}, does not win`, async () => {
    await write(first, "old");
    await settle(first, second);
    await write(first, "slow");
    const doIt = await hangOnce();
    if (restarted) await first.restart();
    await write(first, "new");
    await settle(first);
    await doIt();
    await settle(first, second);
    const expected = { text: "# Title\n\nnew\n", values: ["new"], language: "new" };
    expect(await shown(first)).toEqual(expected);
    expect(await shown(second)).toEqual(expected);
  });
}

test("who writes again what once did not get an answer, and was seen, is heard", async () => {
  await write(first, "old");
  await settle(first, second);
  await write(first, "slow");
  const doIt = await hangOnce();
  await doIt();
  await settle(first, second);
  await write(second, "other");
  await settle(second, first);
  await write(second, "slow");
  await settle(second, first);
  expect((await shown(first)).values).toEqual(["slow"]);
  expect((await shown(first)).text).toBe("# Title\n\nslow\n");
});

/** Does something once, right after the first such call. Returns whether it was done. */
function afterCall(
  isMeant: (call: { readonly method: string; readonly body: string }) => boolean,
  act: () => Promise<void>,
): () => boolean {
  let isDone = false;
  cluster.intercept = async (request, pass) => {
    const body = await request.clone().text();
    const response = await pass(request);
    if (!isDone && isMeant({ method: request.method, body })) {
      isDone = true;
      await act();
    }
    return response;
  };
  return () => isDone;
}

for (const layer of ["project", "user"] as const) {
  test(`what is deleted and made again before the next reading stays (${layer})`, async () => {
    const of = layer === "user" ? layer : undefined;
    const put = () =>
      first.edit(({ document }) => {
        document.setEntry("memories", "key", { value: "value", now: 1 });
        if (!of) document.setEntry("metadata", "language", { value: "value", now: 1 });
      }, of);
    await write(first, "there, so that it shows something");
    await put();
    await settle(first, second);
    await first.edit(({ document }) => {
      document.deleteEntry("memories", "key");
      document.deleteEntry("metadata", "language");
    }, of);
    const isMade = afterCall(({ method }) => method === "DELETE", put);
    await settle(first, second, first);
    expect(isMade()).toBe(true);
    for (const machine of [first, second]) {
      const values = await machine.read(({ document: { memories, metadata } }) => {
        return [...memories.keys()]
          .map((key) => memories.get(key)[0]?.value)
          .concat(metadata.get("language").map(({ value }) => value));
      }, of);
      expect(values).toEqual(of ? ["value"] : ["value", "value"]);
    }
  });
}

test("metadata that is removed and set again before the next reading stays", async () => {
  const put = () =>
    first.edit(({ document }) => {
      document.setEntry("metadata", "language", { value: "value", now: 1 });
    });
  await write(first, "old");
  await put();
  await settle(first, second);
  await first.edit(({ document }) => {
    document.deleteEntry("metadata", "language");
  });
  const isMade = afterCall(({ method, body }) => method === "POST" && body.includes("null"), put);
  await settle(first, second, first);
  expect(isMade()).toBe(true);
  for (const machine of [first, second]) {
    const values = await machine.read(({ document: { metadata } }) => {
      return metadata.get("language").map(({ value }) => value);
    });
    expect(values).toEqual(["value"]);
  }
});
