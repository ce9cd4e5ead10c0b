import { memoryIdOf } from "../../../shared/ids.ts";
import { pick } from "../../support/random.ts";
import { forgeAnything } from "./forgeries.ts";
import { below, mutateBytes, mutateJson, nested } from "./mutate.ts";
import { CLIENTS, realHistory } from "./real-history.ts";

type Random = () => number;

/** One request as it goes out. */
export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** The project that holds what nobody else may see, and one of the attacker's own. */
export const TARGET = "proj_main";
export const OWN_PROJECT = "proj_own";

const HISTORY = realHistory();

const PATHS = [
  "/v1/memories",
  "/v1/projects",
  "/v1/sessions",
  "/v1/sessions/sess_main",
  `/v1/memories/${memoryIdOf(TARGET, "secret")}`,
  `/v1/projects/${TARGET}`,
  `/v1/projects/${TARGET}/sync`,
  "/api/projects",
  `/api/projects/${TARGET}`,
  `/api/projects/${TARGET}/sync`,
  `/api/projects/${OWN_PROJECT}/sync`,
  "/api/projects/connect",
  "/api/projects/stats",
  "/api/sync",
  "/api/live",
  "/healthz",
  "/openapi.json",
];
const METHODS = ["GET", "POST", "DELETE", "PUT", "HEAD", "PATCH", "OPTIONS"] as const;

/** A real request, or what is left of one. */
export function anyRequest(random: Random): HostileRequest {
  const headers: Record<string, string> = {};
  if (random() < 0.1) headers["X-Project-Id"] = pick(random, [TARGET, OWN_PROJECT, "x", "proj_"]);
  if (random() < 0.05) headers["Idempotency-Key"] = pick(random, ["k", "", "y".repeat(300)]);
  if (random() < 0.05) headers["If-None-Match"] = pick(random, ["*", '"x"', "W/"]);
  const real = anyPost(random);
  const sent = random() < 0.7;
  const path = sent ? real.path : `${pick(random, PATHS)}${anyQuery(random)}`;
  const method = sent ? "POST" : pick(random, METHODS);
  const bodyless = method === "GET" || method === "HEAD";
  return { method, path, headers, body: bodyless ? undefined : anyBody(random, real.body) };
}

function anyBody(random: Random, body: unknown): string {
  const chance = random();
  if (chance < 0.02) return nested(1 + below(random, 30_000));
  if (chance < 0.04) return pick(random, ["", "null", "[]", '"', "{", "\u0000"]);
  return chance < 0.2 ? JSON.stringify(body) : mutateJson(random, body);
}

function anyPost(random: Random): { readonly path: string; readonly body: unknown } {
  const project = random() < 0.3 ? TARGET : OWN_PROJECT;
  const variant = pick(random, ["v1", "api"]);
  const update = pick(random, HISTORY);
  const memories = [
    { key: `key ${below(random, 20)}`, value: "a value\nof lines" },
    { key: "other", value: "😀" },
  ];
  const session = {
    id: "sess_main",
    title: "a session",
    source: "test",
    started_at: "2026-01-01T10:00:00Z",
    last_activity_at: "2026-01-01T11:00:00Z",
    message_count: 1,
  };
  const posts = [
    {
      path: "/v1/memories",
      body: { content: "x", key: "k", layer: "project", project_id: project },
    },
    { path: "/api/projects", body: { id: project, name: "name", metadata: { a: [1, { b: 2 }] } } },
    {
      path: "/api/projects/connect",
      body: { project_id: OWN_PROJECT, target_project_id: project },
    },
    {
      path: `/${variant}/projects/${project}/sync`,
      body: { memories, claude_md_content: "# A\n\nb\n", metadata: { a: 1 }, sessions: [session] },
    },
    {
      path: `/${variant}/projects/${project}/sync`,
      body: { crdt: exchange(random, update, ["project", "user", "global"]) },
    },
    { path: "/api/sync", body: { crdt: exchange(random, update, ["user", "global"]) } },
    { path: "/api/sync", body: { crdt: batch(random, update) } },
  ];
  return pick(random, posts);
}

function exchange(random: Random, update: Uint8Array, layers: readonly string[]) {
  const bytes = () => {
    const chance = random();
    if (chance < 0.2) return update;
    if (chance < 0.4) return forgeAnything(random, CLIENTS);
    return mutateBytes(random, update, pick(random, HISTORY));
  };
  const base64 = () => Buffer.from(bytes()).toString("base64");
  const documents = layers.map((layer) => {
    const position = random() < 0.5 ? { epoch: "", seq: 0 } : { state_vector: base64() };
    return [layer, { ...position, update: base64() }];
  });
  return { encoding: "yjs-v1", documents: Object.fromEntries(documents) };
}

/** An exchange about several projects, of ids that are some's, nobody's, and none. */
function batch(random: Random, update: Uint8Array): unknown {
  const ids = [TARGET, OWN_PROJECT, `proj_${below(random, 20)}`, "__proto__", "constructor", ""];
  const parts = ids
    .filter(() => random() < 0.6)
    .map((id) => {
      return [id, { name: "a name", ...exchange(random, update, ["project", "user"]) }];
    });
  const layers = random() < 0.5 ? ["user"] : [];
  return { ...exchange(random, update, layers), projects: Object.fromEntries(parts) };
}

function anyQuery(random: Random): string {
  if (random() < 0.5) return "";
  const name = pick(random, ["limit", "cursor", "layer", "q", "project_id", "target_project_id"]);
  const values = [TARGET, "-1", "1e9", "%00", "%", '"', "NEAR(a b)", "a*", "x".repeat(600), "eyJ9"];
  return `?${name}=${encodeURI(pick(random, values))}`;
}
