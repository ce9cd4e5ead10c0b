import { afterAll, describe, expect, test } from "bun:test";
import { startEmulator } from "../../server/emulator/start-emulator.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { type Answer, type Client, clientOf, newAccount } from "../support/service.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

interface Memory {
  readonly id: string;
  readonly key: string;
}

const keyed = (key: string) => ({ "Idempotency-Key": key });

/** An account with two projects. */
async function prepared(): Promise<Client> {
  const account = newAccount();
  await account.post("/api/projects", { id: "proj_a" });
  await account.post("/api/projects", { id: "proj_b" });
  return account;
}

async function contents(account: Client): Promise<string[]> {
  const { body } = await account.get<{ memories: { content: string }[] }>(
    "/v1/memories?project_id=proj_a",
  );
  return body.memories.map((memory) => memory.content);
}

/** Every POST that takes a key, with a body and another one. */
const POSTS: readonly (readonly [path: string, body: unknown, other: unknown])[] = [
  ["/v1/memories", { content: "x", project_id: "proj_a" }, { content: "y", project_id: "proj_a" }],
  ["/v1/projects/proj_a/sync", { memories: [{ key: "k", value: "v" }] }, { memories: [] }],
  ["/v1/projects/proj_new/sync", { claude_md_content: "# New\n" }, {}],
  ["/v1/projects/proj_a/sync", undefined, {}],
  ["/api/projects", { name: "Named", metadata: { a: 1 } }, { name: "Other" }],
  ["/api/projects/proj_a/sync", { metadata: { b: [1, { c: null }] } }, {}],
  [
    "/api/projects/connect",
    { project_id: "proj_a", target_project_id: "proj_b" },
    { project_id: "proj_b", target_project_id: "proj_a" },
  ],
];

describe.each(POSTS)("POST %s", (path, body, other) => {
  test(`POST ${path} gives its first answer again, byte for byte, whatever was written since`, async () => {
    const account = await prepared();
    const ask = async (sent: unknown) => {
      const response = await fetch(`${account.url}${path}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${account.token}`, ...keyed("k1") },
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    const first = await ask(body);
    expect(first.status).toBe(200);
    const before = await contents(account);
    await account.post("/api/projects", { id: "proj_a", metadata: { later: true } });
    await account.post("/api/projects", { id: "proj_later" });
    const again = await ask(body);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(await contents(account)).toEqual(before);

    const refused = await ask(other);
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text).error.details[0].path).toBe("Idempotency-Key");
    expect(await contents(account)).toEqual(before);
  });

  test(`POST ${path} is done once when it comes many times at once`, async () => {
    const account = await prepared();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => account.post(path, body, keyed("k1"))),
    );
    for (const answer of answers) expect(answer.status).toBe(200);
    for (const answer of answers) expect(answer.body).toEqual(answers[0]?.body);
  });
});

test("twenty creations at once under one key make one memory", async () => {
  const account = await prepared();
  const body = { content: "once", project_id: "proj_a" };
  const create = () => account.post<Memory>("/v1/memories", body, keyed("k1"));
  const made = await Promise.all(Array.from({ length: 20 }, create));
  expect(new Set(made.map((answer) => answer.body.id)).size).toBe(1);
  expect(await contents(account)).toEqual(["once"]);
});

test("another key, path, user or account is another request", async () => {
  const [account, other] = [await prepared(), await prepared()];
  const body = { content: "once", project_id: "proj_a" };
  const ids = [
    await account.post<Memory>("/v1/memories", body, keyed("k1")),
    await account.post<Memory>("/v1/memories", body, keyed("k2")),
    await other.post<Memory>("/v1/memories", body, keyed("k1")),
  ].map((answer) => answer.body.key);
  expect(new Set(ids).size).toBe(3);
  expect(await contents(account)).toEqual(["once", "once"]);
  expect(await contents(other)).toEqual(["once"]);
  const sync = await account.post("/v1/projects/proj_a/sync", {}, keyed("k1"));
  expect(sync.status).toBe(200);
  expect((await account.post("/v1/projects/proj_b/sync", { a: 1 }, keyed("k1"))).status).toBe(200);
});

test("only a 200 is kept: what was refused may be sent again", async () => {
  const account = newAccount();
  const sync = () =>
    account.post("/api/projects/proj_a/sync", { claude_md_content: "#\n" }, keyed("k1"));
  expect((await sync()).status).toBe(404);
  await account.post("/api/projects", { id: "proj_a" });
  expect((await sync()).status).toBe(200);
  expect((await account.post("/v1/memories", { content: "" }, keyed("k2"))).status).toBe(400);
  expect((await account.post("/v1/memories", { content: "x" }, keyed("k2"))).status).toBe(200);
});

test("a kept answer is not for a token that may do less", async () => {
  const [writer, reader] = [clientOf("mst_dev_pro"), clientOf("mst_dev_readonly")];
  const key = keyed(crypto.randomUUID());
  const id = `proj_${crypto.randomUUID()}`;
  const create = { content: "x", layer: "global", key: id };
  expect((await writer.post("/v1/memories", create, key)).status).toBe(200);
  expect((await reader.post("/v1/memories", create, key)).status).toBe(403);
  const text = { claude_md_content: "# One\n" };
  expect((await writer.post(`/v1/projects/${id}/sync`, text, key)).status).toBe(200);
  await writer.post(`/v1/projects/${id}/sync`, { claude_md_content: "# Two\n" });
  expect((await reader.post(`/v1/projects/${id}/sync`, text, key)).status).toBe(403);
  expect((await writer.post(`/v1/projects/${id}/sync`, text, key)).status).toBe(200);
});

test("a replica exchange takes no key", async () => {
  const account = await prepared();
  const crdt = { encoding: "yjs-v1", documents: { project: {} } };
  const path = "/api/projects/proj_a/sync";
  const answers = [
    await account.post(path, { crdt }, keyed("k1")),
    await account.post(path, { crdt: { ...crdt, documents: {} } }, keyed("k1")),
    await account.post("/api/sync", { crdt: { ...crdt, documents: {} } }, keyed("k1")),
    await account.post("/api/sync", { crdt: { ...crdt, documents: { user: {} } } }, keyed("k1")),
    await account.post(path, {}, keyed("k1")),
    await account.post(path, { crdt }, keyed("k1")),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
});

test("a key is 1 to 255 printable characters", async () => {
  const account = await prepared();
  const status = async (key: string) =>
    (await account.post("/api/projects", { id: "proj_a" }, keyed(key))).status;
  expect(await status("x".repeat(255))).toBe(200);
  expect(await status('"quoted, with ; signs~"')).toBe(200);
  for (const key of ["x".repeat(256), "", "caf\u00e9", "a\tb"]) expect(await status(key)).toBe(400);
});

describe("on a clock", () => {
  let now = Date.UTC(2026, 0, 1);
  const world = { ...realWorld, now: () => now };
  const emulator = startEmulator({ limits: "on" }, { world, log: silentLog });
  afterAll(async () => (await emulator).close());

  async function create(content: string): Promise<Answer<Memory>> {
    const response = await fetch(`${(await emulator).url}/v1/memories`, {
      method: "POST",
      headers: { Authorization: "Bearer mst_dev_clock", ...keyed("k1") },
      body: JSON.stringify({ content, layer: "user" }),
    });
    const body = (await response.json()) as Memory;
    return { status: response.status, headers: response.headers, body };
  }

  test("an answer is forgotten after 24 hours, and each request is charged", async () => {
    const first = await create("x");
    now += DAY_MS - 1;
    expect((await create("x")).body).toEqual(first.body);
    expect((await create("y")).status).toBe(400);
    const { headers } = await create("x");
    expect(headers.get("ratelimit")).toContain('"day";r=9996;');
    now += 1;
    const after = await create("y");
    expect(after.status).toBe(200);
    expect(after.body.id).not.toBe(first.body.id);
  });
});
