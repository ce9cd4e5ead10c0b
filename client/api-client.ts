import { type Calls, pathWith } from "./calls.ts";
import { itemsOf, type PageQuery } from "./pages.ts";
import type { CallOptions } from "./transport.ts";
import type {
  Account,
  Batch,
  BatchAnswer,
  ConnectAnswer,
  ConnectRequest,
  Exchange,
  ExchangeAnswer,
  Project,
  ProjectDeleted,
  ProjectList,
  ProjectPut,
  ProjectPutAnswer,
  ProjectWithMemories,
  Stats,
  Sync,
  SyncAnswer,
} from "./wire.ts";

/** Variant B. Its iterator fetches pages of 100, or of `limit`, as it goes. */
export class ApiClient {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  listProjects(query: PageQuery = {}, options?: CallOptions): Promise<ProjectList> {
    return this.#calls.get("/api/projects", options, { query });
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

  /** Creates or updates the project of this `id`, or without one of exactly this `name`. */
  putProject(project: ProjectPut, options?: CallOptions): Promise<ProjectPutAnswer> {
    return this.#calls.post("/api/projects", project, { options });
  }

  getProject(id: string, options?: CallOptions): Promise<ProjectWithMemories> {
    return this.#calls.get(pathWith("/api/projects", id), options);
  }

  /** Deletes a project with its contents, from every replica. */
  deleteProject(id: string, options?: CallOptions): Promise<ProjectDeleted> {
    return this.#calls.delete(pathWith("/api/projects", id), options);
  }

  /** Writes `sync` and returns the project as it is then. */
  syncProject(id: string, sync: Sync, options?: CallOptions): Promise<SyncAnswer> {
    return this.#calls.post(pathWith("/api/projects", id, "/sync"), sync, { options });
  }

  exchangeProject(id: string, exchange: Exchange, options?: CallOptions): Promise<ExchangeAnswer> {
    return this.#calls.exchange(pathWith("/api/projects", id, "/sync"), exchange, options);
  }

  /** A replica exchange of `user` and `global`, and of up to 50 projects by their ids. */
  syncAccount(batch: Batch, options?: CallOptions): Promise<BatchAnswer> {
    return this.#calls.exchange("/api/sync", batch, options);
  }

  connectProjects(projects: ConnectRequest, options?: CallOptions): Promise<ConnectAnswer> {
    return this.#calls.post("/api/projects/connect", projects, { options });
  }

  disconnectProjects(projects: ConnectRequest, options?: CallOptions): Promise<ConnectAnswer> {
    return this.#calls.delete("/api/projects/connect", options, projects);
  }

  getStats(options?: CallOptions): Promise<Stats> {
    return this.#calls.get("/api/projects/stats", options);
  }

  /** Who shares the memories of the layer `global`; a service may have no such call. */
  getAccount(options?: CallOptions): Promise<Account> {
    return this.#calls.get("/api/account", options);
  }
}
