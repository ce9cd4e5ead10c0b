import { expect, test } from "bun:test";
import type { ConnectAnswer } from "../../shared/wire/connection.ts";
import type {
  Project,
  ProjectList,
  ProjectWithMemories,
  ProjectWithText,
} from "../../shared/wire/project.ts";
import type { SessionList } from "../../shared/wire/session.ts";
import type { Stats } from "../../shared/wire/stats.ts";
import type { SyncAnswer } from "../../shared/wire/sync.ts";
import { clientOf, newAccount } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

type Created = Project & { created: boolean };

test("a project is made by name, and found again by it", async () => {
  const client = newAccount();
  const first = await client.post<Created>("/api/projects", { name: "One" });
  expect(first.body).toMatchObject({
    name: "One",
    created: true,
    metadata: {},
    memory_count: 0,
    connected_project_ids: [],
    last_synced_at: null,
  });
  const metadata = { language: "Go" };
  const again = await client.post<Created>("/api/projects", { name: "One", metadata });
  expect(again.body).toMatchObject({ id: first.body.id, created: false, metadata });
});

test("a client may make up a project's id, and its name is the id then", async () => {
  const client = newAccount();
  const { body } = await client.post<Created>("/api/projects", { id: "proj_mine" });
  expect(body).toMatchObject({ id: "proj_mine", name: "proj_mine", created: true });
  const renamed = await client.post<Created>("/api/projects", { id: "proj_mine", name: "Mine" });
  expect(renamed.body).toMatchObject({ id: "proj_mine", name: "Mine", created: false });
});

test("a name that several projects have is 400 and lists their ids", async () => {
  const client = newAccount();
  await client.post("/api/projects", { id: "proj_a", name: "Same" });
  await client.post("/api/projects", { id: "proj_b", name: "Same" });
  const { status, body } = await client.post("/api/projects", { name: "Same" });
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain("proj_a");
  expect(JSON.stringify(body)).toContain("proj_b");
});

test("both variants list the same projects, oldest first", async () => {
  const client = newAccount();
  for (const id of ["proj_c", "proj_a", "proj_b"]) await client.post("/api/projects", { id });
  const a = await client.get<ProjectList>("/v1/projects");
  const b = await client.get<ProjectList>("/api/projects");
  expect(a.body).toEqual(b.body);
  const { projects, total } = a.body;
  expect(total).toBe(3);
  expect(projects.map(({ id }) => String(id)).sort()).toEqual(["proj_a", "proj_b", "proj_c"]);
  const times = projects.map(({ created_at }) => created_at);
  expect(times).toEqual(times.toSorted());
  const page = await client.get<ProjectList>("/api/projects?limit=2");
  const rest = await client.get<ProjectList>(`/api/projects?cursor=${page.body.next_cursor}`);
  expect([...page.body.projects, ...rest.body.projects]).toEqual(projects);
});

test("each variant shows one project in its own way", async () => {
  const client = newAccount();
  const claude_md_content = "# One\n\nText.\n";
  await client.post("/api/projects", { id: "proj_a", claude_md_content });
  const memories = [{ key: "k", value: "v" }];
  await client.post("/api/projects/proj_a/sync", { memories });
  const a = await client.get<ProjectWithText>("/v1/projects/proj_a");
  expect(a.body).toMatchObject({ id: "proj_a", claude_md_content, memory_count: 1 });
  expect(a.body).not.toHaveProperty("memories");
  const b = await client.get<ProjectWithMemories>("/api/projects/proj_a");
  expect(b.body).toMatchObject({ claude_md_content, memories, connected_projects: [] });
});

test("a sync merges: it adds, updates, keeps, and never deletes by absence", async () => {
  const client = newAccount();
  await client.post("/api/projects", { id: "proj_a" });
  const sync = (body: object) => client.post<SyncAnswer>("/api/projects/proj_a/sync", body);
  const first = await sync({
    claude_md_content: "text\n",
    memories: [
      { key: "a", value: "1" },
      { key: "b", value: "1" },
    ],
    metadata: { language: "Go", extra: 1 },
  });
  expect(first.body.changes).toEqual({ created: 2, updated: 0, unchanged: 0 });
  const second = await sync({
    memories: [
      { key: "b", value: "2" },
      { key: "c", value: "" },
      { key: "a", value: "1" },
    ],
    metadata: { extra: null, framework: "x" },
  });
  expect(second.body).toMatchObject({
    project_id: "proj_a",
    claude_md_content: "text\n",
    metadata: { language: "Go", framework: "x" },
    changes: { created: 1, updated: 1, unchanged: 1 },
  });
  expect(Object.keys(second.body.metadata)).not.toContain("extra");
  const byKey = [...second.body.memories].sort((one, other) => (one.key < other.key ? -1 : 1));
  expect(byKey).toEqual([
    { key: "a", value: "1" },
    { key: "b", value: "2" },
    { key: "c", value: "" },
  ]);
});

test("equal values change nothing, not even updated_at", async () => {
  const client = newAccount();
  await client.post("/api/projects", { id: "proj_a" });
  const payload = { memories: [{ key: "a", value: "1" }], metadata: { x: [1, { y: 2 }] } };
  await client.post("/api/projects/proj_a/sync", payload);
  const before = await client.get<ProjectWithMemories>("/api/projects/proj_a");
  await client.post("/api/projects/proj_a/sync", payload);
  const after = await client.get<ProjectWithMemories>("/api/projects/proj_a");
  expect(after.body.memories).toEqual(before.body.memories);
  expect(after.body.updated_at).toBe(before.body.updated_at);
});

test("an unknown project is made by a sync of variant A with a body, and by no other", async () => {
  const client = newAccount();
  expect((await client.post("/v1/projects/proj_new/sync")).status).toBe(404);
  expect((await client.post("/api/projects/proj_new/sync", {})).status).toBe(404);
  const memories = [{ key: "a", value: "1" }];
  const made = await client.post<SyncAnswer>("/v1/projects/proj_new/sync", { memories });
  expect(made.body.memories).toEqual(memories);
  const read = await client.post<SyncAnswer>("/v1/projects/proj_new/sync");
  expect(read.body).toMatchObject({ memories, changes: { created: 0, updated: 0 } });
});

test("a refused sync changes nothing at all", async () => {
  const client = newAccount();
  await client.post("/api/projects", { id: "proj_a" });
  const before = (await client.get<Project>("/api/projects/proj_a")).body;
  const good = { key: "good", value: "v" };
  for (const wrong of [
    { memories: [good, good] },
    { memories: [good, { key: "", value: "v" }] },
    { memories: [good], metadata: { "memsync.name": "x" } },
    { memories: [good], claude_md_content: 5 },
    { memories: [good], sessions: [{ id: "x" }] },
  ]) {
    expect((await client.post("/api/projects/proj_a/sync", wrong)).status).toBe(400);
  }
  expect((await client.get<Project>("/api/projects/proj_a")).body).toEqual(before);
});

test("a connection is symmetric, shows the other's memories, and is undone", async () => {
  const client = newAccount();
  for (const id of ["proj_a", "proj_b"]) await client.post("/api/projects", { id });
  const memories = [{ key: "k", value: "of b" }];
  await client.post("/api/projects/proj_b/sync", { memories });
  const ids = { project_id: "proj_a", target_project_id: "proj_b" };
  const first = await client.post<ConnectAnswer>("/api/projects/connect", ids);
  expect(first.body.connection.connected).toBe(true);
  const swapped = { project_id: "proj_b", target_project_id: "proj_a" };
  const again = await client.post<ConnectAnswer>("/api/projects/connect", swapped);
  expect(again.body.connection.created_at).toBe(first.body.connection.created_at);
  const a = await client.get<ProjectWithMemories>("/api/projects/proj_a");
  expect(a.body.connected_projects).toEqual([{ id: "proj_b" as never, name: "proj_b", memories }]);
  const b = await client.get<ProjectWithMemories>("/api/projects/proj_b");
  expect(b.body.connected_project_ids).toEqual(["proj_a" as never]);
  const query = new URLSearchParams(swapped);
  const undone = await client.delete<ConnectAnswer>(`/api/projects/connect?${query}`);
  expect(undone.body.connection.connected).toBe(false);
  const after = await client.get<Project>("/api/projects/proj_a");
  expect(after.body.connected_project_ids).toEqual([]);
});

test("a project is not connected with itself nor with an unknown one", async () => {
  const client = newAccount();
  await client.post("/api/projects", { id: "proj_a" });
  const connect = async (target_project_id: string) =>
    (await client.post("/api/projects/connect", { project_id: "proj_a", target_project_id }))
      .status;
  expect(await connect("proj_a")).toBe(400);
  expect(await connect("proj_b")).toBe(404);
});

test("sessions come with a sync and are listed by their last activity", async () => {
  const client = newAccount();
  const session = (id: string, hour: string) => ({
    id,
    source: "claude-code",
    started_at: "2026-01-01T00:00:00Z",
    last_activity_at: `2026-01-01T${hour}:00:00Z`,
    message_count: 2,
    project_id: "proj_ignored",
  });
  const sessions = [
    session("sess_old", "01"),
    session("sess_new", "03"),
    session("sess_mid", "02"),
  ];
  await client.post("/v1/projects/proj_a/sync", { sessions });
  const { body } = await client.get<SessionList>("/v1/sessions?project_id=proj_a");
  expect(body.sessions.map(({ id }) => String(id))).toEqual(["sess_new", "sess_mid", "sess_old"]);
  expect(body.total).toBe(3);
  const one = await client.get("/v1/sessions/sess_mid");
  expect(one.body).toEqual({
    id: "sess_mid",
    project_id: "proj_a",
    title: null,
    source: "claude-code",
    started_at: "2026-01-01T00:00:00.000Z",
    last_activity_at: "2026-01-01T02:00:00.000Z",
    ended_at: null,
    message_count: 2,
    model: null,
    git_branch: null,
    machine: null,
  });
  expect((await client.get("/v1/sessions/sess_none")).status).toBe(404);
});

test("a project that is deleted is gone with all of it, and is begun anew empty", async () => {
  const client = newAccount();
  for (const id of ["proj_a", "proj_b"]) await client.post("/api/projects", { id, name: id });
  await client.post("/api/projects/proj_a/sync", {
    claude_md_content: "# A\n",
    memories: [{ key: "k", value: "v" }],
    metadata: { language: "Go" },
    sessions: [{ id: "sess_a", started_at: "2026-01-01T00:00:00.000Z" }],
  });
  await client.post("/api/projects/connect", {
    project_id: "proj_a",
    target_project_id: "proj_b",
  });
  const deleted = await client.delete("/api/projects/proj_a");
  expect([deleted.status, deleted.body]).toEqual([200, { id: "proj_a", deleted: true }]);
  expect((await client.delete("/api/projects/proj_a")).status).toBe(404);
  expect((await client.get("/v1/projects/proj_a")).status).toBe(404);
  const { projects, total } = (await client.get<ProjectList>("/api/projects")).body;
  expect([projects.map(({ id }) => String(id)), total]).toEqual([["proj_b"], 1]);
  expect(projects[0]?.connected_project_ids).toEqual([]);
  expect((await client.get<SessionList>("/v1/sessions")).body.total).toBe(0);
  expect((await client.get<Stats>("/api/projects/stats")).body).toMatchObject({
    projects: 1,
    connections: 0,
    memories: { total: 0 },
  });
  const anew = await client.post<Created>("/api/projects", { id: "proj_a" });
  expect(anew.body).toMatchObject({ created: true, metadata: {}, memory_count: 0 });
  const found = await client.get<ProjectWithMemories>("/api/projects/proj_a");
  expect(found.body).toMatchObject({ claude_md_content: "", memories: [] });
});

test("stats count what there is", async () => {
  const client = newAccount();
  await client.post("/v1/projects/proj_a/sync", { memories: [{ key: "a", value: "1" }] });
  await client.post("/v1/memories", { content: "x", layer: "user" });
  await client.post("/v1/memories", { content: "x", layer: "global" });
  const stats = async () => (await client.get<Stats>("/api/projects/stats")).body;
  // Of servers that share a database another than that which was asked counts it a second later.
  await waitFor("the sync to be counted", async () => (await stats()).syncs.total === 1);
  const body = await stats();
  expect(body).toMatchObject({
    plan: "pro",
    projects: 1,
    connections: 0,
    memories: { total: 3, project: 1, user: 1, global: 1 },
    sessions: 0,
    syncs: { total: 1 },
  });
  expect(body.requests.minute.used).toBeGreaterThan(0);
});

test("a read-only token reads, and syncs what changes nothing", async () => {
  const [writer, reader] = [clientOf("mst_dev_pro"), clientOf("mst_dev_readonly")];
  const id = `proj_${crypto.randomUUID()}`;
  const memories = [{ key: "a", value: "1" }];
  await writer.post(`/v1/projects/${id}/sync`, { memories });
  expect((await reader.get(`/api/projects/${id}`)).status).toBe(200);
  expect((await reader.post(`/v1/projects/${id}/sync`)).status).toBe(200);
  expect((await reader.post(`/api/projects/${id}/sync`, { memories })).status).toBe(200);
  const change = { memories: [{ key: "a", value: "2" }] };
  expect((await reader.post(`/api/projects/${id}/sync`, change)).status).toBe(403);
  expect((await reader.post(`/v1/projects/${id}-new/sync`, {})).status).toBe(403);
  const after = await reader.get<ProjectWithMemories>(`/api/projects/${id}`);
  expect(after.body.memories).toMatchObject(memories);
});
