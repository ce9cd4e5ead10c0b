import { type Calls, pathWith } from "./calls.ts";
import { itemsOf, type PageQuery } from "./pages.ts";
import type { CallOptions } from "./transport.ts";
import type {
  Exchange,
  ExchangeAnswer,
  Layer,
  Memory,
  MemoryCreate,
  MemoryDeleted,
  MemoryList,
  Project,
  ProjectList,
  ProjectWithText,
  Session,
  SessionList,
  Sync,
  SyncAnswer,
} from "./wire.ts";

/** Which memories: without `layer` the current project's, the user's and the account's. */
export interface MemoryQuery {
  /** The current project. */
  readonly project_id?: string;
  readonly layer?: Layer;
  /** Full-text search, the best match first. */
  readonly q?: string;
}

/** Which sessions: one project's, or all. */
export interface SessionQuery {
  readonly project_id?: string;
}

/** Variant A. Its iterators fetch pages of 100, or of `limit`, as they go. */
export class V1Client {
  readonly #calls: Calls;
  /** Names the current project, for calls that name none. */
  readonly #headers: Readonly<Record<string, string>>;

  constructor(calls: Calls, projectId: string | undefined) {
    this.#calls = calls;
    this.#headers = projectId === undefined ? {} : { "X-Project-Id": projectId };
  }

  listMemories(query: MemoryQuery & PageQuery = {}, options?: CallOptions): Promise<MemoryList> {
    return this.#calls.get("/v1/memories", options, { query, headers: this.#headers });
  }

  memories(
    query: MemoryQuery & Pick<PageQuery, "limit"> = {},
    options?: CallOptions,
  ): AsyncGenerator<Memory, void, undefined> {
    return itemsOf(
      query,
      (page) => this.listMemories({ ...query, ...page }, options),
      ({ memories }) => memories,
    );
  }

  /**
   * Creates a memory, or updates the one with its `key`. Without a key it gets a random one here,
   * so that repeating the call after a lost answer creates no second memory.
   */
  createMemory(memory: MemoryCreate, options?: CallOptions): Promise<Memory> {
    const keyed = { ...memory, key: memory.key ?? `note-${this.#calls.randomText()}` };
    return this.#calls.post("/v1/memories", keyed, { options, headers: this.#headers });
  }

  deleteMemory(id: string, options?: CallOptions): Promise<MemoryDeleted> {
    return this.#calls.delete(pathWith("/v1/memories", id), options);
  }

  listProjects(query: PageQuery = {}, options?: CallOptions): Promise<ProjectList> {
    return this.#calls.get("/v1/projects", options, { query });
  }

  projects(
    query: Pick<PageQuery, "limit"> = {},
    options?: CallOptions,
  ): AsyncGenerator<Project, void, undefined> {
    return itemsOf(
      query,
      (page) => this.listProjects({ ...query, ...page }, options),
      ({ projects }) => projects,
    );
  }

  getProject(id: string, options?: CallOptions): Promise<ProjectWithText> {
    return this.#calls.get(pathWith("/v1/projects", id), options);
  }

  /** Writes `sync` and returns the project as it is then. Without `sync` it only reads. */
  syncProject(id: string, sync?: Sync, options?: CallOptions): Promise<SyncAnswer> {
    const path = pathWith("/v1/projects", id, "/sync");
    if (sync === undefined) return this.#calls.exchange(path, undefined, options);
    return this.#calls.post(path, sync, { options });
  }

  exchangeProject(id: string, exchange: Exchange, options?: CallOptions): Promise<ExchangeAnswer> {
    return this.#calls.exchange(pathWith("/v1/projects", id, "/sync"), exchange, options);
  }

  listSessions(query: SessionQuery & PageQuery = {}, options?: CallOptions): Promise<SessionList> {
    return this.#calls.get("/v1/sessions", options, { query });
  }

  sessions(
    query: SessionQuery & Pick<PageQuery, "limit"> = {},
    options?: CallOptions,
  ): AsyncGenerator<Session, void, undefined> {
    return itemsOf(
      query,
      (page) => this.listSessions({ ...query, ...page }, options),
      ({ sessions }) => sessions,
    );
  }

  getSession(id: string, options?: CallOptions): Promise<Session> {
    return this.#calls.get(pathWith("/v1/sessions", id), options);
  }
}
