import { expect, test } from "bun:test";
import { AppError } from "../../shared/errors.ts";
import { errorOf, startServer } from "../support/http-server.ts";

const PATHS = [
  "/",
  "/v1",
  "/v2/memories",
  "/v1/memories/",
  "/v1/memories/mem_a/b",
  "/v1//memories",
  "/V1/memories",
  "/v1/projects/proj_a/",
  "/v1/projects/proj%5Fa",
  "/v1/projects/proj_a%2Fsync",
  "/api/projects/proj_a/sync",
  "/api/memories",
  "/openapi.json%00",
];

test("without a valid token every path is 401, and says how to authenticate", async () => {
  await using server = await startServer();
  for (const token of ["", "unknown"]) {
    for (const path of [...PATHS, "/v1/memories", "/api/projects/stats", "/api/live"]) {
      const response = await server.send("GET", path, { token });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect((await errorOf(response)).code).toBe("unauthorized");
    }
  }
  expect(server.fake.calls).toEqual([]);
});

test("an unknown path is 404", async () => {
  await using server = await startServer();
  for (const path of PATHS) {
    const response = await server.send("GET", path);
    expect(response.status).toBe(404);
    expect((await errorOf(response)).code).toBe("not_found");
  }
});

test("an unknown method is 404, OPTIONS included", async () => {
  await using server = await startServer();
  for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS"]) {
    expect((await server.send(method, "/v1/memories")).status).toBe(404);
  }
  expect((await server.send("GET", "/api/sync")).status).toBe(404);
  expect((await server.send("POST", "/healthz")).status).toBe(404);
});

test("a read-only token that writes is 403 before its body is looked at", async () => {
  await using server = await startServer();
  const options = { token: "read", body: "{" };
  const responses = [
    await server.send("POST", "/v1/memories", options),
    await server.send("DELETE", "/v1/memories/mem_a", { token: "read" }),
    await server.send("POST", "/api/projects", options),
    await server.send("POST", "/api/projects/connect", options),
    await server.send("DELETE", "/api/projects/connect", { token: "read" }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  expect(server.fake.calls).toEqual([]);
});

test("whether a read-only token may sync is for the services to say", async () => {
  await using server = await startServer();
  const options = { token: "read", body: "{}" };
  expect((await server.send("POST", "/api/projects/proj_a/sync", options)).status).toBe(200);
  server.fake.on("sync.apply", () => {
    throw new AppError("forbidden", "this token may only read");
  });
  expect((await server.send("POST", "/api/projects/proj_a/sync", options)).status).toBe(403);
  const malformed = { token: "read", body: '{"memories": 5}' };
  expect((await server.send("POST", "/api/projects/proj_a/sync", malformed)).status).toBe(400);
});

test("an ill-formed body is 400 before the project is looked for", async () => {
  await using server = await startServer();
  const response = await server.send("POST", "/api/projects/nonsense/sync", { body: "{" });
  expect(response.status).toBe(400);
});

test("every answer carries the request's id, and no two are alike", async () => {
  await using server = await startServer();
  const paths = ["/healthz", "/v1/memories", "/nowhere", "/v1/memories?limit=0"];
  const answers = await Promise.all(paths.map((path) => server.send("GET", path)));
  const ids = answers.map(({ headers }) => headers.get("x-request-id"));
  for (const id of ids) expect(id).toMatch(/^req_[0-9A-Za-z_-]{1,64}$/);
  expect(new Set(ids).size).toBe(ids.length);
  const [, , missing] = answers;
  if (missing === undefined) throw new Error("no answer");
  expect((await errorOf(missing)).request_id).toBe(missing.headers.get("x-request-id") ?? "");
});

test("what goes wrong inside is a bare 500, and logged under the request's id", async () => {
  await using server = await startServer();
  server.fake.on("stats.get", () => {
    throw new Error("secret of the database");
  });
  const response = await server.send("GET", "/api/projects/stats");
  expect(response.status).toBe(500);
  const error = await errorOf(response);
  expect(error.code).toBe("internal");
  expect(JSON.stringify(error)).not.toContain("secret");
  expect(server.errors).toHaveLength(1);
  expect(server.errors[0]).toMatchObject({
    request_id: error.request_id,
    error: "secret of the database",
  });
  expect(JSON.stringify(server.errors)).not.toContain("Bearer");
});

test("an error body has at most 100 details and says when there were more", async () => {
  await using server = await startServer();
  const sync = async (wrong: number) => {
    const body = JSON.stringify({ memories: new Array(wrong).fill({ key: "", value: "v" }) });
    return errorOf(await server.send("POST", "/api/projects/proj_a/sync", { body }));
  };
  const full = await sync(100);
  expect(full.details).toHaveLength(100);
  expect(full.details_truncated).toBeUndefined();
  const over = await sync(101);
  expect(over.details).toHaveLength(100);
  expect(over.details_truncated).toBe(true);
  expect(over.details?.[99]).toEqual({ path: "/memories/99/key", message: "must not be empty" });
});

test("extra headers go with every answer", async () => {
  await using server = await startServer({ extraHeaders: { "X-Memsync-Emulator": "1" } });
  for (const path of ["/healthz", "/v1/memories", "/nowhere"]) {
    const { headers } = await server.send("GET", path);
    expect(headers.get("x-memsync-emulator")).toBe("1");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
});

test("a server for this machine refuses foreign hosts and origins, after the token", async () => {
  await using server = await startServer({ loopbackOnly: true });
  const status = async (headers: Record<string, string>, path = "/v1/memories") =>
    (await server.send("GET", path, { headers })).status;
  expect(await status({})).toBe(200);
  for (const host of ["localhost", "LOCALHOST:80", "127.0.0.1:4777", "[::1]:1", "[::1]"]) {
    expect(await status({ Host: host })).toBe(200);
  }
  for (const host of ["evil.example", "localhost.evil.example:80", "127.0.0.2", "::1"]) {
    expect(await status({ Host: host })).toBe(403);
    expect(await status({ Host: host }, "/healthz")).toBe(403);
  }
  for (const origin of ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:8"]) {
    expect(await status({ Origin: origin })).toBe(200);
  }
  for (const origin of ["https://evil.example", "null", "http://localhost.evil.example"]) {
    expect(await status({ Origin: origin })).toBe(403);
  }
  const response = await server.send("GET", "/", { token: "", headers: { Host: "evil.example" } });
  expect((await errorOf(response)).code).toBe("unauthorized");
});

test("a request is charged once its path is known, and before all else", async () => {
  let charged = 0;
  const charge = () => {
    charged += 1;
    return { headers: { RateLimit: "none" }, retryAfterSeconds: 7 };
  };
  const exhausted = () => 7;
  const quotaOf = async () => ({ charge, exhausted, headers: () => ({ RateLimit: "some" }) });
  await using server = await startServer({ quotaOf });
  const options = { token: "read", body: "{" };
  const response = await server.send("POST", "/v1/memories", options);
  expect(response.status).toBe(429);
  expect(response.headers.get("retry-after")).toBe("7");
  expect(response.headers.get("ratelimit")).toBe("none");
  expect((await errorOf(response)).code).toBe("rate_limited");
  expect(charged).toBe(1);
  const uncharged = [
    [await server.send("GET", "/nowhere"), 404, "some"],
    [await server.send("PUT", "/v1/memories"), 404, "some"],
    [await server.send("GET", "/v1/memories/%41"), 404, "some"],
    [await server.send("GET", "/v1/memories", { token: "" }), 401, null],
    [await server.send("GET", "/healthz"), 200, null],
  ] as const;
  for (const [answer, status, quota] of uncharged) {
    expect([answer.status, answer.headers.get("ratelimit")]).toEqual([status, quota]);
  }
  expect(charged).toBe(1);
  const live = await server.send("GET", "/api/live", { headers: { Upgrade: "websocket" } });
  expect([live.status, live.headers.get("retry-after")]).toEqual([429, "7"]);
  expect(charged).toBe(1);
});
