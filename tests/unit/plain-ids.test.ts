import { afterEach, beforeEach, expect, test } from "bun:test";
import { PERSONAL_KEY } from "../../daemon/home/personal-mark.ts";
import { readPlainStatus } from "../../daemon/plain/plain-status.ts";
import { keysOfService } from "../../daemon/plain/plain-store.ts";
import type { Send } from "../../daemon/service/http-service.ts";
import { memoriesOf, said, set, settle, startPlain } from "../support/plain-cluster.ts";
import type { Machine, SyncCluster } from "../support/sync-cluster.ts";

const BASE = "http://localhost";
const HEADERS = { authorization: "Bearer mst_dev_cluster" };

let cluster: SyncCluster;
let first: Machine;
let second: Machine;

beforeEach(async () => {
  [cluster, first, second] = await startPlain();
});

afterEach(() => cluster.stop());

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
  for (const key of notes) await set(first, key, `note ${key}`, "user");
  await settle(first, second);
  const before = await memoriesOf(second, "user");
  cluster.intercept = listing((memory) => ({ ...memory, id: `${String(memory.id)}new` }));
  await settle(first, second);
  expect(await memoriesOf(first, "user")).toEqual(
    Object.fromEntries(notes.map((key) => [key, `note ${key}`])),
  );
  expect(await memoriesOf(second, "user")).toEqual(before);
});

test("a copy of the personal text is not sent, for others would take it for the text", async () => {
  const value = "<!-- memsync:personal version -->\nrule one\n";
  await set(first, "my-backup", value, "user");
  await set(first, PERSONAL_KEY, value, "user");
  await settle(first, second);
  expect(Object.values(await memoriesOf(second, "user"))).toEqual([value]);
  const { id, named } = await second.read(async (open) => {
    return { id: open.id, named: [...open.document.memories.keys()] };
  }, "user");
  expect(await keysOfService(second.store.reader, id)).toEqual(named);
  const own = await first.read((open) => open.id, "user");
  const { notes } = await readPlainStatus(first.store.reader, own);
  expect(notes).toMatchObject([{ code: "begins-as-personal" }]);
  expect(said(notes)).toStartWith("my-backup is not sent: it begins as the personal text does");
  await set(first, "my-backup", "rule one\n", "user");
  await settle(first, second);
  expect(Object.values(await memoriesOf(second, "user"))).toContain("rule one\n");
  expect((await readPlainStatus(first.store.reader, own)).notes).toEqual([]);
});

test("a memory that is listed under another id than it was given is the same one", async () => {
  cluster.intercept = listing(
    (memory) => memory,
    (memory) => ({ ...memory, id: "mem_other" }),
  );
  await set(first, "style", "tabs", "user");
  await settle(first);
  expect(await memoriesOf(first, "user")).toEqual({ style: "tabs" });
});

test("ids that no key can be made of make no memories again and again", async () => {
  await set(first, "style", "tabs", "user");
  await settle(first);
  cluster.intercept = listing((memory) => ({ ...memory, id: "mem_\ud800" }));
  for (let round = 0; round < 5; round++) await settle(first, second);
  cluster.intercept = undefined;
  const list = await cluster.ask(new Request(`${BASE}/v1/memories`, { headers: HEADERS }));
  expect(((await list.json()) as Body).total).toBe(1);
});

test("two machines that change different memories at once bring back no old value", async () => {
  await set(first, "style", "tabs", "user");
  await set(first, "tone", "dry", "user");
  await settle(first, second);
  const [tone = ""] =
    Object.entries(await memoriesOf(second, "user")).find((each) => each[1] === "dry") ?? [];
  await set(first, "style", "spaces", "user");
  await set(second, tone, "kind", "user");
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
    expect(Object.values(await memoriesOf(machine, "user")).sort()).toEqual(["kind", "spaces"]);
  }
});
