import type {
  Caller,
  LiveChange,
  LivePosition,
  Page,
  Services,
} from "../../server/services/services.ts";
import {
  asAccountId,
  type MemoryId,
  type ProjectId,
  type SessionId,
  type UserId,
} from "../../shared/ids.ts";
import type { ExchangeAnswer } from "../../shared/wire/exchange.ts";
import type { Memory } from "../../shared/wire/memory.ts";
import type { Project } from "../../shared/wire/project.ts";
import type { Session } from "../../shared/wire/session.ts";
import { projectId } from "./project-id.ts";

export const PROJECT = projectId("one");
export const OTHER_PROJECT = projectId("two");
const AT = "2026-01-02T03:04:05.678Z";

export const MEMORY: Memory = {
  id: "mem_one" as MemoryId,
  content: "use tabs",
  layer: "project",
  created_at: AT,
  project_id: PROJECT,
  key: "style",
  updated_at: AT,
};

export const PROJECT_RECORD: Project = {
  id: PROJECT,
  name: "One",
  metadata: { language: "TypeScript" },
  memory_count: 1,
  connected_project_ids: [],
  created_at: AT,
  updated_at: AT,
  last_synced_at: null,
};

export const SESSION: Session = {
  id: "sess_one" as SessionId,
  project_id: PROJECT,
  title: null,
  source: "test",
  started_at: AT,
  last_activity_at: AT,
  ended_at: null,
  message_count: 3,
  model: null,
  git_branch: null,
  machine: null,
};

/** Bearer tokens that `fakeAuthenticate` knows. */
export const CALLERS = {
  write: caller({}),
  read: caller({ canWrite: false }),
  bound: caller({ boundTo: [PROJECT] }),
  colleague: caller({ user: "user_two" as UserId }),
} as const;

function caller(changes: Partial<Caller>): Caller {
  return {
    account: asAccountId("acct_one"),
    user: "user_one" as UserId,
    tokenId: "tok_one",
    plan: "pro",
    canWrite: true,
    boundTo: null,
    ...changes,
  };
}

export function fakeAuthenticate(header: string | null): Caller | undefined {
  const name = header?.replace(/^Bearer /, "") ?? "";
  return Object.hasOwn(CALLERS, name) ? CALLERS[name as keyof typeof CALLERS] : undefined;
}

export interface FakeServices {
  readonly services: Services;
  /** Every call of an operation: its name, then what it was given after the caller. */
  readonly calls: readonly (readonly unknown[])[];
  /** How many listen for changes. */
  listeners(): number;
  /** Tells all listeners of a commit. */
  commit(change: LiveChange): void;
  /** Makes an operation behave otherwise. */
  on(name: string, behave: () => Promise<unknown>): void;
}

/** Services that answer with fixed records and remember what they were asked. */
export function createFakeServices(): FakeServices {
  const calls: unknown[][] = [];
  const overrides = new Map<string, () => Promise<unknown>>();
  const listeners = new Set<(change: LiveChange) => void>();

  function operation<Result>(name: string, result: Result) {
    return async (_caller: Caller, ...given: unknown[]): Promise<Result> => {
      calls.push([name, ...given]);
      const override = overrides.get(name);
      return override === undefined ? result : ((await override()) as Result);
    };
  }

  const services: Services = {
    memories: {
      list: operation("memories.list", pageOf(MEMORY)),
      create: operation("memories.create", MEMORY),
      remove: operation("memories.remove", undefined),
    },
    projects: {
      list: operation("projects.list", pageOf(PROJECT_RECORD)),
      get: operation("projects.get", {
        project: PROJECT_RECORD,
        claudeMdContent: "# One\n",
        memories: [MEMORY],
        connected: [
          { id: OTHER_PROJECT, name: "Two", memories: [{ key: "style", value: "use spaces" }] },
        ],
      }),
      put: operation("projects.put", { ...PROJECT_RECORD, created: true }),
      remove: operation("projects.remove", undefined),
    },
    sync: {
      read: operation("sync.read", syncAnswer()),
      apply: operation("sync.apply", syncAnswer()),
      exchange: operation("sync.exchange", exchangeAnswer()),
    },
    connections: {
      connect: operation("connections.connect", connection(true)),
      disconnect: operation("connections.disconnect", connection(false)),
    },
    sessions: {
      list: operation("sessions.list", pageOf(SESSION)),
      get: operation("sessions.get", SESSION),
    },
    account: {
      get: operation("account.get", { name: "one", plan: "pro" as const, users: 1, user: "ann" }),
    },
    stats: { get: operation("stats.get", stats()) },
    live: {
      positions: operation("live.positions", [
        { document: "project", projectId: PROJECT, user: null, epoch: "e", seq: 7 },
        { document: "global", projectId: null, user: null, epoch: "", seq: 0 },
      ] satisfies LivePosition[]),
      onChange(_account, listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  };

  return {
    services,
    calls,
    listeners: () => listeners.size,
    commit: (change) => {
      for (const listener of listeners) listener(change);
    },
    on: (name, behave) => overrides.set(name, behave),
  };
}

function pageOf<Item>(item: Item): Page<Item> {
  return { items: [item], total: 1, nextCursor: null };
}

function syncAnswer() {
  return {
    project_id: PROJECT,
    synced_at: AT,
    claude_md_content: "# One\n",
    memories: [{ key: "style", value: "use tabs" }],
    metadata: {},
    changes: { created: 1, updated: 0, unchanged: 0 },
  };
}

function exchangeAnswer(): ExchangeAnswer {
  return {
    documents: {
      project: { epoch: "e", seq: 7, update: new Uint8Array([1, 2, 3]) },
      user: { forbidden: true },
      global: { refused: { message: "too large" } },
    },
  };
}

function connection(connected: boolean) {
  const project_ids: [ProjectId, ProjectId] = [PROJECT, OTHER_PROJECT];
  return { project_ids, connected, created_at: AT };
}

function stats() {
  const unlimited = { limit: null, used: 1, remaining: null, resets_at: null };
  return {
    plan: "pro" as const,
    projects: 1,
    connections: 0,
    memories: { total: 1, project: 1, user: 0, global: 0 },
    sessions: 1,
    storage_bytes: 10,
    syncs: { total: 0, last_synced_at: null },
    requests: { minute: unlimited, day: unlimited },
  };
}
