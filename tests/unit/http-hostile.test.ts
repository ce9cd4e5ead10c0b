import { expect, test } from "bun:test";
import fc from "fast-check";
import { createApp } from "../../server/app/app.ts";
import { silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { createFakeServices, fakeAuthenticate } from "../support/fake-services.ts";

const { services } = createFakeServices();
const app = createApp({
  services,
  authenticate: fakeAuthenticate,
  world: realWorld,
  log: silentLog,
});

const POSTS = [
  "/v1/memories",
  "/v1/projects/proj_a/sync",
  "/api/projects",
  "/api/projects/connect",
  "/api/projects/proj_a/sync",
  "/api/sync",
];

async function statusOf(method: string, path: string, body?: string | Uint8Array<ArrayBuffer>) {
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: { Authorization: "Bearer write" },
    ...(body !== undefined && { body }),
  });
  const response = await app.fetch(request);
  const text = await response.text();
  expect(typeof JSON.parse(text)).toBe("object");
  return response.status;
}

/** Bodies made of the fields that are known here, with anything in them. */
const body = fc.dictionary(
  fc.oneof(
    fc.constantFrom("content", "layer", "key", "project_id", "target_project_id", "name", "id"),
    fc.constantFrom("memories", "metadata", "claude_md_content", "sessions", "crdt", "__proto__"),
    fc.string(),
  ),
  fc.oneof(
    fc.jsonValue(),
    fc.record({ encoding: fc.constant("yjs-v1"), documents: fc.jsonValue() }),
    fc.array(fc.record({ key: fc.string({ unit: "binary" }), value: fc.jsonValue() })),
  ),
);

test("whatever JSON is posted is done or refused, and nothing fails", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...POSTS), body, async (path, value) => {
      expect([200, 400, 404]).toContain(await statusOf("POST", path, JSON.stringify(value)));
    }),
    { numRuns: 2000 },
  );
});

test("whatever bytes are posted are done or refused, and nothing fails", async () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((given) => new Uint8Array(given));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...POSTS), bytes, async (path, given) => {
      expect([200, 400]).toContain(await statusOf("POST", path, given));
    }),
    { numRuns: 1000 },
  );
});

test("whatever a query says is answered or refused, and nothing fails", async () => {
  const paths = ["/v1/memories", "/v1/sessions", "/v1/projects", "/api/projects"];
  const name = fc.constantFrom("limit", "cursor", "layer", "q", "project_id", "x");
  const query = fc.array(
    fc.tuple(name, fc.oneof(fc.string({ unit: "binary" }), fc.nat().map(String))),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), query, fc.string(), async (path, pairs, tail) => {
      const params = new URLSearchParams(
        pairs.map(([key, value]): [string, string] => [key, value.toWellFormed()]),
      );
      expect([200, 400, 404]).toContain(await statusOf("GET", `${path}?${params}&${tail}`));
    }),
    { numRuns: 2000 },
  );
});

test("whatever path is asked for is answered or refused, and nothing fails", async () => {
  const part = fc.oneof(
    fc.constantFrom("v1", "api", "projects", "memories", "sync", "stats", "proj_a", "..", ""),
    fc.webUrl().map((url) => url.slice(8)),
    fc.string(),
  );
  const method = fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS");
  await fc.assert(
    fc.asyncProperty(method, fc.array(part), async (verb, parts) => {
      const path = `/${parts.join("/")}`;
      if (!URL.canParse(`http://localhost${path}`)) return;
      expect([200, 400, 404]).toContain(await statusOf(verb, path));
    }),
    { numRuns: 2000 },
  );
});
