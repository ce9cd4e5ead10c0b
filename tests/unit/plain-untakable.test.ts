import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Send } from "../../daemon/service/http-service.ts";
import { said, set, settle, startPlain, statusOf, write } from "../support/plain-cluster.ts";
import { type Machine, PROJECT, type SyncCluster } from "../support/sync-cluster.ts";

let cluster: SyncCluster;
let machine: Machine;

beforeEach(async () => {
  [cluster, machine] = await startPlain();
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

const LARGE = "a line of somebody else's\n".repeat(50_000);

for (const [what, text] of [
  ["is too large", LARGE],
  ["holds a NUL", "a\0b\n"],
  ["is none", ["lines", "of text"]],
] as const) {
  test(`a text of the service's that ${what} is not written over, and that is said`, async () => {
    await write(machine, "# Ours\n");
    const sent = showing((body) => ({ ...body, claude_md_content: text }));
    await set(machine, "key", "value");
    await settle(machine);
    expect(sent.filter((body) => "claude_md_content" in body)).toEqual([]);
    expect(sent.some((body) => "memories" in body)).toBe(true);
    const { outstanding, notes } = await statusOf(machine);
    expect([outstanding, notes.length]).toEqual([1, 1]);
    expect(said(notes)).toMatch(/^the description document can't be taken from the service/);
    cluster.intercept = undefined;
    await settle(machine);
    expect(await statusOf(machine)).toEqual({ outstanding: 0, notes: [] });
  });
}

test("a memory of the service's that can't be taken is not written over", async () => {
  await set(machine, "key", "ours");
  await set(machine, "other", "value");
  const value = "x".repeat(33 * 1024);
  await settle(machine);
  const sent = showing((body) => ({
    ...body,
    memories: (body.memories as { key: string }[]).map((each) => {
      return each.key === "key" ? { ...each, value } : each;
    }),
  }));
  await set(machine, "key", "ours, changed");
  await set(machine, "other", "changed");
  await settle(machine);
  const keys = sent.flatMap((body) => (body.memories ?? []) as { key: string }[]);
  expect(keys.map(({ key }) => key)).toEqual(["other"]);
  const { outstanding, notes } = await statusOf(machine);
  expect([outstanding, said(notes)]).toEqual([1, expect.stringMatching(/^key can't be taken/)]);
  await machine.edit(({ document }) => document.deleteEntry("memories", "key"));
  const calls = sent.length;
  await settle(machine);
  expect(sent.length).toBe(calls);
  cluster.intercept = undefined;
  await settle(machine);
  await settle(machine);
  expect(await statusOf(machine)).toEqual({ outstanding: 0, notes: [] });
});

test("metadata of the service's that can't be taken is not written over", async () => {
  const change = (value: string) =>
    machine.edit(({ document }) => document.setEntry("metadata", "team", { value, now: 1 }));
  await change("ours");
  await settle(machine);
  const metadata = { team: "x".repeat(64 * 1024 + 1) };
  const sent = showing((body) => ({ ...body, metadata }));
  await change("ours, changed");
  await settle(machine);
  expect(sent.filter((body) => "metadata" in body)).toEqual([]);
  const { outstanding, notes } = await statusOf(machine);
  expect([outstanding, said(notes)]).toEqual([
    1,
    expect.stringMatching(/^metadata team can't be taken/),
  ]);
  cluster.intercept = undefined;
  await settle(machine);
  await settle(machine);
  expect(await statusOf(machine)).toEqual({ outstanding: 0, notes: [] });
});
