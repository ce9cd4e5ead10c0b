import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Send } from "../../daemon/sync/http-service.ts";
import { seededRandom } from "../support/random.ts";
import { type Machine, SyncCluster } from "../support/sync-cluster.ts";

const BASE = "http://localhost";
const HEADERS = { authorization: "Bearer mst_dev_cluster" };

let cluster: SyncCluster;
let first: Machine;
let second: Machine;

beforeEach(async () => {
  cluster = new SyncCluster(seededRandom(1), true);
  await cluster.start(2);
  const [one, other] = cluster.machines;
  if (!one || !other) throw new Error("two machines were started");
  [first, second] = [one, other];
});

afterEach(() => cluster.stop());

async function set(machine: Machine, key: string, value: string) {
  await machine.edit(
    ({ document }) => document.setEntry("memories", key, value, { now: 1 }),
    "user",
  );
}

/** Each round until there is nothing more to do at once. */
async function settle(...machines: readonly Machine[]) {
  for (const machine of machines) {
    for (let round = 0; round < 5; round++) if (await machine.sync("none")) break;
  }
}

async function memoriesOf(machine: Machine) {
  return await machine.read(({ document: { memories } }) => {
    return Object.fromEntries(
      [...memories.keys()].map((key) => [key, memories.get(key)[0]?.value]),
    );
  }, "user");
}

type Body = Record<string, unknown>;

/** Changes the memories that the service lists, or the one that it has created. */
function listing(change: (memory: Body) => Body, created = change) {
  return async (request: Request, pass: Send) => {
    const response = await pass(request);
    if (!request.url.endsWith("/v1/memories") || !response.ok) return response;
    const body = (await response.json()) as Body;
    if (request.method === "POST") return Response.json(created(body));
    return Response.json({ ...body, memories: (body.memories as Body[]).map(change) });
  };
}

test("memories that come back under other ids are the same ones", async () => {
  const notes = ["a", "b", "c", "d", "e"];
  for (const key of notes) await set(first, key, `note ${key}`);
  await settle(first, second);
  const before = await memoriesOf(second);
  cluster.intercept = listing((memory) => ({ ...memory, id: `${String(memory.id)}new` }));
  await settle(first, second);
  expect(await memoriesOf(first)).toEqual(
    Object.fromEntries(notes.map((key) => [key, `note ${key}`])),
  );
  expect(await memoriesOf(second)).toEqual(before);
});

test("a memory that is listed under another id than it was given is the same one", async () => {
  cluster.intercept = listing(
    (memory) => memory,
    (memory) => ({ ...memory, id: "mem_other" }),
  );
  await set(first, "style", "tabs");
  await settle(first);
  expect(await memoriesOf(first)).toEqual({ style: "tabs" });
});

test("ids that no key can be made of make no memories again and again", async () => {
  await set(first, "style", "tabs");
  await settle(first);
  cluster.intercept = listing((memory) => ({ ...memory, id: "mem_\ud800" }));
  for (let round = 0; round < 5; round++) await settle(first, second);
  cluster.intercept = undefined;
  const list = await cluster.ask(new Request(`${BASE}/v1/memories`, { headers: HEADERS }));
  expect(((await list.json()) as Body).total).toBe(1);
});

test("two machines that change different memories at once bring back no old value", async () => {
  await set(first, "style", "tabs");
  await set(first, "tone", "dry");
  await settle(first, second);
  const [tone = ""] =
    Object.entries(await memoriesOf(second)).find((each) => each[1] === "dry") ?? [];
  await set(first, "style", "spaces");
  await set(second, tone, "kind");
  // The second's whole round comes before the first's last reading.
  let crossed = false;
  cluster.intercept = async (request, pass) => {
    const response = await pass(request);
    if (request.method !== "DELETE" || crossed) return response;
    crossed = true;
    await second.sync("none");
    return response;
  };
  await settle(first, second, first);
  expect(crossed).toBe(true);
  for (const machine of [first, second]) {
    expect(Object.values(await memoriesOf(machine)).sort()).toEqual(["kind", "spaces"]);
  }
});
