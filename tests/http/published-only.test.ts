import { expect, test } from "bun:test";
import { type Answer, type Client, newPublishedAccount } from "../support/service.ts";

interface Identified {
  readonly id: string;
}

interface Listed {
  readonly memories: readonly { readonly id: string; readonly content: string }[];
  readonly total: number;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const PAYLOAD = {
  claude_md_content: "# Shop\r\n",
  memories: [{ key: "build", value: "npm run build" }],
  metadata: { language: "TypeScript" },
};

/** What an answer says beside its body; HTTP's own headers left out. */
function headersOf({ headers }: Answer<unknown>): string[] {
  const own = /^(date|connection|keep-alive|content-length|transfer-encoding)$/;
  return [...headers.keys()].filter((name) => !own.test(name)).sort();
}

async function createProject(client: Client, id = "proj_shop"): Promise<void> {
  const { status, body } = await client.post("/api/projects", { id, name: "Shop" });
  expect([status, body]).toEqual([200, { id, name: "Shop" }]);
}

test("a memory has the four published fields, created and listed", async () => {
  const client = newPublishedAccount();
  const { status, body } = await client.post("/v1/memories", { content: "tabs", layer: "user" });
  const memory = {
    id: expect.stringMatching(/^mem_[a-z2-7]{26}$/),
    content: "tabs",
    layer: "user",
    created_at: expect.stringMatching(TIME),
  };
  expect([status, body]).toEqual([200, memory]);
  const listed = await client.get("/v1/memories");
  expect([listed.status, listed.body]).toEqual([200, { memories: [body], total: 1 }]);
});

test("`key` is not looked at, so each memory is one more", async () => {
  const client = newPublishedAccount();
  for (const key of ["same", "same", 5, "", null]) {
    const create = { content: "text", layer: "global", key };
    expect((await client.post("/v1/memories", create)).status).toBe(200);
  }
  expect((await client.get<Listed>("/v1/memories")).body.total).toBe(5);
});

test("a project memory goes where project_id says, or to the only project", async () => {
  const client = newPublishedAccount();
  const create = (more: object, headers = {}) =>
    client.post<Identified>(
      "/v1/memories",
      { content: "text", layer: "project", ...more },
      headers,
    );
  expect((await create({})).status).toBe(400);
  await createProject(client, "proj_one");
  expect((await create({})).status).toBe(200);
  await createProject(client, "proj_two");
  expect((await create({}, { "X-Project-Id": "proj_one" })).status).toBe(400);
  expect((await create({ project_id: "proj_none" })).status).toBe(404);
  const { status, body } = await create({ project_id: "proj_two" });
  expect(status).toBe(200);
  const two = await client.get<Listed>("/api/projects/proj_two");
  expect(two.body.memories.map(({ id }) => id)).toEqual([body.id]);
});

test("no parameter and no header changes what the list of memories holds", async () => {
  const client = newPublishedAccount();
  await createProject(client, "proj_one");
  await createProject(client, "proj_two");
  for (const project_id of ["proj_one", "proj_two"]) {
    await client.post("/v1/memories", { content: project_id, project_id });
  }
  await client.post("/v1/memories", { content: "mine", layer: "user" });
  const contents = ({ body }: Answer<Listed>) => body.memories.map(({ content }) => content).sort();
  // The current project is the one that the token made last.
  const whole = await client.get<Listed>("/v1/memories");
  expect(contents(whole)).toEqual(["mine", "proj_two"]);
  for (const query of [
    "project_id=proj_one",
    "project_id=proj_none",
    "layer=user",
    "layer=nonsense",
    "q=mine",
    "limit=1",
    "limit=0&limit=x",
    "cursor=garbage",
  ]) {
    const asked = await client.get<Listed>(`/v1/memories?${query}`);
    expect([query, asked.status, asked.body]).toEqual([query, 200, whole.body]);
  }
  const headed = await client.get<Listed>("/v1/memories", { "X-Project-Id": "proj_one" });
  expect(headed.body).toEqual(whole.body);
});

test("a memory is deleted once", async () => {
  const client = newPublishedAccount();
  const create = { content: "text", layer: "user" };
  const { id } = (await client.post<Identified>("/v1/memories", create)).body;
  const deleted = await client.delete(`/v1/memories/${id}`);
  expect([deleted.status, deleted.body]).toEqual([200, { id, deleted: true }] as unknown[]);
  expect((await client.delete(`/v1/memories/${id}`)).status).toBe(404);
  expect((await client.delete("/v1/memories/nonsense")).status).toBe(404);
  expect((await client.get("/v1/memories")).body).toEqual({ memories: [], total: 0 });
});

for (const base of ["/v1", "/api"]) {
  test(`${base}/projects lists ids and names, whatever the page asked for`, async () => {
    const client = newPublishedAccount();
    expect((await client.get(`${base}/projects`)).body).toEqual({ projects: [] });
    await createProject(client, "proj_one");
    await createProject(client, "proj_two");
    const projects = ["proj_one", "proj_two"].map((id) => ({ id, name: "Shop" }));
    const { status, body } = await client.get(`${base}/projects?limit=1&cursor=garbage`);
    expect([status, body]).toEqual([200, { projects }]);
  });

  test(`${base}/projects/:id/sync takes the published payload and answers {}`, async () => {
    const client = newPublishedAccount();
    await createProject(client);
    const { status, body } = await client.post(`${base}/projects/proj_shop/sync`, PAYLOAD);
    expect([status, body]).toEqual([200, {}]);
    expect((await client.get("/api/projects/proj_shop")).body).toEqual({
      id: "proj_shop",
      name: "Shop",
      ...PAYLOAD,
      memories: [{ ...PAYLOAD.memories[0], id: expect.stringMatching(/^mem_/) }],
    });
  });

  test(`${base}/projects/:id/sync ignores what is unpublished, its type included`, async () => {
    const client = newPublishedAccount();
    await createProject(client);
    await client.post(`${base}/projects/proj_shop/sync`, PAYLOAD);
    const sessions = [{ id: "sess_one", source: "test" }];
    for (const body of [
      { crdt: { encoding: "yjs-v1", documents: { project: {} } } },
      { crdt: 5, sessions },
      { ...PAYLOAD, crdt: { encoding: "yjs-v1", documents: {} }, sessions: "none" },
    ]) {
      const synced = await client.post(`${base}/projects/proj_shop/sync`, body);
      expect([synced.status, synced.body]).toEqual([200, {}]);
    }
    expect((await client.get("/v1/sessions")).body).toEqual({ sessions: [] });
    const { body } = await client.get<typeof PAYLOAD>("/api/projects/proj_shop");
    expect(body.claude_md_content).toBe(PAYLOAD.claude_md_content);
  });

  test(`${base}/projects/:id/sync refuses a payload of wrong types, and all of it`, async () => {
    const client = newPublishedAccount();
    await createProject(client);
    for (const body of [
      [],
      null,
      {
        memories: [
          { key: "good", value: "x" },
          { key: "bad", value: 5 },
        ],
      },
      { claude_md_content: 5, memories: PAYLOAD.memories },
      { metadata: { language: 5 }, memories: PAYLOAD.memories },
    ]) {
      expect((await client.post(`${base}/projects/proj_shop/sync`, body)).status).toBe(400);
    }
    const { body } = await client.get<Listed>("/api/projects/proj_shop");
    expect(body.memories).toEqual([]);
  });
}

test("a sync of an unknown project makes it in variant A and is 404 in variant B", async () => {
  const client = newPublishedAccount();
  expect((await client.post("/api/projects/proj_shop/sync", PAYLOAD)).status).toBe(404);
  expect((await client.post("/v1/projects/proj_shop/sync")).status).toBe(404);
  expect((await client.post("/v1/projects/proj_shop/sync", {})).body).toEqual({});
  const { status, body } = await client.get("/v1/projects/proj_shop");
  expect([status, body]).toEqual([200, { id: "proj_shop", name: "proj_shop" }]);
});

test("a sync without a body reads in variant A and is 400 in variant B", async () => {
  const client = newPublishedAccount();
  await createProject(client);
  const read = await client.post("/v1/projects/proj_shop/sync");
  expect([read.status, read.body]).toEqual([200, {}]);
  expect((await client.post("/api/projects/proj_shop/sync")).status).toBe(400);
});

test("a project is its id and name in variant A, and comes with its memories in B", async () => {
  const client = newPublishedAccount();
  const put = await client.post("/api/projects", { id: "proj_shop", ...PAYLOAD, memories: [] });
  expect(put.body).toEqual({ id: "proj_shop", name: "proj_shop" });
  expect((await client.get("/v1/projects/proj_shop")).body).toEqual(put.body);
  expect((await client.get("/api/projects/proj_shop")).body).toEqual({
    id: "proj_shop",
    name: "proj_shop",
    claude_md_content: PAYLOAD.claude_md_content,
    metadata: PAYLOAD.metadata,
    memories: [],
  });
  for (const path of ["/v1/projects/proj_none", "/api/projects/proj_none"]) {
    expect((await client.get(path)).status).toBe(404);
  }
});

test("connecting answers {}, adds nothing to the project, and can't be undone", async () => {
  const client = newPublishedAccount();
  await createProject(client, "proj_one");
  await createProject(client, "proj_two");
  const before = await client.get("/api/projects/proj_one");
  const ids = { project_id: "proj_one", target_project_id: "proj_two" };
  const connected = await client.post("/api/projects/connect", ids);
  expect([connected.status, connected.body]).toEqual([200, {}]);
  expect((await client.get("/api/projects/proj_one")).body).toEqual(before.body);
  const same = { project_id: "proj_one", target_project_id: "proj_one" };
  expect((await client.post("/api/projects/connect", same)).status).toBe(400);
  const query = new URLSearchParams(ids);
  expect((await client.delete(`/api/projects/connect?${query}`)).status).toBe(404);
});

test("statistics are given, and no project is called so", async () => {
  const client = newPublishedAccount();
  await createProject(client);
  const { status, body } = await client.get("/api/projects/stats");
  expect([status, body]).toMatchObject([200, { projects: 1, memories: { total: 0 } }]);
});

test("no session comes in, and an unknown one is 404", async () => {
  const client = newPublishedAccount();
  const { status, body } = await client.get("/v1/sessions?project_id=proj_none&limit=x");
  expect([status, body]).toEqual([200, { sessions: [] }]);
  expect((await client.get("/v1/sessions/sess_none")).status).toBe(404);
});

test("what is not published is 401 without a token and 404 with one", async () => {
  const client = newPublishedAccount();
  for (const [method, path] of [
    ["GET", "/healthz"],
    ["GET", "/readyz"],
    ["GET", "/metrics"],
    ["GET", "/openapi.json"],
    ["GET", "/docs"],
    ["GET", "/"],
    ["GET", "/api/live"],
    ["POST", "/api/sync"],
    ["DELETE", "/api/projects/connect"],
    ["PUT", "/v1/memories"],
    ["POST", "/v1/projects"],
    ["GET", "/api/memories"],
  ] as const) {
    const headers = { Authorization: `Bearer ${client.token}` };
    const known = await fetch(client.url + path, { method, headers });
    const unknown = await fetch(client.url + path, { method });
    expect([path, known.status, unknown.status]).toEqual([path, 404, 401]);
    expect(await known.json()).toMatchObject({ error: { code: "not_found" } });
  }
});

test("a handshake for the live socket is 404", async () => {
  const client = newPublishedAccount();
  const headers = {
    Authorization: `Bearer ${client.token}`,
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  const response = await fetch(`${client.url}/api/live`, { headers });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { code: "not_found" } });
});

test("answers carry no header of an extension", async () => {
  const client = newPublishedAccount();
  await createProject(client);
  const plain = ["content-type", "x-memsync-emulator"];
  for (const path of ["/v1/memories", "/api/projects", "/api/projects/proj_shop", "/v1/none"]) {
    const answer = await client.get(path, { "If-None-Match": "*" });
    expect([path, answer.status === 304, headersOf(answer)]).toEqual([path, false, plain]);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  }
  expect(headersOf(await client.post("/v1/memories", "{"))).toEqual(plain);
  const refused = await client.get("/v1/memories", { Authorization: "Bearer nobody" });
  expect(refused.status).toBe(401);
  expect(headersOf(refused)).toEqual([plain[0], "www-authenticate", plain[1]] as string[]);
});
