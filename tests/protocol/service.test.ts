import { describe, expect, test } from "bun:test";
import * as Y from "yjs";
import { connectLive } from "../support/live-client.ts";
import { type Client, clientOf, newAccount } from "../support/service.ts";
import {
  decode,
  encode,
  exchange,
  exchangeProject,
  type WireAnswer,
  WireReplica,
} from "./wire-replica.ts";

const PROJECT = "proj_protocol";

/** A project that one plain call has made, with one memory. */
async function newProject(): Promise<Client> {
  const client = newAccount();
  await setPlainly(client, "first", "1");
  return client;
}

async function setPlainly(client: Client, key: string, value: string): Promise<void> {
  const body = { memories: [{ key, value }] };
  expect((await client.post(`/v1/projects/${PROJECT}/sync`, body)).status).toBe(200);
}

async function ask(client: Client, position: { epoch: string; seq: number }): Promise<WireAnswer> {
  return await exchangeProject(client, PROJECT, position);
}

function positionOf({ epoch = "", seq = 0 }: WireAnswer): { epoch: string; seq: number } {
  return { epoch, seq };
}

/** What is held, by a replica that asks for all of it. */
async function heldBy(client: Client): Promise<Record<string, string>> {
  const replica = new WireReplica(client, PROJECT);
  await replica.sync();
  return replica.memories();
}

describe("positions", () => {
  test("asking makes no document, and one that nobody wrote is at no epoch and 0", async () => {
    const client = newAccount();
    const asked = await exchange(client, undefined, { user: {}, global: {} });
    const empty = { epoch: "", seq: 0 };
    expect(asked).toEqual({ user: empty, global: empty });
    expect((await client.get<{ total: number }>("/v1/memories")).body.total).toBe(0);
  });

  test("each commit takes a document one further, and a repetition does not", async () => {
    const client = await newProject();
    const { epoch, seq } = positionOf(await exchangeProject(client, PROJECT, {}));
    await setPlainly(client, "second", "2");
    expect(positionOf(await ask(client, { epoch, seq }))).toEqual({ epoch, seq: seq + 1 });
    await setPlainly(client, "second", "2");
    expect(positionOf(await ask(client, { epoch, seq }))).toEqual({ epoch, seq: seq + 1 });
  });

  test("after a position come the rows behind it, and at the head nothing", async () => {
    const client = await newProject();
    const replica = new WireReplica(client, PROJECT);
    await replica.sync();
    const at = replica.position ?? { epoch: "", seq: 0 };
    await setPlainly(client, "second", "2");
    const next = await ask(client, at);
    const held = Y.encodeStateVector(replica.doc);
    Y.applyUpdate(replica.doc, decode(next.update ?? ""), "service");
    expect(Y.encodeStateVector(replica.doc)).not.toEqual(held);
    expect(replica.memories()).toEqual({ first: "1", second: "2" });
    expect(await ask(client, positionOf(next))).toEqual(positionOf(next));
  });

  test("deletions come down by position as writes do", async () => {
    const client = await newProject();
    const [one, other] = [new WireReplica(client, PROJECT), new WireReplica(client, PROJECT)];
    await one.sync();
    await other.sync();
    one.remove("first");
    await one.sync();
    await other.sync();
    expect(other.memories()).toEqual({});
  });

  test("nobody is sent what it brought itself", async () => {
    const client = await newProject();
    const replica = new WireReplica(client, PROJECT);
    await replica.sync();
    replica.set("mine", "x");
    await setPlainly(client, "theirs", "y");
    const answer = await exchangeProject(client, PROJECT, replica.request());
    const brought = new Y.Doc();
    Y.applyUpdate(brought, decode(answer.update ?? ""));
    expect([...Y.decodeStateVector(Y.encodeStateVector(brought)).keys()]).not.toContain(
      replica.doc.clientID,
    );
    replica.take(answer);
    expect(replica.memories()).toEqual({ first: "1", mine: "x", theirs: "y" });
  });
});

describe("repeating and recovering", () => {
  test("a request whose answer was lost may be sent again", async () => {
    const client = await newProject();
    const replica = new WireReplica(client, PROJECT);
    await replica.sync();
    replica.set("mine", "x");
    const request = replica.request();
    const lost = await exchangeProject(client, PROJECT, request);
    const again = await exchangeProject(client, PROJECT, request);
    expect(positionOf(again)).toEqual(positionOf(lost));
    replica.take(again);
    expect(await heldBy(client)).toEqual(replica.memories());
  });

  test("a position that was never reached is answered by reset and nothing else", async () => {
    const client = await newProject();
    const head = positionOf(await exchangeProject(client, PROJECT, {}));
    for (const strange of [
      { epoch: head.epoch, seq: head.seq + 1 },
      { epoch: "AnotherEpoch0000000000", seq: head.seq },
    ]) {
      const answer = await ask(client, strange);
      expect(answer).toEqual({ ...head, reset: true, state_vector: expect.any(String) });
    }
  });

  test("after a reset both sides hold everything, deletions among it", async () => {
    const [former, present] = [await newProject(), await newProject()];
    const replica = new WireReplica(former, PROJECT);
    await replica.sync();
    replica.set("mine", "x");
    replica.set("gone", "y");
    await replica.sync();
    replica.remove("gone");
    await replica.sync();
    const moved = new WireReplica(present, PROJECT);
    Y.applyUpdate(moved.doc, Y.encodeStateAsUpdate(replica.doc));
    moved.position = { epoch: replica.position?.epoch ?? "", seq: 40 };
    expect(await moved.sync()).toBe(2);
    expect(await heldBy(present)).toEqual(moved.memories());
    expect(Object.keys(moved.memories()).sort()).toEqual(["first", "mine"]);
  });

  test("an update that builds on what is lacking changes nothing and is asked for whole", async () => {
    const client = await newProject();
    const replica = new WireReplica(client, PROJECT);
    await replica.sync();
    const { position } = replica;
    replica.set("one", "1");
    const held = Y.encodeStateVector(replica.doc);
    replica.set("two", "2");
    const update = encode(Y.encodeStateAsUpdate(replica.doc, held));
    const answer = await exchangeProject(client, PROJECT, { ...position, update });
    expect(answer).toMatchObject({ ...position, missing: true });
    expect(await heldBy(client)).toEqual({ first: "1" });
    replica.take(answer);
    expect(await replica.sync()).toBe(1);
    expect(await heldBy(client)).toEqual({ first: "1", one: "1", two: "2" });
  });
});

describe("each document for itself", () => {
  test("what fails admission is refused with a reason, and the others are served", async () => {
    const client = await newProject();
    const foreign = new Y.Doc();
    foreign.getMap("settings").set("a", 1);
    const answer = await exchange(client, PROJECT, {
      project: {},
      user: { update: encode(Y.encodeStateAsUpdate(foreign)) },
    });
    expect(answer.user).toEqual({ refused: { message: expect.stringMatching(/./) } });
    expect(answer.project?.update).toBeString();
    expect(await exchange(client, undefined, { user: {} })).toEqual({
      user: { epoch: "", seq: 0 },
    });
  });

  test("a malformed envelope is 400 for all of it and changes nothing", async () => {
    const client = await newProject();
    const replica = new WireReplica(client, PROJECT);
    replica.set("mine", "x");
    const project = { update: encode(Y.encodeStateAsUpdate(replica.doc)) };
    const documents = { project, user: { update: "not base64!" } };
    const answer = await client.post<{ error: { details: unknown[] } }>(
      `/v1/projects/${PROJECT}/sync`,
      { crdt: { encoding: "yjs-v1", documents } },
    );
    expect(answer.status).toBe(400);
    expect(answer.body.error.details).toEqual([
      { path: "/crdt/documents/user/update", message: expect.any(String) },
    ]);
    expect(await heldBy(client)).toEqual({ first: "1" });
  });

  test("a reader may bring what is there already, and nothing new", async () => {
    const writer = clientOf("mst_dev_pro");
    const reader = clientOf("mst_dev_readonly");
    const project = `proj_${crypto.randomUUID()}`;
    const replica = new WireReplica(writer, project);
    await writer.post(`/v1/projects/${project}/sync`, { memories: [{ key: "a", value: "1" }] });
    await replica.sync();
    const held = encode(Y.encodeStateAsUpdate(replica.doc));
    expect(await exchangeProject(reader, project, { update: held })).toHaveProperty("seq", 1);
    replica.set("mine", "x");
    const update = encode(Y.encodeStateAsUpdate(replica.doc));
    expect(await exchangeProject(reader, project, { update })).toEqual({ forbidden: true });
    expect(await exchangeProject(reader, project, {})).toHaveProperty("seq", 1);
  });
});

describe("frames", () => {
  test("a commit is told with the position and the update that an exchange would bring", async () => {
    const client = await newProject();
    const replica = new WireReplica(client, PROJECT);
    await replica.sync();
    using socket = await connectLive(client.url, client.token);
    socket.send(JSON.stringify({ type: "subscribe", project_ids: [PROJECT] }));
    const subscribed = (await socket.next()) as { positions: Record<string, unknown> };
    expect(subscribed.positions[PROJECT]).toEqual(replica.position);
    await setPlainly(client, "second", "2");
    const frame = (await socket.next()) as WireAnswer;
    const fetched = await ask(client, replica.position ?? { epoch: "", seq: 0 });
    expect(positionOf(frame)).toEqual(positionOf(fetched));
    Y.applyUpdate(replica.doc, decode(frame.update ?? ""), "service");
    expect(replica.memories()).toEqual(await heldBy(client));
  });

  test("of several commits each has its frame, in order, without a gap", async () => {
    const client = await newProject();
    using socket = await connectLive(client.url, client.token);
    socket.send(JSON.stringify({ type: "subscribe", project_ids: [PROJECT] }));
    await socket.next();
    for (const key of ["a", "b", "c"]) await setPlainly(client, key, key);
    const seqs = [];
    for (let at = 0; at < 3; at++) seqs.push(((await socket.next()) as WireAnswer).seq);
    expect(seqs).toEqual([2, 3, 4]);
  });
});
