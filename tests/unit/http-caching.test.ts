import { expect, test } from "bun:test";
import { MEMORY } from "../support/fake-services.ts";
import { startServer } from "../support/http-server.ts";

test("a GET carries a strong tag of its bytes and how it may be kept", async () => {
  await using server = await startServer();
  const first = await server.send("GET", "/v1/memories");
  const again = await server.send("GET", "/v1/memories");
  const other = await server.send("GET", "/v1/projects");
  const tag = first.headers.get("etag");
  expect(tag).toMatch(/^"[^"]+"$/);
  expect(again.headers.get("etag")).toBe(tag);
  expect(other.headers.get("etag")).not.toBe(tag);
  expect(first.headers.get("cache-control")).toBe("private, no-cache");
  expect(first.headers.get("vary")).toBe("Authorization, X-Project-Id");
  expect(first.headers.get("content-type")).toStartWith("application/json");
});

test("a GET whose tag the client holds is 304 without a body", async () => {
  await using server = await startServer();
  const tag = (await server.send("GET", "/v1/memories")).headers.get("etag") ?? "";
  for (const held of [tag, `W/${tag}`, `"a", ${tag} ,"b"`, `W/"a",W/${tag}`, "*", " * "]) {
    const headers = { "If-None-Match": held };
    const response = await server.send("GET", "/v1/memories", { headers });
    expect(response.status).toBe(304);
    expect(await response.text()).toBe("");
    expect(response.headers.get("etag")).toBe(tag);
    expect(response.headers.get("x-request-id")).not.toBeNull();
  }
});

test("a GET whose tag is another is answered in full", async () => {
  await using server = await startServer();
  const tag = (await server.send("GET", "/v1/memories")).headers.get("etag") ?? "";
  for (const held of ['"other"', tag.slice(1, -1), `x${tag}`, "", "W/"]) {
    const headers = { "If-None-Match": held };
    expect((await server.send("GET", "/v1/memories", { headers })).status).toBe(200);
  }
});

test("HEAD is GET without the body", async () => {
  await using server = await startServer();
  const get = await server.send("GET", "/v1/memories");
  const head = await server.send("HEAD", "/v1/memories");
  expect(head.status).toBe(200);
  expect(await head.text()).toBe("");
  for (const name of ["etag", "content-type", "content-length", "vary"]) {
    expect(head.headers.get(name)).toBe(get.headers.get(name) ?? "missing");
  }
  expect((await server.send("HEAD", "/nowhere")).status).toBe(404);
  expect((await server.send("HEAD", "/v1/memories", { token: "" })).status).toBe(401);
});

test("what changes something is not kept, and has no tag", async () => {
  await using server = await startServer();
  const response = await server.send("POST", "/v1/memories", { body: '{"content":"x"}' });
  expect(response.headers.get("etag")).toBeNull();
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test("a list that goes on links to its next page and keeps the rest of the query", async () => {
  await using server = await startServer();
  const more = { items: [MEMORY], total: 5, nextCursor: "a+b/c=" };
  server.fake.on("memories.list", async () => more);
  const path = "/v1/memories?q=x%20y&layer=user&limit=1&cursor=old";
  const response = await server.send("GET", path);
  expect(await response.json()).toMatchObject({ total: 5, next_cursor: "a+b/c=" });
  const link = response.headers.get("link") ?? "";
  const [, target] = /^<([^>]+)>; rel="next"$/.exec(link) ?? [];
  const next = new URL(target ?? "", server.listener.url);
  expect(next.pathname).toBe("/v1/memories");
  expect(Object.fromEntries(next.searchParams)).toEqual({
    q: "x y",
    layer: "user",
    limit: "1",
    cursor: "a+b/c=",
  });
});

test("a list that ends has no link", async () => {
  await using server = await startServer();
  const response = await server.send("GET", "/v1/memories?limit=1");
  expect(response.headers.get("link")).toBeNull();
});
