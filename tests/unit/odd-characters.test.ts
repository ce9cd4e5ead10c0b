import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Y from "yjs";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { openHost } from "../support/postgres-host.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-odd-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SYNC = "/v1/projects/proj_a/sync";

let written = 0;

/** The next number for each, and the same for both databases. */
function newDocument(): Y.Doc {
  const document = new Y.Doc();
  written += 1;
  document.clientID = written;
  return document;
}

/** An update by which a document has one entry more. */
function entry(kind: "memories" | "metadata", key: string, value: unknown): string {
  const document = newDocument();
  document
    .getArray(`${kind}/${document.clientID}`)
    .push([{ key, value, created_at: 1795230222813, updated_at: 1795230222850 }]);
  return Buffer.from(Y.encodeStateAsUpdate(document)).toString("base64");
}

function text(content: string): string {
  const document = newDocument();
  document.getText("claude_md").insert(0, content);
  return Buffer.from(Y.encodeStateAsUpdate(document)).toString("base64");
}

const exchange = (update: string) => ({
  crdt: { encoding: "yjs-v1", documents: { project: { update } } },
});

const session = (fields: object) => ({
  crdt: { encoding: "yjs-v1", documents: {} },
  sessions: [
    {
      id: "sess_a",
      source: "claude-code",
      started_at: "2026-01-01T00:00:00.000Z",
      last_activity_at: "2026-01-01T00:00:00.000Z",
      message_count: 1,
      ...fields,
    },
  ],
});

const TEXTS_OF_SESSIONS = ["id", "source", "title", "model", "git_branch", "machine"];

/** Requests with a character in each of their texts. */
const requests = (odd: string): readonly (readonly [string, string, object?])[] => [
  ["POST", "/api/projects", { name: odd }],
  ["POST", "/api/projects", { id: `proj_${odd}` }],
  ["POST", SYNC, { claude_md_content: odd }],
  ["POST", SYNC, { memories: [{ key: `k${odd}`, value: "v" }] }],
  ["POST", SYNC, { memories: [{ key: "k", value: odd }] }],
  ["POST", SYNC, { metadata: { [`m${odd}`]: 1 } }],
  ["POST", SYNC, { metadata: { deep: [{ [odd]: odd }] } }],
  ["POST", "/v1/memories", { content: odd, layer: "global", key: "c" }],
  ["POST", "/v1/memories", { content: "c", layer: "user", key: `u${odd}` }],
  ["POST", "/v1/memories", { content: "c", layer: odd }],
  ["POST", "/v1/memories", { content: "c", project_id: `proj_${odd}` }],
  ["POST", "/api/projects/connect", { project_id: "proj_a", target_project_id: `proj_${odd}` }],
  ["POST", SYNC, exchange(entry("memories", `e${odd}`, "v"))],
  ["POST", SYNC, exchange(entry("memories", "e", odd))],
  ["POST", SYNC, exchange(entry("metadata", `e${odd}`, 1))],
  ["POST", SYNC, exchange(entry("metadata", "e", { [odd]: odd }))],
  ["POST", SYNC, exchange(text(odd))],
  ...TEXTS_OF_SESSIONS.map((name) => {
    return ["POST", SYNC, session({ [name]: name === "id" ? `sess_${odd}` : odd })] as const;
  }),
  ...["q", "project_id", "layer", "cursor", "limit"].map((name) => {
    return ["GET", `/v1/memories?${name}=${encodeURIComponent(odd.toWellFormed())}`] as const;
  }),
  [
    "GET",
    `/v1/memories?cursor=${Buffer.from(JSON.stringify(["memories", 1, odd])).toString("base64url")}`,
  ],
  [
    "GET",
    `/v1/memories?q=a&cursor=${Buffer.from(JSON.stringify(["found", 1, odd])).toString("base64url")}`,
  ],
  [
    "GET",
    `/api/projects?cursor=${Buffer.from(JSON.stringify(["projects", 1, odd])).toString("base64url")}`,
  ],
  [
    "GET",
    `/v1/sessions?cursor=${Buffer.from(JSON.stringify(["sessions", 1, odd])).toString("base64url")}`,
  ],
  ["GET", `/v1/sessions?project_id=${encodeURIComponent(odd.toWellFormed())}`],
  ["GET", `/v1/sessions/sess_${encodeURIComponent(odd.toWellFormed())}`],
  ["GET", `/v1/projects/proj_${encodeURIComponent(odd.toWellFormed())}`],
  ["DELETE", `/v1/memories/mem_${encodeURIComponent(odd.toWellFormed())}`],
  ["GET", "/api/projects/proj_a"],
  ["GET", "/v1/memories?project_id=proj_a"],
  ["GET", "/v1/sessions"],
];

/** What is answered, but for what is of the moment or drawn. */
async function answersOf(path: string, asked: ReturnType<typeof requests>) {
  await using host = await openHost(path);
  await host.ask("/api/projects", { id: "proj_a", name: "A" });
  const answers: unknown[] = [];
  for (const [method, at, body] of asked) {
    const response = await host.app.fetch(
      new Request(`http://127.0.0.1${at}`, {
        method,
        headers: { authorization: `Bearer ${host.token}` },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    const answer = await response.text();
    answers.push([method, at, body, response.status, answer.replace(OF_THE_MOMENT, "")]);
  }
  return { answers, logged: host.logged };
}

const OF_THE_MOMENT =
  /"(request_id|epoch|state_vector|id|\w+_at|seq|update)":("[^"]*"|\d+)|\d{4}-[-\d]+T[:.\d]+Z/g;

for (const [name, odd] of [
  ["a NUL", "\0"],
  ["half of a character", "\ud800"],
  ["a byte order mark", "\ufeff"],
  ["a character beyond 16 bits", "\u{10ffff}"],
] as const) {
  test(`${name} in any text is answered the same on both databases`, async () => {
    const asked = requests(odd);
    const file = await answersOf(join(folder, `${odd.codePointAt(0)}.db`), asked);
    const shared = await answersOf(await (await postgresCluster()).createDatabase(), asked);
    expect(shared).toEqual(file);
    expect(shared.logged).toEqual([]);
  });
}
