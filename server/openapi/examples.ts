import type { Static } from "@sinclair/typebox";
import { memoryIdOf, type SessionId } from "../../shared/ids.ts";
import type { Account } from "../../shared/wire/account.ts";
import type { BatchAnswerBody, BatchBody } from "../../shared/wire/batch.ts";
import type { ConnectAnswer, ConnectBody } from "../../shared/wire/connection.ts";
import type { ExchangeAnswerBody, ExchangeBody } from "../../shared/wire/exchange.ts";
import type {
  Memory,
  MemoryCreateBody,
  MemoryDeleted,
  MemoryList,
} from "../../shared/wire/memory.ts";
import type {
  Project,
  ProjectDeleted,
  ProjectList,
  ProjectPutAnswer,
  ProjectPutBody,
  ProjectWithMemories,
  ProjectWithText,
} from "../../shared/wire/project.ts";
import { existingProjectId } from "../../shared/wire/project-id.ts";
import type { Session, SessionBody, SessionList } from "../../shared/wire/session.ts";
import type { Stats } from "../../shared/wire/stats.ts";
import type { SyncAnswer, SyncBody } from "../../shared/wire/sync.ts";

// One account's story, so that the examples fit together: two projects, three memories, a session.

const WIDGET = existingProjectId("proj_widget");
const SHOP = existingProjectId("proj_shop");
const EPOCH = "8uLBcyGr_FUmg8jOpObqHg";
const UPDATE =
  "AQHNjKCWCQAIARNtZW1vcmllcy8yNDYyNTgyMzQ5AXYEA2tleXcVbm90ZS1yNzV4M3Z5Z2d2b2R4ZmV5BXZhbHVldw" +
  "xQcmVmZXJzIHRhYnMKY3JlYXRlZF9hdHtCeh/J4LNwAAp1cGRhdGVkX2F0e0J6H8ngs3AAAA==";

export const memory: Memory = {
  id: memoryIdOf(WIDGET, "build"),
  content: "npm run build",
  layer: "project",
  created_at: "2026-11-21T05:39:38.421Z",
  project_id: WIDGET,
  key: "build",
  updated_at: "2026-11-21T05:39:38.421Z",
};

export const userMemory: Memory = {
  id: memoryIdOf("user", "note-r75x3vyggvodxfey"),
  content: "Prefers tabs",
  layer: "user",
  created_at: "2026-11-21T05:39:38.423Z",
  project_id: null,
  key: "note-r75x3vyggvodxfey",
  updated_at: "2026-11-21T05:39:38.423Z",
};

export const memoryPage: MemoryList = {
  memories: [memory],
  total: 2,
  next_cursor: "WyJtZW1vcmllcyIsMTc5NTIzOTU3ODQyMSwiMSJd",
};

export const memoryCreate: Static<typeof MemoryCreateBody> = {
  content: "npm run build",
  project_id: WIDGET,
  key: "build",
};

export const userMemoryCreate: Static<typeof MemoryCreateBody> = {
  content: "Prefers tabs",
  layer: "user",
};

export const memoryDeleted: MemoryDeleted = { id: memory.id, deleted: true };

const shop: Project = {
  id: SHOP,
  name: "proj_shop",
  metadata: { framework: "Elysia", language: "TypeScript" },
  memory_count: 2,
  connected_project_ids: [WIDGET],
  created_at: "2026-11-21T05:39:38.428Z",
  updated_at: "2026-11-21T05:39:38.428Z",
  last_synced_at: "2026-11-21T05:39:38.433Z",
};

const widget: Project = {
  id: WIDGET,
  name: "Widget",
  metadata: { language: "TypeScript" },
  memory_count: 1,
  connected_project_ids: [SHOP],
  created_at: "2026-11-21T05:39:38.412Z",
  updated_at: "2026-11-21T05:39:38.421Z",
  last_synced_at: null,
};

const SHOP_MEMORIES = [
  { key: "build", value: "npm run build" },
  { key: "db", value: "SQLite" },
];

export const projectList: ProjectList = { projects: [widget, shop], total: 2, next_cursor: null };

export const projectWithText: ProjectWithText = {
  ...shop,
  claude_md_content: "# Shop\n\nUse npm.\n",
};

export const projectWithMemories: ProjectWithMemories = {
  ...widget,
  claude_md_content: "",
  memories: [
    {
      key: "build",
      value: memory.content,
      id: memory.id,
      created_at: memory.created_at,
      updated_at: memory.updated_at,
    },
  ],
  connected_projects: [{ id: SHOP, name: shop.name, memories: SHOP_MEMORIES }],
};

export const projectDeleted: ProjectDeleted = { id: WIDGET, deleted: true };

export const projectPut: Static<typeof ProjectPutBody> = {
  id: WIDGET,
  name: "Widget",
  metadata: { language: "TypeScript" },
};

export const projectPutByName: Static<typeof ProjectPutBody> = {
  name: "Widget",
  claude_md_content: "# Widget\n",
};

export const projectPutAnswer: ProjectPutAnswer = {
  ...widget,
  memory_count: 0,
  connected_project_ids: [],
  updated_at: widget.created_at,
  created: true,
};

export const sync: Static<typeof SyncBody> = {
  claude_md_content: projectWithText.claude_md_content,
  memories: SHOP_MEMORIES,
  metadata: { language: "TypeScript", framework: "Elysia" },
};

const sessionUpload: Static<typeof SessionBody> = {
  // It has the form that `parseSessionId` asks for.
  id: "sess_7f3a" as SessionId,
  source: "claude-code",
  title: "Fix the login",
  git_branch: "main",
  started_at: "2026-05-04T09:00:00+02:00",
  last_activity_at: "2026-05-04T09:42:10Z",
  message_count: 18,
};

export const syncOfSession: Static<typeof SyncBody> = { sessions: [sessionUpload] };

export const syncAnswer: SyncAnswer = {
  project_id: SHOP,
  synced_at: shop.created_at,
  claude_md_content: projectWithText.claude_md_content,
  memories: SHOP_MEMORIES,
  metadata: shop.metadata,
  changes: { created: 2, updated: 0, unchanged: 0 },
};

export const firstContact: Static<typeof ExchangeBody> = {
  crdt: { encoding: "yjs-v1", documents: { project: {}, user: {}, global: {} } },
};

export const nextExchange: Static<typeof ExchangeBody> = {
  crdt: {
    encoding: "yjs-v1",
    documents: { project: { epoch: EPOCH, seq: 2 }, user: { update: UPDATE } },
  },
};

export const exchangeAnswer: Static<typeof ExchangeAnswerBody> = {
  crdt: {
    encoding: "yjs-v1",
    documents: {
      project: { epoch: EPOCH, seq: 2 },
      user: { epoch: EPOCH, seq: 1, update: UPDATE },
      global: { epoch: "", seq: 0 },
    },
  },
};

export const exchangeTrouble: Static<typeof ExchangeAnswerBody> = {
  crdt: {
    encoding: "yjs-v1",
    documents: {
      project: { epoch: EPOCH, seq: 2, reset: true, state_vector: "Ac2MoJYJAw==" },
      user: { forbidden: true },
      global: {
        refused: { message: "it does not decode as a Yjs update (v1): Unexpected end of array" },
      },
    },
  },
};

export const accountExchange: Static<typeof BatchBody> = {
  crdt: { encoding: "yjs-v1", documents: { user: {}, global: {} } },
};

export const accountExchangeAnswer: Static<typeof BatchAnswerBody> = {
  crdt: {
    encoding: "yjs-v1",
    documents: {
      user: { epoch: EPOCH, seq: 1, update: UPDATE },
      global: { epoch: "", seq: 0 },
    },
  },
};

export const batch: Static<typeof BatchBody> = {
  crdt: {
    encoding: "yjs-v1",
    documents: {},
    projects: {
      [WIDGET]: { documents: { project: { epoch: EPOCH, seq: 1 } } },
      [SHOP]: { name: "shop", documents: { project: {} } },
    },
  },
};

export const batchAnswer: Static<typeof BatchAnswerBody> = {
  crdt: {
    encoding: "yjs-v1",
    documents: {},
    projects: {
      [WIDGET]: { documents: { project: { epoch: EPOCH, seq: 2, update: UPDATE } } },
      [SHOP]: {
        error: {
          code: "forbidden",
          message: "this token is bound to projects and reaches nothing else: use one that is not",
          request_id: "req_4ihjn2tqmxe6w7ra",
        },
      },
    },
  },
};

export const connectRequest: Static<typeof ConnectBody> = {
  project_id: WIDGET,
  target_project_id: SHOP,
};

export const connected: ConnectAnswer = {
  connection: {
    project_ids: [WIDGET, SHOP],
    connected: true,
    created_at: "2026-11-21T05:39:38.434Z",
  },
};

export const disconnected: ConnectAnswer = {
  connection: { ...connected.connection, connected: false },
};

export const session: Session = {
  id: sessionUpload.id,
  project_id: SHOP,
  title: "Fix the login",
  source: "claude-code",
  started_at: "2026-05-04T07:00:00.000Z",
  last_activity_at: "2026-05-04T09:42:10.000Z",
  ended_at: null,
  message_count: 18,
  model: null,
  git_branch: "main",
  machine: null,
};

export const sessionList: SessionList = { sessions: [session], total: 1, next_cursor: null };

export const stats: Stats = {
  plan: "pro",
  projects: 2,
  connections: 1,
  memories: { total: 4, project: 3, user: 1, global: 0 },
  sessions: 1,
  storage_bytes: 151,
  syncs: { total: 2, last_synced_at: shop.last_synced_at },
  requests: {
    minute: { limit: 60, used: 10, remaining: 50, resets_at: "2026-11-21T05:40:38.439Z" },
    day: { limit: 10_000, used: 10, remaining: 9_990, resets_at: "2026-11-22T00:00:00.000Z" },
  },
};

export const account: Account = {
  name: "acme",
  plan: "team",
  users: 3,
  user: "ann",
  token_expires_at: "2027-02-28T23:59:59.999Z",
};
