import { expect, test } from "bun:test";
import * as Y from "yjs";
import { clientOf, newAccount } from "../support/service.ts";

interface ErrorBody {
  error: { code: string; details?: { path: string }[] };
}

interface Listed {
  memories: { content: string; key: string }[];
  next_cursor: string | null;
}

const SESSION = {
  id: "sess_alone",
  source: "test",
  started_at: "2026-01-01T10:00:00Z",
  last_activity_at: "2026-01-01T11:00:00Z",
  message_count: 1,
};

function paths({ error }: ErrorBody): string[] {
  return (error.details ?? []).map((detail) => detail.path);
}

test("memories of one sync are listed in the order in which they came", async () => {
  const account = newAccount();
  await account.post("/api/projects", { id: "proj_order" });
  const memories = ["z", "m", "a", "q", "b"].map((key) => ({ key, value: `value of ${key}` }));
  await account.post("/api/projects/proj_order/sync", { memories });
  const { body } = await account.get<Listed>("/v1/memories");
  expect(body.memories.map((memory) => memory.key)).toEqual(["z", "m", "a", "q", "b"]);
  const first = await account.get<Listed>("/v1/memories?limit=2");
  const rest = await account.get<Listed>(`/v1/memories?cursor=${first.body.next_cursor}`);
  expect(rest.body.memories.map((memory) => memory.key)).toEqual(["a", "q", "b"]);
});

test("a cursor goes on in the list that gave it, and in no other", async () => {
  const account = newAccount();
  await account.post("/api/projects", { id: "proj_one" });
  await account.post("/api/projects", { id: "proj_two" });
  const { body } = await account.get<{ next_cursor: string }>("/api/projects?limit=1");
  expect((await account.get(`/api/projects?cursor=${body.next_cursor}`)).status).toBe(200);
  expect((await account.get(`/v1/memories?cursor=${body.next_cursor}`)).status).toBe(400);
  expect((await account.get(`/v1/sessions?cursor=${body.next_cursor}`)).status).toBe(400);
});

test("what is malformed is 400 before what is unknown is 404", async () => {
  const account = newAccount();
  expect((await account.get("/v1/memories?project_id=proj_nope&cursor=abc")).status).toBe(400);
  expect((await account.get("/v1/sessions?project_id=proj_nope&cursor=abc")).status).toBe(400);
});

test("an unknown project_id is 404 even where the layer needs none", async () => {
  const account = newAccount();
  const memory = { content: "x", layer: "user", project_id: "proj_nope" };
  expect((await account.post("/v1/memories", memory)).status).toBe(404);
});

test("every offending place of a body is named, metadata's too", async () => {
  const account = newAccount();
  await account.post("/api/projects", { id: "proj_one" });
  const body = { memories: 5, metadata: { language: 1, "": 2 } };
  const sync = await account.post<ErrorBody>("/api/projects/proj_one/sync", body);
  expect(paths(sync.body).sort()).toEqual(["/memories", "/metadata/", "/metadata/language"]);
  const put = await account.post<ErrorBody>("/api/projects", { metadata: { language: 1 } });
  expect(paths(put.body).sort()).toEqual(["/metadata/language", "/name"]);
});

test("a number that JSON can't give back is refused", async () => {
  const account = newAccount();
  await account.post("/api/projects", { id: "proj_one" });
  const response = await fetch(`${account.url}/api/projects/proj_one/sync`, {
    method: "POST",
    headers: { Authorization: `Bearer ${account.token}` },
    body: '{"metadata":{"x":{"deep":[1e400]}}}',
  });
  expect(response.status).toBe(400);
  expect(paths((await response.json()) as ErrorBody)).toEqual(["/metadata/x/deep/0"]);
});

test("an update of a project does not make it the current one", async () => {
  const account = newAccount();
  for (const id of ["proj_one", "proj_two"]) {
    await account.post("/api/projects", { id });
    await account.post(`/api/projects/${id}/sync`, { memories: [{ key: "k", value: id }] });
  }
  await account.post("/api/projects", { id: "proj_one", name: "renamed" });
  const { body } = await account.get<Listed>("/v1/memories");
  expect(body.memories.map((memory) => memory.content)).toEqual(["proj_two"]);
});

test("sessions may come with a sync of no project", async () => {
  const account = newAccount();
  const crdt = { encoding: "yjs-v1", documents: {} };
  expect((await account.post("/api/sync", { crdt, sessions: [SESSION] })).status).toBe(200);
  const { body } = await account.get(`/v1/sessions/${SESSION.id}`);
  expect(body).toMatchObject({ id: SESSION.id, project_id: null });
});

test("many sessions of one sync are stored, changed and moved like one", async () => {
  const account = newAccount();
  const sessions = Array.from({ length: 150 }, (_, at) => ({ ...SESSION, id: `sess_${at}` }));
  const sync = (project: string, some: readonly object[]) =>
    account.post(`/v1/projects/${project}/sync`, { sessions: some });
  const counted = async () => {
    const { body } = await account.get<{ sessions: (typeof SESSION & { project_id: string })[] }>(
      "/v1/sessions",
    );
    return Map.groupBy(body.sessions, (each) => `${each.project_id} ${each.message_count}`);
  };
  expect((await sync("proj_a", sessions)).status).toBe(200);
  const more = sessions.slice(10, 140).map((session) => ({ ...session, message_count: 2 }));
  expect((await sync("proj_b", [...more, sessions[149] ?? {}])).status).toBe(200);
  const sizes = [...(await counted())].map(([name, each]) => [name, each.length]);
  expect(Object.fromEntries(sizes)).toEqual({ "proj_a 1": 19, "proj_b 2": 130, "proj_b 1": 1 });
  expect((await sync("proj_b", [...more, more[0] ?? {}])).status).toBe(400);
});

test("in an exchange, what a token may not write is turned down by itself", async () => {
  const account = clientOf("mst_dev_pro");
  const reader = clientOf("mst_dev_readonly");
  await account.post("/api/projects", { id: "proj_shared" });
  const ydoc = new Y.Doc();
  ydoc.getText("claude_md").insert(0, "from a reader\n");
  const update = Buffer.from(Y.encodeStateAsUpdate(ydoc)).toString("base64");
  const crdt = { encoding: "yjs-v1", documents: { project: { update }, user: {} } };
  const answer = await reader.post<{ crdt: { documents: object } }>(
    "/api/projects/proj_shared/sync",
    { crdt },
  );
  expect(answer.status).toBe(200);
  expect(answer.body.crdt.documents).toMatchObject({
    project: { forbidden: true },
    user: { seq: expect.any(Number) },
  });
  const project = await account.get<{ claude_md_content: string }>("/v1/projects/proj_shared");
  expect(project.body.claude_md_content).toBe("");
});
