import type { Fault } from "./breaking-proxy.ts";
import {
  answering,
  asking,
  deleteMemories,
  instead,
  json,
  memoriesAsking,
  on,
  PROJECT,
  parse,
  SYNC,
  valuesAsking,
} from "./faults.ts";

const SYNC_RULE = "POST /api/projects/:id/sync";

/** A server's fault, the rule that it breaks, and how it comes about. */
export const FAULTS: readonly (readonly [string, string, Fault])[] = [
  ["says 403 for a bad token", "GET /v1/memories: 401 without a token", instead(401, 403)],
  [
    "needs no token for one endpoint",
    "GET /v1/sessions: 401 without a token",
    on("GET", "/v1/sessions", (request, pass) => pass({ token: request.token || "mst_dev_open" })),
  ],
  [
    "takes every token",
    "DELETE /v1/memories/:id: 401 with a token that nobody has",
    (request, pass) =>
      pass({ token: /^nobody/.test(request.token) ? "mst_dev_open" : request.token }),
  ],
  [
    "shows an error as a web page",
    "GET /api/projects/:id: every body is JSON, and says so",
    async (_request, pass) => {
      const answer = await pass();
      return answer.status === 404
        ? { ...answer, type: "text/html", body: "<h1>Not found</h1>" }
        : answer;
    },
  ],
  [
    "calls its JSON text",
    "GET /v1/projects: every body is JSON, and says so",
    async (_request, pass) => ({ ...(await pass()), type: "text/plain" }),
  ],
  [
    "fails where it should list",
    "GET /v1/sessions: answers a list",
    on("GET", "/v1/sessions", instead(200, 500)),
  ],
  [
    "answers a status that is not published",
    "GET /v1/sessions/:id: every status is published and no fault",
    instead(404, 410),
  ],
  [
    "sends readers elsewhere",
    "GET /v1/projects/:id: is that project",
    on("GET", /^\/v1\/projects\/proj_/, instead(200, 302)),
  ],
  [
    "repeats the token in an error",
    "every endpoint: no answer repeats the token",
    async ({ token }, pass) => {
      const answer = await pass();
      return answer.status === 404 ? json(404, { error: `not for ${token}` }) : answer;
    },
  ],
  [
    "leaves created_at out",
    "POST /v1/memories: answers the user memory that it made",
    on(
      "POST",
      "/v1/memories",
      answering(({ created_at, ...memory }) => memory),
    ),
  ],
  [
    "gives times without a zone",
    "GET /v1/memories: answers memories and total",
    on(
      "GET",
      "/v1/memories",
      answering((list) => ({
        ...list,
        memories: list.memories.map((memory: { created_at: string }) => ({
          ...memory,
          created_at: memory.created_at.replace("Z", ""),
        })),
      })),
    ),
  ],
  [
    "gives ids without their prefix",
    "POST /v1/memories: answers the global memory that it made",
    on(
      "POST",
      "/v1/memories",
      answering((memory) => ({ ...memory, id: memory.id.slice(4) })),
    ),
  ],
  [
    "puts every memory into the layer user",
    "POST /v1/memories: answers the project memory that it made",
    on(
      "POST",
      "/v1/memories",
      answering((memory) => ({ ...memory, layer: "user" })),
    ),
  ],
  [
    "takes any layer",
    "POST /v1/memories: 400 for a layer that is none",
    on(
      "POST",
      "/v1/memories",
      asking((body) => (body.layer === "team" ? { ...body, layer: "user" } : body)),
    ),
  ],
  [
    "takes a number for a text",
    "POST /v1/memories: 400 for content that is no text",
    on(
      "POST",
      "/v1/memories",
      asking((body) => ({ ...body, content: String(body.content) })),
    ),
  ],
  [
    "loses a memory",
    "GET /v1/memories: lists the new global memory, unchanged",
    on("POST", "/v1/memories", async (request, pass) => {
      const answer = await pass();
      if (parse(request)?.layer !== "global" || answer.status !== 200) return answer;
      const { id } = JSON.parse(answer.body) as { id: string };
      await pass({ method: "DELETE", path: `/v1/memories/${id}`, body: "" });
      return answer;
    }),
  ],
  [
    "doubles a memory",
    "GET /v1/memories: lists the new user memory, unchanged",
    on("POST", "/v1/memories", async (_request, pass) => {
      await pass();
      return await pass();
    }),
  ],
  [
    "lists a memory twice",
    "GET /v1/memories: answers memories and total",
    on(
      "GET",
      "/v1/memories",
      answering(({ memories, total }) => ({
        memories: [...memories, memories[0]],
        total: total + 1,
      })),
    ),
  ],
  [
    "counts wrongly",
    "GET /v1/memories: answers memories and total",
    on(
      "GET",
      "/v1/memories",
      answering((list) => ({ ...list, total: list.total + 1 })),
    ),
  ],
  [
    "only says that it deletes",
    "DELETE /v1/memories/:id: deletes the memory",
    on("DELETE", /^\/v1\/memories\/mem_/, async ({ token }, pass) =>
      token.startsWith("mst_dev_") ? json(200, {}) : await pass(),
    ),
  ],
  [
    "deletes more than it was told to",
    "DELETE /v1/memories/:id: deletes no other memory",
    on("DELETE", /^\/v1\/memories\/mem_/, async (_request, pass) => {
      await deleteMemories(pass, "/v1/memories");
      return json(200, {});
    }),
  ],
  [
    "deletes what is not there",
    "DELETE /v1/memories/:id: 404 for an unknown memory",
    on("DELETE", /^\/v1\/memories\/mem_/, instead(404, 200)),
  ],
  [
    "knows every project",
    "GET /api/projects/:id: 404 for an unknown project",
    on("GET", PROJECT, async (_request, pass) => {
      const answer = await pass();
      return answer.status === 404 ? json(200, { memories: [] }) : answer;
    }),
  ],
  [
    "leaves a project out of the list",
    "GET /v1/projects: lists every project once",
    on(
      "GET",
      "/v1/projects",
      answering(({ projects }) => ({
        projects: projects.filter(({ id }) => !id.includes("_two_")),
      })),
    ),
  ],
  [
    "makes a project anew at each update",
    "GET /api/projects: lists every project once",
    on(
      "GET",
      "/api/projects",
      answering(({ projects }) => ({ projects: [...projects, ...projects] })),
    ),
  ],
  [
    "forgets what an update does not mention",
    "GET /api/projects/:id: an update leaves what it does not mention",
    on(
      "POST",
      "/api/projects",
      asking((body) => {
        return "claude_md_content" in body ? body : Object.assign(body, { claude_md_content: "" });
      }),
    ),
  ],
  [
    "takes statistics for a project's id",
    "GET /api/projects/stats: is not taken for a project's id",
    on("GET", "/api/projects/stats", async () => json(404, { error: "no such project" })),
  ],
  [
    "fails at what is not JSON",
    `${SYNC_RULE}: 400 for a body that is not JSON`,
    on("POST", SYNC, instead(400, 500)),
  ],
  [
    "ignores what is not JSON",
    "POST /api/projects/connect: 400 for a body that is not JSON",
    on("POST", "/api/projects/connect", instead(400, 200)),
  ],
  [
    "rewrites line ends",
    `${SYNC_RULE}: stores every key and value as it was sent`,
    on(
      "POST",
      SYNC,
      valuesAsking((value) => value.replace(/\r\n?/g, "\n")),
    ),
  ],
  [
    "composes letters",
    `${SYNC_RULE}: stores every key and value as it was sent`,
    on(
      "POST",
      SYNC,
      valuesAsking((value) => value.normalize("NFC")),
    ),
  ],
  [
    "trims values",
    `${SYNC_RULE}: stores every key and value as it was sent`,
    on(
      "POST",
      SYNC,
      valuesAsking((value) => value.trim()),
    ),
  ],
  [
    "trims the description document",
    `${SYNC_RULE}: stores claude_md_content as it was sent`,
    on(
      "GET",
      PROJECT,
      answering((project) => ({
        ...project,
        claude_md_content: project.claude_md_content.trim(),
      })),
    ),
  ],
  [
    "drops metadata",
    `${SYNC_RULE}: stores metadata as it was sent`,
    on(
      "GET",
      PROJECT,
      answering((project) => ({ ...project, metadata: { language: "TypeScript" } })),
    ),
  ],
  [
    "keeps the first value of a key",
    `${SYNC_RULE}: writes by key; a repetition doubles nothing`,
    on(
      "POST",
      SYNC,
      memoriesAsking((memory) => {
        return memory.value === "npm run build:all"
          ? { ...memory, value: "npm run build" }
          : memory;
      }),
    ),
  ],
  [
    "appends instead of writing by key",
    `${SYNC_RULE}: writes by key; a repetition doubles nothing`,
    on(
      "GET",
      PROJECT,
      answering((project) => ({
        ...project,
        memories: [...project.memories, { key: "new", value: "came later" }],
      })),
    ),
  ],
  [
    "takes what is left out for deleted",
    `${SYNC_RULE}: what a sync leaves out stays`,
    on("POST", SYNC, async (request, pass) => {
      const answer = await pass();
      const sent = parse(request)?.memories;
      if (answer.status !== 200 || !Array.isArray(sent)) return answer;
      await deleteMemories(pass, request.path.replace("/sync", ""), ({ key }) => {
        return !sent.some((memory) => memory.key === key);
      });
      return answer;
    }),
  ],
  [
    "empties a project at an empty array",
    `${SYNC_RULE}: an empty payload or array changes nothing`,
    on("POST", SYNC, async (request, pass) => {
      if (parse(request)?.memories?.length !== 0) return await pass();
      await deleteMemories(pass, request.path.replace("/sync", ""));
      return await pass();
    }),
  ],
  [
    "stores the good half of a refused sync",
    `${SYNC_RULE}: a refused sync has changed nothing`,
    on("POST", SYNC, async (request, pass) => {
      const answer = await pass();
      const { memories } = parse(request) ?? {};
      if (answer.status !== 400 || !Array.isArray(memories)) return answer;
      const good = memories.filter(({ key, value }) => {
        return typeof key === "string" && typeof value === "string";
      });
      await pass({ body: JSON.stringify({ memories: good }) });
      return answer;
    }),
  ],
  [
    "takes memories of a wrong type",
    `${SYNC_RULE}: 400 for a key that is no text`,
    on(
      "POST",
      SYNC,
      memoriesAsking((memory) => ({ ...memory, key: String(memory.key) })),
    ),
  ],
  [
    "loses one of two syncs at once",
    `${SYNC_RULE}: syncs of the same moment are all kept`,
    on("POST", SYNC, (request, pass) =>
      request.body.includes('"at once 3"') ? pass({ body: "{}" }) : pass(),
    ),
  ],
  [
    "wants a body for variant A's sync",
    "POST /v1/projects/:id/sync: changes nothing without a body",
    on("POST", /^\/v1\/projects\/proj_.*\/sync$/, async (request, pass) =>
      request.body === "" ? json(400, { error: "empty" }) : await pass(),
    ),
  ],
  [
    "keeps a store for each variant",
    "GET /api/projects/:id: has what variant A made in the project",
    on("POST", "/v1/memories", (request, pass) => {
      const { project_id: _, ...body } = parse(request) ?? {};
      const other = JSON.stringify({ ...body, layer: "user" });
      return body.layer === "project" ? pass({ body: other }) : pass();
    }),
  ],
  [
    "empties the projects that it connects",
    "POST /api/projects/connect: leaves the project's own memories",
    on("POST", "/api/projects/connect", async (request, pass) => {
      const answer = await pass();
      await deleteMemories(pass, `/api/projects/${parse(request)?.project_id}`);
      return answer;
    }),
  ],
  [
    "lets readers write",
    "POST /v1/memories: 403 for a read-only token",
    (request, pass) => pass({ token: request.token.replace("readonly", "pro") }),
  ],
  [
    "does what it says it forbids",
    "every endpoint: what a reader was refused changed nothing",
    on("DELETE", /^\/v1\/memories\/mem_/, async (_request, pass) => {
      const answer = await pass();
      if (answer.status === 403) await pass({ token: "mst_dev_pro" });
      return answer;
    }),
  ],
  ["says 401 where it forbids", "POST /api/projects: 403 for a read-only token", instead(403, 401)],
  [
    "shows everything to everybody",
    "GET /v1/memories: shows nothing of another account",
    (request, pass) => pass({ token: request.token.replace("stranger", "pro") }),
  ],
  [
    "lets anybody delete by id",
    "DELETE /v1/memories/:id: hides a memory of another account",
    on("DELETE", /^\/v1\/memories\/mem_/, (request, pass) =>
      pass({ token: request.token.replace("stranger", "pro") }),
    ),
  ],
];
