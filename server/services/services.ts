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

/** Who sends a request, as the token says. Made by `authenticate`, trusted from there on. */
export interface Caller {
  readonly account: AccountId;
  readonly user: UserId;
  /** Names the token in tables and logs; never the token itself. */
  readonly tokenId: string;
  readonly plan: "pro" | "team";
  readonly canWrite: boolean;
  /** The projects that the token is bound to; null when it is bound to none. */
  readonly boundTo: readonly ProjectId[] | null;
  /**
   * Throws the 401 once the token is removed, revoked or expired, by what a transaction sees: a
   * request may be under way for long. Left out where tokens don't end.
   */
  readonly assertValid?: (db: Kysely<ServiceTables>) => void;
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

/** Which memories to list, oldest first, or with `q` to search, best match first. */
export interface MemoryQuery extends PageRequest {
  readonly projectId: ProjectId | undefined;
  /** From the header `X-Project-Id`. */
  readonly headerProjectId: ProjectId | undefined;
  readonly layer: Layer | undefined;
  /** Full-text query, at most `LIMITS.queryBytes`. */
  readonly q: string | undefined;
}

/**
 * A request that may come again, and is then answered as before: the same path, key and body within
 * 24 hours.
 */
export interface Once {
  readonly path: string;
  /** From the header `Idempotency-Key`. */
  readonly key: string;
  /** SHA-256 of the body as it came, in hex. */
  readonly bodyHash: string;
}

/** Which sessions to list: one project's, or all that the caller may see. */
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
    readonly memories: readonly { readonly key: string; readonly value: string }[];
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

/** How a project is exchanged that the account does not have. */
export interface ExchangeOptions {
  /** It is made, instead of being refused with 404. */
  readonly createMissing: boolean;
  /** What it is called then; its id when left out. */
  readonly name?: string | undefined;
}

/** What a replica exchange takes, and how an unknown project is met. */
export interface ProjectExchange extends ExchangeRequest, ExchangeOptions {}

/**
 * What the routes can ask for: each operation of the published interface and its extensions, on
 * parsed requests. Every method refuses with an `AppError` and has then changed nothing; a write
 * that resolves is durable. The hosted server, the emulator and the daemon's gateway each give an
 * implementation. Given a `once`, a method answers the same request as it did before, if it did.
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
    /** Deletes the project with all that is in it, wherever it is synced to. */
    remove(caller: Caller, id: ProjectId): Promise<void>;
  };
  readonly sync: {
    /** The merged state without a sync: what variant A answers to an empty body. */
    read(caller: Caller, id: ProjectId, once?: Once): Promise<SyncAnswer>;
    apply(caller: Caller, id: ProjectId, asked: PlainSync): Promise<SyncAnswer>;
    /** Replica exchange. `id` null: `user` and `global` alone (`POST /api/sync`). */
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
    /** The caller's own account and no other, whatever the token is bound to. */
    get(caller: Caller): Promise<Account>;
  };
  readonly live: {
    /** Positions of the asked projects, `user` and `global`, as far as the caller may read them. */
    positions(caller: Caller, projects: readonly ProjectId[]): Promise<readonly LivePosition[]>;
    /** Calls back after each commit to anything of the account; returns how to stop. */
    onChange(account: AccountId, listener: (change: LiveChange) => void): () => void;
  };
}

/** Who counts requests, for the statistics. */
export interface RequestUsage {
  /** The caller's account's. */
  read(caller: Caller): Promise<Stats["requests"]>;
}

/** A document as the live socket names it, with the position of its log's head. */
export interface LivePosition {
  readonly document: LiveDocument;
  /** The project's id for `project`; null otherwise. */
  readonly projectId: ProjectId | null;
  /** Whose `user` document; null otherwise. Never leaves the server. */
  readonly user: UserId | null;
  readonly epoch: string;
  readonly seq: number;
}

/** One committed row of a document's log; the position is that row's. */
export interface LiveChange extends LivePosition {
  /** The committed row's Yjs update (v1). */
  readonly update: Uint8Array;
}
