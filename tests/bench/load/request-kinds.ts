/** Requests of one kind: the path and body of each, by its number. */
export interface KindOfRequest {
  readonly name: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: (at: number) => string;
  readonly body?: (at: number) => object;
}

const PROJECT = "proj_sized";
const OTHER = "proj_other";
/** Memories and sessions have so many names, and are written again and again. */
const DIFFERENT = 10;

const keyOf = (at: number) => `kind-${at % DIFFERENT}`;

/** What is asked besides pushes and polls, of one account with two projects. */
export const KINDS: readonly KindOfRequest[] = [
  {
    name: "make or update a project (`POST /api/projects`)",
    method: "POST",
    path: () => "/api/projects",
    body: (at) => ({ id: OTHER, metadata: { turn: at } }),
  },
  {
    name: "write a memory by REST",
    method: "POST",
    path: () => "/v1/memories",
    body: (at) => ({ project_id: OTHER, key: keyOf(at), content: `Decision ${at}` }),
  },
  {
    name: "sync by REST: a memory, a text, metadata",
    method: "POST",
    path: () => `/v1/projects/${OTHER}/sync`,
    body: (at) => ({
      claude_md_content: `# Turn ${at}\n`,
      memories: [{ key: keyOf(at), value: `Decision ${at} by sync` }],
      metadata: { turn: -at },
    }),
  },
  {
    name: "tell of a session",
    method: "POST",
    path: () => `/v1/projects/${OTHER}/sync`,
    body: (at) => ({
      sessions: [
        {
          id: `sess_${at % DIFFERENT}`,
          source: "claude-code",
          started_at: "2026-01-02T03:04:05.678Z",
          last_activity_at: new Date(Date.UTC(2026, 0, 2) + at).toISOString(),
          message_count: at,
        },
      ],
    }),
  },
  { name: "list memories", method: "GET", path: () => `/v1/memories?project_id=${OTHER}` },
  {
    name: "search memories",
    method: "GET",
    path: (at) => `/v1/memories?project_id=${OTHER}&q=decision+${at}`,
  },
  { name: "list projects", method: "GET", path: () => "/v1/projects" },
  { name: "read a project (`/api`)", method: "GET", path: () => `/api/projects/${OTHER}` },
  {
    name: "list sessions",
    method: "GET",
    path: () => `/v1/sessions?project_id=${OTHER}`,
  },
  { name: "read a session", method: "GET", path: (at) => `/v1/sessions/sess_${at % DIFFERENT}` },
  {
    name: "connect two projects",
    method: "POST",
    path: () => "/api/projects/connect",
    body: () => ({ project_id: PROJECT, target_project_id: OTHER }),
  },
  { name: "statistics", method: "GET", path: () => "/api/projects/stats" },
  { name: "the account", method: "GET", path: () => "/api/account" },
];
