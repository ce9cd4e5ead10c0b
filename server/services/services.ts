import type { Kysely } from "kysely";
import type { AccountId, MemoryId, ProjectId, SessionId, UserId } from "../../shared/ids.ts";
import type { Account } from "../../shared/wire/account.ts";
import type { Connection, ConnectRequest } from "../../shared/wire/connection.ts";
import type { ExchangeAnswer, ExchangeRequest } from "../../shared/wire/exchange.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import type { LiveDocument } from "../../shared/wire/live.ts";
import type { Memory, MemoryCreate } from "../../shared/wire/memory.ts";
import type { Project, ProjectPut } from "../../shared/wire/project.ts";
import type { Session } from "../../shared/wire/session.ts";
import type { Stats } from "../../shared/wire/stats.ts";
import type { SyncAnswer, SyncPayload } from "../../shared/wire/sync.ts";
import type { ServiceTables } from "../stores/tables.ts";

/**
 * The sender of a request, according to the token. Created by `authenticate` and trusted from
 * there.
 */
export interface Caller {
  readonly account: AccountId;
  readonly user: UserId;
  /** Identifies the token in tables and logs. Never the token itself. */
  readonly tokenId: string;
  readonly plan: "pro" | "team";
  readonly canWrite: boolean;
  /** The projects to which the token is restricted; null for none. */
  readonly boundTo: readonly ProjectId[] | null;
  /** When the token expires, in milliseconds since the Unix epoch; null or left out: never. */
  readonly expiresAt?: number | null | undefined;
  /**
   * Throws the 401 once the token was removed, revoked or has expired, as seen by the transaction:
   * a request may take long. A promise only where the database can't answer at once. Left out where
   * tokens don't end.
   */
  readonly assertValid?: (db: Kysely<ServiceTables>) => Promise<void> | void;
}

/** One page of a list. `total` counts all that match; `nextCursor` is null on the last page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly nextCursor: string | null;
}

/** `limit` undefined: everything that is left after `cursor`. */
export interface PageRequest {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}

/** Which memories to list, oldest first; or, with `q`, to search, best match first. */
export interface MemoryQuery extends PageRequest {
  readonly projectId: ProjectId | undefined;
  /** From the header `X-Project-Id`. */
  readonly headerProjectId: ProjectId | undefined;
  readonly layer: Layer | undefined;
  /** Full-text query, at most `LIMITS.queryBytes`. */
  readonly q: string | undefined;
}

/**
 * Identifies a request that may be repeated. It is then answered as before, if path, key and body
 * are the same within 24 hours.
 */
export interface Once {
  readonly path: string;
  /** From the header `Idempotency-Key`. */
  readonly key: string;
  /** SHA-256 of the body as it came, in hex. */
  readonly bodyHash: string;
}

/** Which sessions to list: those of one project, or all that the caller may see. */
export interface SessionQuery extends PageRequest {
  readonly projectId: ProjectId | undefined;
}

/** A project with everything that either variant shows of it. */
export interface ProjectDetails {
  readonly project: Project;
  readonly claudeMdContent: string;
  readonly memories: readonly Memory[];
  readonly connected: readonly {
    readonly id: ProjectId;
    readonly name: string;
    readonly memories: { readonly key: string; readonly value: string }[];
  }[];
}

/** How a memory is created. */
export interface CreateOptions {
  /** The project that the request's header names. */
  readonly headerProjectId?: ProjectId | undefined;
  readonly once?: Once | undefined;
}

/** What a plain sync writes. */
export interface PlainSync {
  readonly payload: SyncPayload;
  /** Variant A makes an unknown project, variant B refuses with 404. */
  readonly createMissing: boolean;
  readonly once?: Once | undefined;
}

/** How to exchange a project that the account does not have. */
export interface ExchangeOptions {
  /** Create it; otherwise refuse it with a 404. */
  readonly createMissing: boolean;
  /** Its name in that case; its id when left out. */
  readonly name?: string | undefined;
}

/** The input of a replica exchange. */
export interface ProjectExchange extends ExchangeRequest, ExchangeOptions {}

/**
 * Everything that routes can ask for: the operations of the published interface and its extensions,
 * on parsed requests. Every method refuses with an `AppError`, with nothing changed. A write that
 * resolves is durable. The hosted server, the emulator and the daemon's gateway implement it. With
 * a `once`, a repeated request is answered as before.
 *
 * ```
 * const page = await services.memories.list(caller, query);
 * ```
 */
export interface Services {
  readonly memories: {
    list(caller: Caller, query: MemoryQuery): Promise<Page<Memory>>;
    create(caller: Caller, request: MemoryCreate, options?: CreateOptions): Promise<Memory>;
    remove(caller: Caller, id: MemoryId): Promise<void>;
  };
  readonly projects: {
    list(caller: Caller, page: PageRequest): Promise<Page<Project>>;
    get(caller: Caller, id: ProjectId): Promise<ProjectDetails>;
    put(
      caller: Caller,
      request: ProjectPut,
      once?: Once,
    ): Promise<Project & { readonly created: boolean }>;
    /** Deletes the project with its contents, from every replica. */
    remove(caller: Caller, id: ProjectId): Promise<void>;
  };
  readonly sync: {
    /** The merged state without a sync: variant A's answer to an empty body. */
    read(caller: Caller, id: ProjectId, once?: Once): Promise<SyncAnswer>;
    apply(caller: Caller, id: ProjectId, asked: PlainSync): Promise<SyncAnswer>;
    /** Replica exchange. `id` null: only `user` and `global` (`POST /api/sync`). */
    exchange(caller: Caller, id: ProjectId | null, asked: ProjectExchange): Promise<ExchangeAnswer>;
  };
  readonly connections: {
    connect(caller: Caller, request: ConnectRequest, once?: Once): Promise<Connection>;
    disconnect(caller: Caller, request: ConnectRequest): Promise<Connection>;
  };
  readonly sessions: {
    list(caller: Caller, query: SessionQuery): Promise<Page<Session>>;
    get(caller: Caller, id: SessionId): Promise<Session>;
  };
  readonly stats: {
    get(caller: Caller): Promise<Stats>;
  };
  readonly account: {
    /** The caller's own account, whatever the token is restricted to. */
    get(caller: Caller): Promise<Account>;
  };
  readonly live: {
    /** Positions of the named projects, `user` and `global`, as far as the caller may read them. */
    positions(caller: Caller, projects: readonly ProjectId[]): Promise<readonly LivePosition[]>;
    /** Calls back after each commit to the account. Returns a function that ends this. */
    onChange(account: AccountId, listener: (change: LiveChange) => void): () => void;
  };
}

/** The number of requests, for statistics. */
export interface RequestUsage {
  /** For the caller's account. */
  read(caller: Caller): Promise<Stats["requests"]>;
}

/** A document as the live socket names it, with its log's newest position. */
export interface LivePosition {
  readonly document: LiveDocument;
  /** The project's id for `project`; null otherwise. */
  readonly projectId: ProjectId | null;
  /** The owner of a `user` document; null otherwise. Never sent to clients. */
  readonly user: UserId | null;
  readonly epoch: string;
  readonly seq: number;
}

/** One committed row of a document's log, with its position. */
export interface LiveChange extends LivePosition {
  /** The committed row's Yjs update (v1). */
  readonly update: Uint8Array;
}
