import { afterEach, beforeEach, expect, test } from "bun:test";
import { readPlainStatus } from "../../daemon/sync/plain/plain-status.ts";
import type { Send } from "../../daemon/sync/http-service.ts";
import { seededRandom } from "../support/random.ts";
import { type Machine, PROJECT, SyncCluster } from "../support/sync-cluster.ts";

let cluster: SyncCluster;
let machine: Machine;

beforeEach(async () => {
  cluster = new SyncCluster(seededRandom(1), true);
  await cluster.start(1);
  const [one] = cluster.machines;
  if (!one) throw new Error("a machine was started");
  machine = one;
});

afterEach(() => cluster.stop());

type Body = Record<string, unknown>;

/** Changes what the service shows of the project, and records what it is sent. */
function showing(change: (body: Body) => Body): Body[] {
  const sent: Body[] = [];
  cluster.intercept = async (request: Request, pass: Send) => {
    const isSync = request.method === "POST" && request.url.endsWith("/sync");
    if (isSync) sent.push((await request.clone().json()) as Body);
    const response = await pass(request);
    const isProject = new URL(request.url).pathname === `/api/projects/${PROJECT}`;
    if (request.method !== "GET" || !isProject || !response.ok) return response;
    return Response.json(change((await response.json()) as Body));
  };
  return sent;
}

async function settle() {
  for (let round = 0; round < 5; round++) if (await machine.sync("none")) break;
}

async function statusOf() {
  const id = await machine.read((open) => open.id);
  return await readPlainStatus(machine.store.reader, id);
}

async function write(text: string) {
  await machine.edit(({ document }) => document.setContent(text, 1));
}

async function set(key: string, value: string) {
  await machine.edit(({ document }) => document.setEntry("memories", key, value, { now: 1 }));
}

const LARGE = "a line of somebody else's\n".repeat(50_000);

for (const [what, text] of [
  ["is too large", LARGE],
  ["holds a NUL", "a\0b\n"],
  ["is none", ["lines", "of text"]],
] as const) {
  test(`a text of the service's that ${what} is not written over, and that is said`, async () => {
    await write("# Ours\n");
    const sent = showing((body) => ({ ...body, claude_md_content: text }));
    await set("key", "value");
    await settle();
    expect(sent.filter((body) => "claude_md_content" in body)).toEqual([]);
    expect(sent.some((body) => "memories" in body)).toBe(true);
    const { outstanding, notes } = await statusOf();
    expect([outstanding, notes.length]).toEqual([1, 1]);
    expect(notes[0]).toMatch(/^the description document can't be taken from the service/);
    cluster.intercept = undefined;
    await settle();
    expect(await statusOf()).toEqual({ outstanding: 0, notes: [] });
  });
}

test("a memory of the service's that can't be taken is not written over", async () => {
  await set("key", "ours");
  await set("other", "value");
  const value = "x".repeat(33 * 1024);
  await settle();
  const sent = showing((body) => ({
    ...body,
    memories: (body.memories as { key: string }[]).map((each) => {
      return each.key === "key" ? { ...each, value } : each;
    }),
  }));
  await set("key", "ours, changed");
  await set("other", "changed");
  await settle();
  const keys = sent.flatMap((body) => (body.memories ?? []) as { key: string }[]);
  expect(keys.map(({ key }) => key)).toEqual(["other"]);
  const { outstanding, notes } = await statusOf();
  expect([outstanding, notes.join()]).toEqual([1, expect.stringMatching(/^key can't be taken/)]);
  await machine.edit(({ document }) => document.deleteEntry("memories", "key"));
  const calls = sent.length;
  await settle();
  expect(sent.length).toBe(calls);
  cluster.intercept = undefined;
  await settle();
  await settle();
  expect(await statusOf()).toEqual({ outstanding: 0, notes: [] });
});
