import { expect, test } from "bun:test";
import { createClient, MemsyncError } from "../../client/client.ts";
import { OPERATIONS } from "../../server/openapi/document.ts";
import { newAccount } from "../support/service.ts";

function newClient(options: { projectId?: string } = {}) {
  const { url, token } = newAccount();
  return createClient({ url: `${url}/`, token, ...options });
}

test("there is a method for every operation of both variants, but for the socket", () => {
  const { v1, api } = newClient();
  const variants: Readonly<Record<string, object>> = { v1, api };
  const missing = OPERATIONS.flatMap(({ id }) => {
    const [, variant = "", first = "", rest = ""] = /^(v1|api)([A-Z])(.*)$/.exec(id) ?? [];
    const method = `${first.toLowerCase()}${rest}`;
    return variant === "" || method in (variants[variant] ?? {}) ? [] : [id];
  });
  expect(missing).toEqual(["apiLive"]);
});

test("variant A's calls do what they say", async () => {
  const { v1, health } = newClient();
  expect(await health()).toEqual({ status: "ok" });
  const synced = await v1.syncProject("proj_a", {
    claude_md_content: "# A\n",
    memories: [{ key: "build", value: "make" }],
    metadata: { language: "Go" },
    sessions: [
      {
        id: "sess_a",
        source: "editor",
        started_at: "2026-01-01T00:00:00Z",
        last_activity_at: "2026-01-01T01:00:00Z",
        message_count: 2,
      },
    ],
  });
  expect(synced.changes).toEqual({ created: 1, updated: 0, unchanged: 0 });
  expect((await v1.syncProject("proj_a")).memories).toEqual([{ key: "build", value: "make" }]);
  expect((await v1.getProject("proj_a")).claude_md_content).toBe("# A\n");
  expect((await v1.listProjects()).total).toBe(1);
  expect((await v1.getSession("sess_a")).message_count).toBe(2);
  expect((await v1.listSessions({ project_id: "proj_a" })).total).toBe(1);
  const memory = await v1.createMemory({ content: "tabs", project_id: "proj_a" });
  expect(memory.key).toMatch(/^note-[a-z2-7]{16}$/);
  expect((await v1.listMemories({ q: "tabs" })).memories).toEqual([memory]);
  expect(await v1.deleteMemory(memory.id)).toEqual({ id: memory.id, deleted: true });
});

test("variant B's calls do what they say", async () => {
  const { api } = newClient();
  expect(await api.putProject({ name: "A" })).toMatchObject({ name: "A", created: true });
  await api.putProject({ id: "proj_b", metadata: { x: [1, { y: null }] } });
  const { projects } = await api.listProjects();
  const [a, b] = projects.map(({ id }) => id) as [string, string];
  await api.syncProject(a, { memories: [{ key: "k", value: "v" }], metadata: { gone: null } });
  const pair = { project_id: a, target_project_id: b };
  expect((await api.connectProjects(pair)).connection.connected).toBe(true);
  const [connected] = (await api.getProject(b)).connected_projects;
  expect(connected?.memories).toEqual([{ key: "k", value: "v" }]);
  expect((await api.disconnectProjects(pair)).connection.connected).toBe(false);
  expect(await api.getStats()).toMatchObject({ projects: 2, memories: { total: 1 } });
  const documents = { project: {}, user: {} };
  const asked = await api.exchangeProject(a, { crdt: { encoding: "yjs-v1", documents } });
  expect(asked.crdt.documents.project?.update).toBeString();
  const own = { crdt: { encoding: "yjs-v1", documents: { user: {} } } } as const;
  expect((await api.syncAccount(own)).crdt.documents.user).toEqual({ epoch: "", seq: 0 });
});

test("iterators go through all pages, and stop when told", async () => {
  const { v1, api } = newClient();
  const memories = ["a", "b", "c", "d", "e"].map((key) => ({ key, value: key }));
  await v1.syncProject("proj_a", { memories });
  await v1.syncProject("proj_b", {});
  const seen: string[] = [];
  for await (const { key } of v1.memories({ project_id: "proj_a", limit: 2 })) seen.push(key);
  expect(seen).toEqual(["a", "b", "c", "d", "e"]);
  for await (const { key } of v1.memories({ project_id: "proj_a", limit: 2 })) {
    expect(key).toBe("a");
    break;
  }
  for (const projects of [v1.projects({ limit: 1 }), api.projects({ limit: 1 })]) {
    const ids: string[] = [];
    for await (const { id } of projects) ids.push(id);
    expect(ids).toEqual(["proj_a", "proj_b"]);
  }
  expect(await v1.sessions().next()).toEqual({ done: true, value: undefined });
});

test("the client's project is the current one where a call names none", async () => {
  const { v1 } = newClient({ projectId: "proj_b" });
  await v1.syncProject("proj_b", { memories: [{ key: "b", value: "b" }] });
  await v1.syncProject("proj_a", { memories: [{ key: "a", value: "a" }] });
  expect((await v1.listMemories()).memories.map(({ key }) => key)).toEqual(["b"]);
  expect((await v1.createMemory({ content: "x" })).project_id).toBe("proj_b");
});

test("ids are put into a path as they are, and go nowhere else", async () => {
  const { api } = newClient();
  const crdt = { encoding: "yjs-v1", documents: {} } as const;
  for (const id of ["../projects", "proj_a?x", "", "%2e%2e", ".", ".."]) {
    const call = api.exchangeProject(id, { crdt });
    const failure: unknown = await call.catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(MemsyncError);
    expect(failure).toMatchObject({ code: "not_found", status: 404 });
  }
});

test("a url that is none is refused at once", () => {
  for (const url of ["nonsense", "ftp://example.org", ""]) {
    expect(() => createClient({ url, token: "mst_x" })).toThrow(TypeError);
  }
});

/** A client of a service that gives these answers in turn, and what it was asked. */
function clientOf(answers: readonly (() => Response)[], options = {}) {
  const asked: string[] = [];
  const client = createClient({
    url: "http://127.0.0.1:1",
    token: "mst_dev_pro",
    fetch: (async (url: string) => {
      asked.push(url);
      return (answers[asked.length - 1] ?? (() => Response.json({})))();
    }) as unknown as typeof fetch,
    ...options,
  });
  return { ...client, asked };
}

const thrownBy = async (call: () => unknown): Promise<Error> => {
  try {
    await call();
  } catch (thrown) {
    if (thrown instanceof Error) return thrown;
  }
  throw new Error("it did not fail");
};

test("what can never be sent is refused as what it is, without an attempt", async () => {
  const missing = undefined as unknown as string;
  for (const [wrong, said] of [
    [{ token: missing }, "token is missing"],
    [{ headers: { "X-A": "hunter2\nb" } }, 'headers: "X-A" is no'],
    [{ headers: { "X A": "a" } }, 'headers: "X A" is no'],
  ] as const) {
    const thrown = await thrownBy(() => clientOf([], wrong));
    expect([thrown.name, thrown.message]).toEqual(["TypeError", expect.stringContaining(said)]);
    expect(thrown.message).not.toContain("hunter2");
  }
  const { api, asked } = clientOf([]);
  const metadata: Record<string, unknown> = {};
  metadata.self = metadata;
  const thrown = await thrownBy(() => api.syncProject("proj_a", { metadata } as never));
  expect([thrown.name, asked]).toEqual(["TypeError", []]);
});

test("an answer from elsewhere is told in part, without a token", async () => {
  const html = () => new Response("<html>Blocked: Bearer mst_dev_pro</html>", { status: 403 });
  const { message } = await thrownBy(() => clientOf([html]).v1.listMemories());
  expect(message).toContain("<html>Blocked: Bearer mst_…</html>");
  const unknown = () =>
    Response.json({ error: { code: "not_found", message: "no such path" } }, { status: 404 });
  const url = "http://127.0.0.1:1/v1/";
  const hinted = await thrownBy(() => clientOf([unknown], { url }).v1.listMemories());
  expect(hinted.message).toBe("no such path: the url should probably end before /v1");
});

test("what onAttempt rejects with ends the call, and an aborted request reaches it", async () => {
  const reason = new Error("the hook's");
  const onAttempt = async () => {
    throw reason;
  };
  expect(await thrownBy(() => clientOf([], { onAttempt }).v1.listMemories())).toBe(reason);
  const codes: unknown[] = [];
  const controller = new AbortController();
  const leaving = () => {
    controller.abort(reason);
    throw reason;
  };
  const client = clientOf([leaving], {
    onAttempt: ({ code, status }: { code: unknown; status: number }) =>
      void codes.push(code, status),
  });
  const call = () => client.v1.listMemories({}, { signal: controller.signal });
  expect(await thrownBy(call)).toBe(reason);
  expect(codes).toEqual(["aborted", 0]);
});
