import { expect, test } from "bun:test";
import { memoryIdOf } from "../../shared/ids.ts";
import type { Memory, MemoryList } from "../../shared/wire/memory.ts";
import type { Project } from "../../shared/wire/project.ts";
import { type Client, newAccount } from "../support/service.ts";

async function newProject(client: Client, name = "One"): Promise<string> {
  const { body } = await client.post<Project>("/api/projects", { name });
  return body.id;
}

const contents = ({ memories }: MemoryList) => memories.map(({ content }) => content);

test("a new account has no memories, and asking is no error", async () => {
  const { status, body } = await newAccount().get<MemoryList>("/v1/memories");
  expect(status).toBe(200);
  expect(body).toEqual({ memories: [], total: 0, next_cursor: null });
});

test("a created memory is listed as it was answered", async () => {
  const client = newAccount();
  const project_id = await newProject(client);
  const request = { content: "use tabs", layer: "project", project_id, key: "style" };
  const { status, body } = await client.post<Memory>("/v1/memories", request);
  expect(status).toBe(200);
  expect(body).toMatchObject(request);
  expect(body.id).toBe(memoryIdOf(project_id, "style"));
  expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(body.updated_at).toBe(body.created_at);
  const listed = await client.get<MemoryList>("/v1/memories");
  expect(listed.body).toEqual({ memories: [body], total: 1, next_cursor: null });
});

test("a memory without a key gets a key of its own", async () => {
  const client = newAccount();
  const create = { content: "same", layer: "user" };
  const first = await client.post<Memory>("/v1/memories", create);
  const second = await client.post<Memory>("/v1/memories", create);
  expect(first.body.key).toMatch(/^note-[a-z2-7]{16}$/);
  expect(second.body.id).not.toBe(first.body.id);
});

test("creating under an existing key updates it", async () => {
  const client = newAccount();
  const create = (content: string) =>
    client.post<Memory>("/v1/memories", { content, layer: "global", key: "k" });
  const first = await create("one");
  const second = await create("two");
  expect(second.body).toMatchObject({ id: first.body.id, content: "two" });
  expect(second.body.created_at).toBe(first.body.created_at);
  expect(second.body.updated_at > first.body.updated_at).toBe(true);
  const { body } = await client.get<MemoryList>("/v1/memories");
  expect(contents(body)).toEqual(["two"]);
});

test("a project memory is never guessed into one of several projects", async () => {
  const client = newAccount();
  const create = () => client.post<Memory>("/v1/memories", { content: "x" });
  expect((await create()).status).toBe(400);
  const only = await newProject(client, "One");
  expect((await create()).body.project_id).toBe(only as never);
  await newProject(client, "Two");
  expect((await create()).status).toBe(400);
  const header = { "X-Project-Id": only };
  const named = await client.post<Memory>("/v1/memories", { content: "x" }, header);
  expect(named.body.project_id).toBe(only as never);
});

test("a deleted memory is gone, and deleting it again is 404", async () => {
  const client = newAccount();
  const { body } = await client.post<Memory>("/v1/memories", { content: "x", layer: "user" });
  const deleted = await client.delete(`/v1/memories/${body.id}`);
  expect(deleted.status).toBe(200);
  expect(deleted.body).toEqual({ id: body.id, deleted: true });
  expect((await client.delete(`/v1/memories/${body.id}`)).status).toBe(404);
  expect((await client.get<MemoryList>("/v1/memories")).body.total).toBe(0);
});

test("the list has the current project's memories, the user's and the account's", async () => {
  const client = newAccount();
  const one = await newProject(client, "One");
  const two = await newProject(client, "Two");
  for (const [content, layer, project_id] of [
    ["of one", "project", one],
    ["of two", "project", two],
    ["mine", "user", undefined],
    ["ours", "global", undefined],
  ]) {
    await client.post("/v1/memories", { content, layer, project_id });
  }
  const list = async (query: string, headers = {}) =>
    contents((await client.get<MemoryList>(`/v1/memories?${query}`, headers)).body).sort();
  expect(await list(`project_id=${one}`)).toEqual(["mine", "of one", "ours"]);
  expect(await list("", { "X-Project-Id": two })).toEqual(["mine", "of two", "ours"]);
  expect(await list(`project_id=${one}`, { "X-Project-Id": two })).toContain("of one");
  expect(await list("layer=user")).toEqual(["mine"]);
  expect(await list("layer=global")).toEqual(["ours"]);
  expect(await list(`layer=project&project_id=${two}`)).toEqual(["of two"]);
});

test("pages follow each other without gap or repetition", async () => {
  const client = newAccount();
  for (let index = 0; index < 5; index++) {
    await client.post("/v1/memories", { content: `memory ${index}`, layer: "user" });
  }
  const seen: string[] = [];
  const times: string[] = [];
  let path: string | undefined = "/v1/memories?layer=user&limit=2";
  while (path !== undefined) {
    const { body, headers }: { body: MemoryList; headers: Headers } = await client.get(path);
    expect(body.total).toBe(5);
    seen.push(...contents(body));
    times.push(...body.memories.map(({ created_at }) => created_at));
    path = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
    expect(path === undefined).toBe(body.next_cursor === null);
  }
  expect(times).toEqual(times.toSorted());
  expect(seen.sort()).toEqual([0, 1, 2, 3, 4].map((index) => `memory ${index}`));
});

test("a cursor of another query is 400", async () => {
  const client = newAccount();
  for (const content of ["one", "two", "three"]) {
    await client.post("/v1/memories", { content, layer: "user" });
  }
  const next = async (query: string) => {
    const { body }: { body: MemoryList } = await client.get(`/v1/memories?limit=1${query}`);
    return body.next_cursor;
  };
  const all = await next("");
  const ofUser = await next("&layer=user");
  const statusOf = async (query: string) => (await client.get(`/v1/memories?${query}`)).status;
  expect(await statusOf(`cursor=${all}`)).toBe(200);
  expect(await statusOf(`layer=user&cursor=${ofUser}`)).toBe(200);
  // The limit is the page's, not the list's.
  expect(await statusOf(`layer=user&limit=2&cursor=${ofUser}`)).toBe(200);
  expect(await statusOf(`cursor=${ofUser}`)).toBe(400);
  expect(await statusOf(`layer=user&cursor=${all}`)).toBe(400);
  expect(await statusOf(`layer=global&cursor=${ofUser}`)).toBe(400);
  expect(await statusOf(`layer=user&q=one&cursor=${ofUser}`)).toBe(400);
});

test("a cursor that nobody gave is 400", async () => {
  const client = newAccount();
  for (const cursor of ["", "garbage", "bnVsbA", "%00"]) {
    expect((await client.get(`/v1/memories?cursor=${cursor}`)).status).toBe(400);
  }
});

test("q finds by words", async () => {
  const client = newAccount();
  for (const content of ["tabs not spaces", "deploy on Friday", "spaces in file names"]) {
    await client.post("/v1/memories", { content, layer: "user" });
  }
  const find = async (q: string) => {
    const query = new URLSearchParams({ q });
    return contents((await client.get<MemoryList>(`/v1/memories?${query}`)).body).sort();
  };
  expect(await find("spaces")).toEqual(["spaces in file names", "tabs not spaces"]);
  expect(await find("friday")).toEqual(["deploy on Friday"]);
  expect(await find("nothing")).toEqual([]);
  for (const odd of ['"', "AND", "a* OR (", "-", "NEAR(", "{x}:", "'; --"]) await find(odd);
});

test("an unknown project is 404", async () => {
  const client = newAccount();
  expect((await client.get("/v1/memories?project_id=proj_none")).status).toBe(404);
  expect((await client.get("/v1/memories", { "X-Project-Id": "proj_none" })).status).toBe(404);
  const create = { content: "x", project_id: "proj_none" };
  expect((await client.post("/v1/memories", create)).status).toBe(404);
});

test("accounts never see each other", async () => {
  const [one, other] = [newAccount(), newAccount()];
  const project_id = await newProject(one);
  const { body } = await one.post<Memory>("/v1/memories", { content: "secret", project_id });
  expect((await other.get(`/v1/memories?project_id=${project_id}`)).status).toBe(404);
  expect((await other.get(`/v1/projects/${project_id}`)).status).toBe(404);
  expect((await other.get(`/api/projects/${project_id}`)).status).toBe(404);
  expect((await other.delete(`/v1/memories/${body.id}`)).status).toBe(404);
  expect((await other.post(`/api/projects/${project_id}/sync`, {})).status).toBe(404);
  expect((await one.get<MemoryList>("/v1/memories")).body.total).toBe(1);
});
