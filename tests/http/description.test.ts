import { expect, test } from "bun:test";
import type { OpenApiDocument } from "../../server/openapi/document.ts";
import { connectLive } from "../support/live-client.ts";
import { type Described, OpenApiContract } from "../support/openapi-contract.ts";
import { newAccount } from "../support/service.ts";

const { url } = newAccount();
const served = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
const contract = new OpenApiContract(served);
const described = new Map(contract.operations().map((each) => [each.operation.operationId, each]));

/** A request of an operation; `body` names one of its examples, or is one itself. */
interface Call {
  readonly id: string;
  readonly status?: number;
  readonly token?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
}

const WIDGET = { id: "proj_widget" };
const SHOP = { id: "proj_shop" };
const MEMORY = { id: "mem_u6ykwnieueldi33viiaqvs22vd" };
const BOTH = { project_id: WIDGET.id, target_project_id: SHOP.id };
const NOWHERE = { id: "proj_nowhere" };
const NO_DOCUMENTS = { encoding: "yjs-v1", documents: {} };

/** Every operation with each of its examples, in an order in which they succeed. */
const STORY: readonly Call[] = [
  { id: "apiPutProject", body: "byId" },
  { id: "apiPutProject", body: "byName" },
  { id: "v1CreateMemory", body: "project" },
  { id: "v1CreateMemory", body: "user", headers: { "Idempotency-Key": "one" } },
  { id: "v1ListMemories" },
  { id: "v1ListMemories", query: { limit: "1", project_id: WIDGET.id } },
  { id: "v1ListMemories", query: { q: "build", layer: "project" } },
  { id: "v1SyncProject", params: SHOP, body: "plain" },
  { id: "v1SyncProject", params: SHOP },
  { id: "v1SyncProject", params: SHOP, body: "firstContact" },
  { id: "v1SyncProject", params: SHOP, body: "exchange" },
  { id: "v1SyncProject", params: SHOP, body: "session" },
  { id: "apiSyncProject", params: SHOP, body: "plain" },
  { id: "apiSyncProject", params: SHOP, body: "session" },
  { id: "apiSyncProject", params: SHOP, body: "firstContact" },
  { id: "apiSyncProject", params: SHOP, body: "exchange" },
  { id: "apiSyncAccount", body: "both" },
  { id: "apiSyncAccount", body: "projects" },
  { id: "apiConnectProjects", body: "two" },
  { id: "apiListProjects", query: { limit: "1" } },
  { id: "v1ListProjects" },
  { id: "apiGetProject", params: WIDGET },
  { id: "v1GetProject", params: WIDGET },
  { id: "v1ListSessions", query: { project_id: SHOP.id } },
  { id: "v1GetSession", params: { id: "sess_7f3a" } },
  { id: "apiGetStats" },
  { id: "apiGetAccount" },
  { id: "apiDisconnectProjects", query: BOTH },
  { id: "v1DeleteMemory", params: MEMORY },
  { id: "apiDeleteProject", params: SHOP },
  { id: "serviceHealth" },
  { id: "serviceReady" },
  { id: "serviceMetrics" },
  { id: "serviceDescription" },
  { id: "serviceDocs" },
];

/** Requests that are refused, each operation that can be in each way that is its own. */
const REFUSED: readonly Call[] = [
  { id: "v1ListMemories", status: 400, query: { limit: "0" } },
  { id: "v1ListMemories", status: 404, query: { project_id: "proj_nowhere" } },
  { id: "v1CreateMemory", status: 400, body: { content: "", layer: "team" } },
  { id: "v1CreateMemory", status: 404, body: { content: "x", project_id: "proj_nowhere" } },
  { id: "v1DeleteMemory", status: 404, params: { id: "mem_none" } },
  { id: "apiDeleteProject", status: 404, params: NOWHERE },
  { id: "v1ListProjects", status: 400, query: { limit: "0" } },
  { id: "v1GetProject", status: 404, params: NOWHERE },
  { id: "v1SyncProject", status: 400, params: SHOP, body: { memories: 5 } },
  { id: "v1SyncProject", status: 404, params: NOWHERE },
  { id: "v1ListSessions", status: 400, query: { cursor: "x" } },
  { id: "v1ListSessions", status: 404, query: { project_id: "proj_nowhere" } },
  { id: "v1GetSession", status: 404, params: { id: "sess_none" } },
  { id: "apiListProjects", status: 400, query: { limit: "0" } },
  { id: "apiPutProject", status: 400, body: {} },
  { id: "apiGetProject", status: 404, params: NOWHERE },
  { id: "apiSyncProject", status: 400, params: SHOP },
  { id: "apiSyncProject", status: 404, params: NOWHERE, body: {} },
  { id: "apiSyncAccount", status: 400, body: {} },
  { id: "apiSyncAccount", status: 400, body: { crdt: { ...NO_DOCUMENTS, projects: [] } } },
  { id: "apiConnectProjects", status: 400, body: {} },
  { id: "apiConnectProjects", status: 404, body: { ...BOTH, target_project_id: "proj_none" } },
  { id: "apiDisconnectProjects", status: 400 },
  { id: "apiDisconnectProjects", status: 404, query: { ...BOTH, project_id: "proj_none" } },
  { id: "apiLive", status: 400 },
  { id: "apiPutProject", status: 403, token: "mst_dev_readonly", body: "byId" },
  { id: "v1CreateMemory", status: 403, token: "mst_dev_readonly", body: "user" },
  { id: "v1DeleteMemory", status: 403, token: "mst_dev_readonly", params: MEMORY },
  { id: "apiConnectProjects", status: 403, token: "mst_dev_readonly", body: "two" },
  { id: "apiDisconnectProjects", status: 403, token: "mst_dev_readonly", query: BOTH },
];

function find(id: string): Described {
  const found = described.get(id);
  if (found === undefined) throw new Error(`${id} is not described`);
  return found;
}

async function send(call: Call, token: string): Promise<{ response: Response; text: string }> {
  const { path, method, operation } = find(call.id);
  const filled = path.replace("{id}", call.params?.id ?? "proj_widget");
  const examples = operation.requestBody?.content["application/json"]?.examples ?? {};
  const { body } = call;
  const value = typeof body === "string" ? examples[body]?.value : body;
  const response = await fetch(`${url}${filled}?${new URLSearchParams(call.query)}`, {
    method: method.toUpperCase(),
    headers: {
      ...(operation.security === undefined &&
        token !== "" && { Authorization: `Bearer ${call.token ?? token}` }),
      ...call.headers,
    },
    ...(value !== undefined && { body: JSON.stringify(value) }),
  });
  return { response, text: await response.text() };
}

async function problemsOf(call: Call, token: string): Promise<string[]> {
  const { response, text } = await send(call, token);
  const problems = contract.answerProblems(find(call.id), response, text);
  if (response.status !== (call.status ?? 200)) problems.push(`was ${response.status}: ${text}`);
  return problems.map((problem) => `${call.id} ${JSON.stringify(call)}: ${problem}`);
}

test("every operation answers as it is described, to each example of its body", async () => {
  const { token } = newAccount();
  const problems: string[] = [];
  for (const call of STORY) problems.push(...(await problemsOf(call, token)));
  expect(problems).toEqual([]);
  const told = new Set(STORY.map(({ id, body }) => `${id} ${body}`));
  for (const [id, { operation }] of described) {
    const examples = operation.requestBody?.content["application/json"]?.examples ?? {};
    for (const name of Object.keys(examples)) expect(told).toContain(`${id} ${name}`);
  }
});

test("every operation is told of above, but for the socket", () => {
  const told = new Set(STORY.map(({ id }) => id));
  const untold = [...described.keys()].filter((id) => !told.has(id));
  expect(untold.sort()).toEqual(["apiLive"]);
});

test("every operation is refused as it is described", async () => {
  const { token } = newAccount();
  const problems: string[] = [];
  for (const call of REFUSED) problems.push(...(await problemsOf(call, token)));
  for (const [id, { operation }] of described) {
    if (operation.security !== undefined) continue;
    problems.push(...(await problemsOf({ id, status: 401 }, "")));
  }
  expect(problems).toEqual([]);
  const told = new Set(REFUSED.map(({ id, status }) => `${id} ${status}`));
  for (const [id, { operation }] of described) {
    for (const status of ["400", "404"]) {
      if (status in operation.responses) expect(told).toContain(`${id} ${status}`);
    }
  }
});

test("every read answers 304 to the tag that it gave, as it is described", async () => {
  const { token } = newAccount();
  for (const call of STORY.filter(({ id }) => find(id).method === "post")) await send(call, token);
  for (const call of STORY.filter(({ id }) => "304" in find(id).operation.responses)) {
    // Its own request is among what it counts.
    if (call.id === "apiGetStats") continue;
    const { response } = await send(call, token);
    const headers = { "If-None-Match": response.headers.get("etag") ?? "" };
    expect(await problemsOf({ ...call, status: 304, headers }, token)).toEqual([]);
  }
});

test("frames of the live socket are as they are described", async () => {
  const { token } = newAccount();
  const schema = (name: string) => ["components", "schemas", name];
  await send({ id: "apiPutProject", body: "byId" }, token);
  using socket = await connectLive(url, token);
  const frame = { type: "subscribe", project_ids: [WIDGET.id] };
  expect(contract.problems(schema("LiveSubscribe"), frame)).toEqual([]);
  socket.send(JSON.stringify(frame));
  expect(contract.problems(schema("LiveSubscribed"), await socket.next())).toEqual([]);
  await send({ id: "v1CreateMemory", body: "user" }, token);
  expect(contract.problems(schema("LiveChanged"), await socket.next())).toEqual([]);
});

test("description and page need no token and may load nothing from elsewhere", async () => {
  for (const path of ["/openapi.json", "/docs"]) {
    const { status, headers } = await fetch(`${url}${path}`);
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; /);
    expect(headers.get("content-security-policy")).not.toMatch(/unsafe|https?:|\*/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("ratelimit")).toBeNull();
    const head = await fetch(`${url}${path}`, { method: "HEAD" });
    expect(head.headers.get("etag")).toBe(headers.get("etag") as string);
  }
  expect((await fetch(`${url}/docs`, { method: "POST" })).status).toBe(404);
});

test("the page's policy lets its own script and style run, and nothing else", async () => {
  const page = await fetch(`${url}/docs`);
  const policy = page.headers.get("content-security-policy");
  const text = await page.text();
  for (const [element, directive] of [
    ["style", "style-src"],
    ["script", "script-src"],
  ] as const) {
    const [, content] = text.match(new RegExp(`<${element}[^>]*>(.*?)</${element}>`, "s")) ?? [];
    const hash = new Bun.CryptoHasher("sha256").update(content ?? "").digest("base64");
    expect(policy).toContain(`${directive} 'sha256-${hash}'`);
  }
});
