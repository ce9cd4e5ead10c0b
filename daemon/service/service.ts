import type { ErrorDetail } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import type { BatchAnswer, BatchRequest } from "../../shared/wire/batch.ts";
import type { ExchangeAnswer, ExchangeRequest } from "../../shared/wire/exchange.ts";
import type { ServerFrame } from "../../shared/wire/live.ts";
import type { RequestBudget } from "../budget/request-budget.ts";

/**
 * What became of a call to the service. `unreachable` and `busy` concern the service as a whole and
 * are tried again later; `refused` concerns this call alone.
 */
export type Outcome<Value> =
  | { readonly kind: "answered"; readonly value: Value }
  | {
      readonly kind: "unreachable";
      readonly message: string;
      /** See `busy`. */
      readonly tooMuch?: boolean;
    }
  | {
      readonly kind: "busy";
      readonly message: string;
      readonly retryAfterMs: number | undefined;
      /** The service began on it and came to no end in time: less at once might go through. */
      readonly tooMuch?: boolean;
    }
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly message: string;
      /** The places of the request that are to blame, where the service named any. */
      readonly details?: readonly ErrorDetail[];
    };

/** What became of a question that was passed on to the service of that name. */
export type ServiceAnswer = Outcome<unknown> & { readonly service: string };

/** What a live connection tells its owner, up to `closed`, after which nothing comes. */
export interface LiveHandlers {
  /** The socket is up; now is the time to subscribe. */
  opened(): void;
  frame(frame: ServerFrame): void;
  /** The service has let pass the time of its pings without a sign; or has given one after all. */
  silent(isSilent: boolean): void;
  /** The socket is down, or never came up; `code` is the service's own. Called once. */
  closed(message: string, code?: number): void;
}

/** A live socket, open or opening. Subscribe only once it is open; `close` calls `closed`. */
export interface LiveConnection {
  subscribe(projects: readonly ProjectId[]): void;
  close(): void;
}

/** The interface's sync endpoint as the daemon uses it. */
export interface Service {
  /** Names the service in tables and to people: its host's address, or `embedded`. */
  readonly name: string;
  /** No call is made until a person has done something, such as to log in. */
  readonly isBlocked?: boolean;
  /** `project` null: `user` and `global` alone. `plain`: an answer that has no exchange in it. */
  exchange(
    project: ProjectId | null,
    request: ExchangeRequest,
  ): Promise<Outcome<ExchangeAnswer | "plain">>;
  /** About several projects by one call. `unknown`: the service does not know such calls. */
  exchangeBatch?(request: BatchRequest): Promise<Outcome<BatchAnswer | "unknown">>;
  createProject(id: ProjectId, name: string): Promise<Outcome<void>>;
  /** A request of a round that has had its turn: it waits for nobody's room. */
  request(method: string, path: string, body?: string): Promise<Outcome<unknown>>;
  /** Any request that a person waits for, passed on as it is, and not waited for as long. */
  forward(method: string, path: string, body?: string): Promise<Outcome<unknown>>;
  /** Undefined where nobody else can change what the service holds. */
  openLive?(handlers: LiveHandlers): LiveConnection;
  /** Ends the calls under way as unreachable, and every later one; for a daemon that is ending. */
  abandonCalls?(): void;
  /** What may be asked of it, and what is; undefined where nothing is limited. */
  readonly budget?: RequestBudget;
  /** Since when the oldest call under way waits for an answer, on the world's steady clock. */
  unansweredSince?(): number | undefined;
  /** Gives up the calls under way, and the connections that are kept: they may lead nowhere. */
  dropConnections?(): void;
  close(): Promise<void>;
}
