import { describe, expect, test } from "bun:test";
import * as Y from "yjs";
import { LIMITS } from "../../shared/limits.ts";
import { insertionsAtOnePlace } from "../support/forged-update.ts";
import { type Client, clientOf, newAccount } from "../support/service.ts";
import {
  type Documents,
  encode,
  exchange,
  exchangeProject,
  type WireAnswer,
  WireReplica,
  type WireRequest,
} from "./wire-replica.ts";

interface Detail {
  readonly path: string;
  readonly message: string;
}

interface Part {
  readonly documents?: Documents<WireAnswer>;
  readonly error?: { readonly code: string; readonly details?: readonly Detail[] };
  readonly later?: boolean;
}

interface BatchAnswer {
  readonly documents: Documents<WireAnswer>;
  readonly projects?: Readonly<Record<string, Part>>;
}

/** One call about several projects; each part is sent as it is. */
async function send(
  client: Client,
  projects: unknown,
  documents: Documents<WireRequest> = {},
): Promise<{ readonly status: number; readonly crdt: BatchAnswer }> {
  const body = { crdt: { encoding: "yjs-v1", documents, projects } };
  const { status, body: answer } = await client.post<{ crdt: BatchAnswer }>("/api/sync", body);
  return { status, crdt: answer.crdt };
}

async function batch(client: Client, projects: unknown): Promise<Readonly<Record<string, Part>>> {
  const { status, crdt } = await send(client, projects);
  if (status !== 200 || !crdt.projects) throw new Error(`it is ${status}`);
  return crdt.projects;
}

function part(request: WireRequest) {
  return { documents: { project: request } };
}

/** The first update of a replica that has written one memory. */
function written(client: Client, project: string, value: string): WireRequest {
  const replica = new WireReplica(client, project);
  replica.set("key", value);
  return { update: encode(Y.encodeStateAsUpdate(replica.doc)) };
}

async function heldIn(client: Client, project: string): Promise<Record<string, string>> {
  const replica = new WireReplica(client, project);
  await replica.sync();
  return replica.memories();
}

/** Of many megabytes. */
const LARGE_MS = 60_000;
const MALFORMED = ["x", null, [], {}, { documents: [] }, { documents: { project: 7 } }];

describe("a call about several projects", () => {
  test("each is answered as by a call of its own", async () => {
    const client = newAccount();
    const ids = ["proj_one", "proj_two", "proj_three"];
    const sent = ids.map((id) => [id, part(written(client, id, id))]);
    const first = await batch(client, Object.fromEntries(sent));
    expect(Object.keys(first)).toEqual(ids);
    for (const id of ids) {
      const served = first[id]?.documents?.project;
      expect(served).toEqual(await exchangeProject(client, id, positionOf(served)));
      expect(await heldIn(client, id)).toEqual({ key: id });
    }
    const asked = ids.map((id) => [id, part(positionOf(first[id]?.documents?.project))]);
    const again = await batch(client, Object.fromEntries(asked));
    expect(again).toEqual(first);
  });

  test("an unknown one is made, by its name if that comes along", async () => {
    const client = newAccount();
    await batch(client, { proj_named: { name: "shop", documents: {} }, proj_other: part({}) });
    const { body } = await client.get<{ projects: { id: string; name: string }[] }>(
      "/api/projects",
    );
    const named = Object.fromEntries(body.projects.map(({ id, name }) => [id, name]));
    expect(named).toEqual({ proj_named: "shop", proj_other: "proj_other" });
    await batch(client, { proj_named: { name: "another", documents: {} } });
    const known = await client.get<{ name: string }>("/api/projects/proj_named");
    expect(known.body.name).toBe("shop");
  });

  test("what is wrong with one is its own alone, and the others are written", async () => {
    const client = newAccount();
    for (const [at, malformed] of MALFORMED.entries()) {
      const id = `proj_good_${at}`;
      const answers = await batch(client, {
        proj_bad: malformed,
        [id]: part(written(client, id, "kept")),
        "no id": part({}),
        proj_base64: part({ update: "not base64!" }),
        proj_vector: part({ state_vector: "AQ==" }),
        proj_refused: part({ update: "AAECAw==" }),
      });
      expect(answers.proj_bad?.error).toMatchObject({ code: "invalid_request" });
      expect(answers.proj_bad?.error?.details?.[0]?.path).toStartWith("/crdt/projects/proj_bad");
      expect(answers["no id"]?.error).toMatchObject({ code: "not_found" });
      const places = ["base64", "vector"].map((name) => answers[`proj_${name}`]?.error?.details);
      expect(places).toEqual([
        [
          {
            path: "/crdt/projects/proj_base64/documents/project/update",
            message: expect.anything(),
          },
        ],
        [
          {
            path: "/crdt/projects/proj_vector/documents/project/state_vector",
            message: expect.anything(),
          },
        ],
      ]);
      expect(answers.proj_refused?.documents?.project).toHaveProperty("refused");
      expect(answers[id]?.documents?.project).toHaveProperty("seq", 1);
      expect(await heldIn(client, id)).toEqual({ key: "kept" });
    }
  });

  test("parts that are named like an object's own fields are parts like any other", async () => {
    const client = newAccount();
    const text =
      '{"crdt":{"encoding":"yjs-v1","documents":{},"projects":' +
      '{"__proto__":{"documents":{}},"constructor":{"documents":{}}}}}';
    const answer = await fetch(`${client.url}/api/sync`, {
      method: "POST",
      headers: { authorization: `Bearer ${client.token}` },
      body: text,
    });
    expect(answer.status).toBe(200);
    const answered = await answer.text();
    expect(answered).toContain('"__proto__":{"error":{"code":"not_found"');
    expect(answered).toContain('"constructor":{"error":{"code":"not_found"');
  });

  test("an envelope that is malformed, or names too many, changes nothing", async () => {
    const client = newAccount();
    const many = Array.from({ length: LIMITS.projectsPerExchange + 1 }, (_, at) => {
      return [`proj_${at}`, part({})];
    });
    for (const projects of [Object.fromEntries(many), [], "x", 7]) {
      expect((await send(client, projects)).status).toBe(400);
    }
    const { body } = await client.get<{ total: number }>("/api/projects");
    expect(body.total).toBe(0);
    expect(await send(client, null)).toMatchObject({ status: 200, crdt: { documents: {} } });
    expect(Object.keys(await batch(client, Object.fromEntries(many.slice(1))))).toHaveLength(50);
  });

  test("`user` and `global` go along", async () => {
    const client = newAccount();
    const replica = new WireReplica(client, "user");
    replica.set("mine", "x");
    const user = { update: encode(Y.encodeStateAsUpdate(replica.doc)) };
    const { crdt } = await send(client, { proj_beside: part({}) }, { user, global: {} });
    expect(crdt.documents).toEqual({
      user: { epoch: expect.any(String), seq: 1 },
      global: { epoch: "", seq: 0 },
    });
    expect(crdt.projects?.proj_beside?.documents?.project).toHaveProperty("seq", 0);
    expect(await exchange(client, undefined, { user: {} })).toHaveProperty("user.seq", 1);
  });

  test("a reader brings nothing new and makes nothing, one project like another", async () => {
    const writer = clientOf("mst_dev_pro");
    const reader = clientOf("mst_dev_readonly");
    const [known, unknown] = [`proj_${crypto.randomUUID()}`, `proj_${crypto.randomUUID()}`];
    await batch(writer, { [known]: part({}) });
    const answers = await batch(reader, {
      [unknown]: part({}),
      [known]: part(written(reader, known, "new")),
    });
    expect(answers[unknown]?.error).toMatchObject({ code: "not_found" });
    expect(answers[known]?.documents?.project).toEqual({ forbidden: true });
    expect(await heldIn(writer, known)).toEqual({});
  });

  test(
    "what does not go into the answer is put off, and comes by the next call",
    async () => {
      const client = newAccount();
      const ids = ["proj_large_1", "proj_large_2", "proj_large_3", "proj_small"];
      const value = "x".repeat(LIMITS.memoryValueBytes);
      const memories = Array.from({ length: 180 }, (_, at) => ({ key: `key ${at}`, value }));
      for (const id of ids.slice(0, 3)) await client.post(`/v1/projects/${id}/sync`, { memories });
      let left = ids;
      const calls: string[][] = [];
      while (left.length > 0) {
        const answers = await batch(client, Object.fromEntries(left.map((id) => [id, part({})])));
        const later = left.filter((id) => answers[id]?.later);
        calls.push(left.filter((id) => answers[id]?.documents));
        expect(later.length).toBeLessThan(left.length);
        left = later;
      }
      expect(calls).toEqual([ids.slice(0, 2), ids.slice(2)]);
    },
    LARGE_MS,
  );

  test("what comes after a long search for places is put off, and served by the next call", async () => {
    const client = newAccount();
    const ids = ["proj_search_1", "proj_search_2", "proj_search_3"];
    const sent = (parts: readonly string[], firstClient: number) => {
      const update = encode(insertionsAtOnePlace(2000, firstClient));
      return batch(client, Object.fromEntries(parts.map((id) => [id, part({ update })])));
    };
    const before = await sent(ids, 1000);
    expect(ids.map((id) => before[id]?.documents?.project?.seq)).toEqual([1, 1, 1]);
    const answers = await sent(ids, 5_000_000);
    expect(answers.proj_search_1?.documents?.project).toHaveProperty("refused");
    expect([answers.proj_search_2, answers.proj_search_3]).toEqual([
      { later: true },
      { later: true },
    ]);
    const honest = part(written(client, "proj_search_2", "x"));
    const next = await batch(client, { proj_search_2: honest });
    expect(next.proj_search_2?.documents?.project).toMatchObject({ seq: 2 });
  });
});

function positionOf(answer: WireAnswer | undefined): { epoch: string; seq: number } {
  return { epoch: answer?.epoch ?? "", seq: answer?.seq ?? 0 };
}
