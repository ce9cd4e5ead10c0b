import { expect, test } from "bun:test";
import * as Y from "yjs";
import {
  type DocumentServed,
  type ExchangeRequest,
  encodeExchangeRequest,
  parseExchangeAnswer,
} from "../../shared/wire/exchange.ts";
import { encodeSubscribe, parseServerFrame } from "../../shared/wire/live.ts";
import type { SyncAnswer } from "../../shared/wire/sync.ts";
import { connectLive } from "../support/live-client.ts";
import { projectId } from "../support/project-id.ts";
import { type Client, newAccount } from "../support/service.ts";

const PROJECT = projectId("a");
const SYNC = `/v1/projects/${PROJECT}/sync`;

async function exchange(client: Client, path: string, request: ExchangeRequest) {
  const { status, body } = await client.post(path, encodeExchangeRequest(request));
  expect(status).toBe(200);
  return parseExchangeAnswer(body).documents;
}

function served(answer: unknown): DocumentServed {
  expect(answer).toHaveProperty("epoch");
  return answer as DocumentServed;
}

/** A document with these memories, as a replica would send it. */
function updateWith(...memories: readonly (readonly [key: string, value: string])[]): Uint8Array {
  const document = new Y.Doc();
  const at = 1_767_323_045_678;
  const entries = memories.map(([key, value]) => ({ key, value, created_at: at, updated_at: at }));
  document.getArray(`memories/${document.clientID}`).push(entries);
  return Y.encodeStateAsUpdate(document);
}

/** Memories that take more than a text of a plain body may. */
const MANY = Array.from({ length: 60 }, (_, at) => [`k${at}`, `${at}`.repeat(15_000)] as const);

test("an empty document is at no epoch and 0", async () => {
  const client = newAccount();
  const documents = await exchange(client, "/api/sync", { documents: { user: {}, global: {} } });
  expect(documents).toEqual({ user: { epoch: "", seq: 0 }, global: { epoch: "", seq: 0 } });
});

test("what a plain call wrote comes down by exchange, once", async () => {
  const client = newAccount();
  await client.post(SYNC, { memories: [{ key: "a", value: "1" }] });
  const first = served((await exchange(client, SYNC, { documents: { project: {} } })).project);
  expect(first.seq).toBeGreaterThan(0);
  expect(first.update?.length).toBeGreaterThan(0);
  const position = { epoch: first.epoch, seq: first.seq };
  const next = await exchange(client, SYNC, { documents: { project: { position } } });
  expect(next.project).toEqual(position);
});

test("what a replica wrote goes up and is readable, however often it is sent", async () => {
  const client = newAccount();
  const update = updateWith(["a", "1"]);
  for (const _repetition of [1, 2]) {
    const { project } = await exchange(client, SYNC, { documents: { project: { update } } });
    expect(project).toHaveProperty("seq", 1);
  }
  const read = await client.post<SyncAnswer>(SYNC);
  expect(read.body.memories).toEqual([{ key: "a", value: "1" }]);
});

test("a position that the server never reached is told so", async () => {
  const client = newAccount();
  await client.post(SYNC, { memories: [{ key: "a", value: "1" }] });
  const position = { epoch: "another", seq: 500 };
  const { project } = await exchange(client, SYNC, { documents: { project: { position } } });
  expect(project).toMatchObject({ reset: true });
  expect(served(project).stateVector).toBeInstanceOf(Uint8Array);
});

test("a bad update is refused by itself, and the rest is served", async () => {
  const client = newAccount();
  await client.post("/v1/memories", { content: "x", layer: "global" });
  const update = new Uint8Array([1, 2, 3, 4, 5]);
  const documents = await exchange(client, SYNC, { documents: { user: { update }, global: {} } });
  expect(documents.user).toHaveProperty("refused.message");
  expect(served(documents.global).seq).toBe(1);
});

test("crdt beside plain fields, or malformed, is 400", async () => {
  const client = newAccount();
  const crdt = { encoding: "yjs-v1", documents: {} };
  for (const body of [
    { crdt, memories: [] },
    { crdt: { ...crdt, encoding: "yjs-v2" } },
    { crdt: { ...crdt, documents: { project: { update: "not base64!" } } } },
    { crdt: { ...crdt, documents: { project: { seq: 5 } } } },
  ]) {
    expect((await client.post(SYNC, body)).status).toBe(400);
  }
  expect((await client.get("/v1/projects/proj_a")).status).toBe(404);
});

test("a commit is heard over the live socket, where the position said it would be", async () => {
  const client = newAccount();
  await client.post(SYNC, { memories: [{ key: "a", value: "1" }] });
  using socket = await connectLive(client.url, client.token);
  socket.send(encodeSubscribe([PROJECT, projectId("unknown")]));
  const subscribed = parseServerFrame(JSON.stringify(await socket.next()));
  if (subscribed?.type !== "subscribed") throw new Error("not subscribed");
  expect([...subscribed.positions.keys()].sort()).toEqual(["global", PROJECT, "user"]);
  await client.post(SYNC, { memories: [{ key: "a", value: "2" }] });
  const changed = parseServerFrame(JSON.stringify(await socket.next()));
  if (changed?.type !== "changed") throw new Error("not changed");
  const before = subscribed.positions.get(PROJECT);
  expect(changed).toMatchObject({ projectId: PROJECT, document: "project" });
  expect(changed.seq).toBe((before?.seq ?? 0) + 1);
  expect(changed.update?.length).toBeGreaterThan(0);
  await client.post("/v1/memories", { content: "x", layer: "user" });
  expect(await socket.next()).toMatchObject({ document: "user", project_id: null });
});

test("another account's commits are never heard", async () => {
  const [one, other] = [newAccount(), newAccount()];
  using socket = await connectLive(one.url, one.token);
  socket.send(encodeSubscribe([PROJECT]));
  await socket.next();
  await other.post(SYNC, { memories: [{ key: "a", value: "1" }] });
  await one.post("/v1/memories", { content: "x", layer: "global" });
  expect(await socket.next()).toMatchObject({ document: "global" });
});

test("a long update is applied as a short one, by itself and for one of several projects", async () => {
  const client = newAccount();
  const update = updateWith(...MANY);
  const { crdt } = encodeExchangeRequest({ documents: { project: { update } } });
  const long = await client.post(`/v1/projects/${projectId("long")}/sync`, { crdt });
  expect(long.status).toBe(200);
  const projects = { [projectId("part")]: { documents: crdt.documents } };
  const batch = { crdt: { encoding: crdt.encoding, documents: {}, projects } };
  expect((await client.post("/api/sync", batch)).status).toBe(200);
  for (const name of ["long", "part"]) {
    const { body } = await client.get(`/api/projects/${projectId(name)}`);
    const { memories } = body as { memories: { key: string; value: string }[] };
    expect(new Map(memories.map(({ key, value }) => [key, value]))).toEqual(new Map(MANY));
  }
});

test("a long text that is no base64 is refused as a short one, and ignored where it is unknown", async () => {
  const client = newAccount();
  for (const unread of ["AAA", "é".repeat(600_000), `${"AAAA".repeat(300_000)}A`]) {
    const documents = { project: { update: unread } };
    const { status, body } = await client.post(SYNC, { crdt: { encoding: "yjs-v1", documents } });
    expect([status, body]).toMatchObject([
      400,
      {
        error: { details: [{ path: "/crdt/documents/project/update", message: "must be base64" }] },
      },
    ]);
  }
  const unknown = "AAAA".repeat(300_000);
  const plain = await client.post(SYNC, { unknown, memories: [{ key: "a", value: "1" }] });
  expect(plain.status).toBe(200);
  const crdt = { encoding: "yjs-v1", documents: { project: {} } };
  expect((await client.post(SYNC, { unknown, crdt })).status).toBe(200);
  const over = await client.post(SYNC, { claude_md_content: unknown });
  expect([over.status, over.body]).toMatchObject([
    400,
    { error: { message: "/claude_md_content must be at most 1048576 bytes of UTF-8" } },
  ]);
});
