import { expect, test } from "bun:test";
import { PUBLISHED } from "../../server/routes/published/published.ts";
import { SESSION } from "../support/fake-services.ts";
import { startServer } from "../support/http-server.ts";

test("of a session only what is published is shown", async () => {
  await using server = await startServer({ serves: PUBLISHED });
  const listed = await server.send("GET", "/v1/sessions");
  expect(await listed.json()).toEqual({ sessions: [{ id: SESSION.id }] });
  const one = await server.send("GET", `/v1/sessions/${SESSION.id}`);
  expect(await one.json()).toEqual({ id: SESSION.id });
});

test("of what a token may only read, the published routes write nothing", async () => {
  await using server = await startServer({ serves: PUBLISHED });
  for (const [method, path] of [
    ["POST", "/v1/memories"],
    ["DELETE", "/v1/memories/mem_one"],
    ["POST", "/api/projects"],
    ["POST", "/api/projects/connect"],
  ] as const) {
    const body = method === "POST" ? "{}" : undefined;
    const options = { token: "read", ...(body !== undefined && { body }) };
    expect((await server.send(method, path, options)).status).toBe(403);
  }
  expect(server.fake.calls).toEqual([]);
});
