import { expect, test } from "bun:test";
import { invalidAt } from "../../shared/errors.ts";
import {
  createFakeServices,
  MEMORY,
  OTHER_PROJECT,
  PROJECT,
  PROJECT_RECORD,
  SESSION,
} from "../support/fake-services.ts";
import { errorOf, startServer } from "../support/http-server.ts";

const json = (value: unknown) => ({ body: JSON.stringify(value) });
const page = { limit: undefined, cursor: undefined };

test("GET /v1/memories lists what the query asks for", async () => {
  await using server = await startServer();
  const path = "/v1/memories?project_id=proj_a&layer=user&q=caf%C3%A9+au&limit=10&cursor=c";
  const response = await server.send("GET", path, { headers: { "X-Project-Id": "proj_b" } });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ memories: [MEMORY], total: 1, next_cursor: null });
  const query = {
    limit: 10,
    cursor: "c",
    layer: "user",
    q: "café au",
    projectId: "proj_a",
    headerProjectId: "proj_b",
  };
  expect(server.fake.calls).toEqual([["memories.list", query]]);
});

test("GET /v1/memories needs no query", async () => {
  await using server = await startServer();
  await server.send("GET", "/v1/memories?colour=red&q=");
  const none = { layer: undefined, q: undefined, projectId: undefined, headerProjectId: undefined };
  expect(server.fake.calls).toEqual([["memories.list", { ...page, ...none }]]);
});

test("POST /v1/memories answers the memory", async () => {
  await using server = await startServer();
  const response = await server.send("POST", "/v1/memories", {
    ...json({ content: "use tabs", key: "style", colour: "red" }),
    headers: { "X-Project-Id": PROJECT },
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual(MEMORY);
  const create = { content: "use tabs", layer: "project", key: "style" };
  expect(server.fake.calls).toEqual([
    ["memories.create", create, { headerProjectId: PROJECT, once: undefined }],
  ]);
});

test("DELETE /v1/memories/:id says what was deleted", async () => {
  await using server = await startServer();
  const response = await server.send("DELETE", "/v1/memories/mem_a");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ id: "mem_a", deleted: true });
});

test("GET /v1/projects and /api/projects list projects", async () => {
  await using server = await startServer();
  for (const base of ["/v1", "/api"]) {
    const response = await server.send("GET", `${base}/projects?limit=7`);
    const body = { projects: [PROJECT_RECORD], total: 1, next_cursor: null };
    expect(await response.json()).toEqual(body);
  }
  const asked = ["projects.list", { limit: 7, cursor: undefined }];
  expect(server.fake.calls).toEqual([asked, asked]);
});

test("GET /v1/projects/:id is the project with its text", async () => {
  await using server = await startServer();
  const response = await server.send("GET", `/v1/projects/${PROJECT}`);
  expect(await response.json()).toEqual({ ...PROJECT_RECORD, claude_md_content: "# One\n" });
});

test("GET /api/projects/:id brings memories and connected projects", async () => {
  await using server = await startServer();
  const response = await server.send("GET", `/api/projects/${PROJECT}`);
  const { id, created_at, updated_at } = MEMORY;
  const memories = [{ key: "style", value: "use spaces" }];
  expect(await response.json()).toEqual({
    ...PROJECT_RECORD,
    claude_md_content: "# One\n",
    memories: [{ key: "style", value: "use tabs", id, created_at, updated_at }],
    connected_projects: [{ id: OTHER_PROJECT, name: "Two", memories }],
  });
});

test("POST /api/projects answers the project and whether it is new", async () => {
  await using server = await startServer();
  const response = await server.send("POST", "/api/projects", json({ name: "One" }));
  expect(await response.json()).toEqual({ ...PROJECT_RECORD, created: true });
  expect(server.fake.calls).toEqual([["projects.put", { name: "One" }]]);
});

test("a sync with a body makes an unknown project in variant A and not in B", async () => {
  await using server = await startServer();
  const payload = { memories: [{ key: "a", value: "b" }] };
  const response = await server.send("POST", "/v1/projects/proj_a/sync", json(payload));
  await server.send("POST", "/api/projects/proj_a/sync", json(payload));
  expect(await response.json()).toMatchObject({ project_id: PROJECT, changes: { created: 1 } });
  expect(server.fake.calls).toEqual([
    ["sync.apply", "proj_a", { payload, createMissing: true, once: undefined }],
    ["sync.apply", "proj_a", { payload, createMissing: false, once: undefined }],
  ]);
});

test("a sync without a body reads in variant A and is a 400 in B", async () => {
  await using server = await startServer();
  expect((await server.send("POST", "/v1/projects/proj_a/sync")).status).toBe(200);
  expect((await server.send("POST", "/api/projects/proj_a/sync")).status).toBe(400);
  expect(server.fake.calls).toEqual([["sync.read", "proj_a"]]);
});

test("a sync with crdt is a replica exchange", async () => {
  await using server = await startServer();
  const documents = { project: { epoch: "e", seq: 1, update: "AQI=" } };
  const body = json({ crdt: { encoding: "yjs-v1", documents } });
  const response = await server.send("POST", "/v1/projects/proj_a/sync", body);
  expect(await response.json()).toEqual({
    crdt: {
      encoding: "yjs-v1",
      documents: {
        project: { epoch: "e", seq: 7, update: "AQID" },
        user: { forbidden: true },
        global: { refused: { message: "too large" } },
      },
    },
  });
  const asked = { position: { epoch: "e", seq: 1 }, update: new Uint8Array([1, 2]) };
  const request = { documents: { project: asked }, createMissing: true };
  expect(server.fake.calls).toEqual([["sync.exchange", "proj_a", request]]);
});

test("POST /api/sync exchanges user and global alone", async () => {
  await using server = await startServer();
  const envelope = (documents: object) => json({ crdt: { encoding: "yjs-v1", documents } });
  expect((await server.send("POST", "/api/sync", envelope({ user: {} }))).status).toBe(200);
  expect((await server.send("POST", "/api/sync", envelope({ project: {} }))).status).toBe(400);
  expect((await server.send("POST", "/api/sync", json({ memories: [] }))).status).toBe(400);
  const asked = { documents: { user: {} }, createMissing: false };
  expect(server.fake.calls).toEqual([["sync.exchange", null, asked]]);
});

test("POST /api/sync with projects exchanges each by itself, whatever fails", async () => {
  const fake = createFakeServices();
  const { sync } = fake.services;
  const services = {
    ...fake.services,
    sync: {
      ...sync,
      exchange: async (...given: Parameters<typeof sync.exchange>) => {
        if (given[1] === "proj_broken") throw new Error("a bug with a secret");
        return await sync.exchange(...given);
      },
    },
  };
  await using server = await startServer({ services });
  const projects = {
    proj_broken: { documents: {} },
    proj_a: { name: "A", documents: { project: { epoch: "e", seq: 1 } } },
    proj_b: { documents: {} },
  };
  const crdt = { encoding: "yjs-v1", documents: { user: {} }, projects };
  const response = await server.send("POST", "/api/sync", json({ crdt }));
  const answered = (await response.json()) as { crdt: { projects: Record<string, object> } };
  const { proj_broken: broken, ...others } = answered.crdt.projects;
  const request_id = response.headers.get("x-request-id");
  expect(broken).toMatchObject({ error: { code: "internal", request_id } });
  expect(JSON.stringify(broken)).not.toContain("secret");
  expect(server.errors).toMatchObject([{ request_id, error: "a bug with a secret" }]);
  expect(others).toMatchObject({ proj_a: { documents: {} }, proj_b: { documents: {} } });
  const asked = { documents: { project: { position: { epoch: "e", seq: 1 } } } };
  expect(fake.calls).toEqual([
    ["sync.exchange", null, { documents: { user: {} }, createMissing: false }],
    ["sync.exchange", "proj_a", { ...asked, createMissing: true, name: "A" }],
    ["sync.exchange", "proj_b", { documents: {}, createMissing: true, name: undefined }],
  ]);
});

test("/api/projects/connect connects and disconnects", async () => {
  await using server = await startServer();
  const ids = { project_id: PROJECT, target_project_id: OTHER_PROJECT };
  const connected = await server.send("POST", "/api/projects/connect", json(ids));
  expect(await connected.json()).toMatchObject({ connection: { connected: true } });
  const query = new URLSearchParams(ids);
  const undone = await server.send("DELETE", `/api/projects/connect?${query}`);
  expect(await undone.json()).toMatchObject({ connection: { connected: false } });
  expect(server.fake.calls).toEqual([
    ["connections.connect", ids],
    ["connections.disconnect", ids],
  ]);
});

test("stats and connect are never taken for projects", async () => {
  await using server = await startServer();
  const stats = await server.send("GET", "/api/projects/stats");
  expect(await stats.json()).toMatchObject({ plan: "pro" });
  expect((await server.send("GET", "/api/projects/connect")).status).toBe(404);
  expect((await server.send("POST", "/api/projects/stats")).status).toBe(404);
  expect((await server.send("POST", "/api/projects/stats/sync", json({}))).status).toBe(404);
  expect(server.fake.calls).toEqual([["stats.get"]]);
});

test("sessions are listed and read", async () => {
  await using server = await startServer();
  const list = await server.send("GET", "/v1/sessions?project_id=proj_a");
  expect(await list.json()).toEqual({ sessions: [SESSION], total: 1, next_cursor: null });
  const one = await server.send("GET", "/v1/sessions/sess_one");
  expect(await one.json()).toEqual(SESSION);
  expect(server.fake.calls).toEqual([
    ["sessions.list", { ...page, projectId: "proj_a" }],
    ["sessions.get", "sess_one"],
  ]);
});

test("healthz needs no token", async () => {
  await using server = await startServer();
  const response = await server.send("GET", "/healthz", { token: "" });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: "ok" });
});

test.each([
  ["limit=0", "limit"],
  ["limit=", "limit"],
  ["limit=01", "limit"],
  ["limit=1001", "limit"],
  ["limit=-1", "limit"],
  ["limit=1e2", "limit"],
  ["limit=10%20", "limit"],
  ["layer=shared", "layer"],
  ["layer=", "layer"],
  ["layer=user&layer=global", "layer"],
  [`q=${"x".repeat(513)}`, "q"],
  [`q=${"%C3%A9".repeat(257)}`, "q"],
  ["q=%00", "q"],
])("GET /v1/memories?%s is a 400 that names %s", async (query, name) => {
  await using server = await startServer();
  const response = await server.send("GET", `/v1/memories?${query}`);
  expect(response.status).toBe(400);
  expect((await errorOf(response)).details?.map(({ path }) => path)).toEqual([name]);
});

test("everything wrong with a query is reported together", async () => {
  await using server = await startServer();
  const response = await server.send("GET", "/v1/memories?limit=x&layer=y&project_id=z");
  expect((await errorOf(response)).details?.map(({ path }) => path)).toEqual(["limit", "layer"]);
});

test("what the services refuse is passed on", async () => {
  await using server = await startServer();
  server.fake.on("memories.list", () => {
    throw invalidAt("cursor", "the cursor is not one of ours");
  });
  const response = await server.send("GET", "/v1/memories?cursor=garbage");
  expect(response.status).toBe(400);
  expect((await errorOf(response)).details?.map(({ path }) => path)).toEqual(["cursor"]);
});

test("an ill-formed project is an unknown one, wherever it is named", async () => {
  await using server = await startServer();
  const header = { headers: { "X-Project-Id": "nonsense" } };
  const content = { content: "x" };
  const responses = [
    await server.send("GET", "/v1/memories?project_id=nonsense"),
    await server.send("GET", "/v1/memories?project_id="),
    await server.send("GET", "/v1/memories", header),
    await server.send("POST", "/v1/memories", { ...header, ...json(content) }),
    await server.send("POST", "/v1/memories", json({ ...content, project_id: "proj_" })),
    await server.send("GET", "/v1/sessions?project_id=proj_%2F"),
    await server.send("GET", "/v1/projects/nonsense"),
    await server.send("GET", `/v1/projects/proj_${"x".repeat(65)}`),
    await server.send("GET", "/v1/sessions/nonsense"),
    await server.send("DELETE", "/v1/memories/nonsense"),
    await server.send("POST", "/v1/projects/nonsense/sync"),
    await server.send("DELETE", "/api/projects/connect?project_id=a&target_project_id=b"),
  ];
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 404));
  expect(server.fake.calls).toEqual([]);
});
