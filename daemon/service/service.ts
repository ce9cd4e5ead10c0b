import type { ErrorDetail } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import type { BatchAnswer, BatchRequest } from "../../shared/wire/batch.ts";
import type { ExchangeAnswer, ExchangeRequest } from "../../shared/wire/exchange.ts";
import type { ServerFrame } from "../../shared/wire/live.ts";
import type { RequestBudget } from "../budget/request-budget.ts";
import type { Failure } from "./failure.ts";

/**
 * The outcome of a call. `unreachable` and `busy` concern the whole service, and are tried again
 * later. `refused` concerns this call only.
 */
export type Outcome<Value> =
  | { readonly kind: "answered"; readonly value: Value }
  | (Failure & {
      readonly kind: "unreachable";
      /** See `busy`. */
      readonly tooMuch?: boolean;
    })
  | (Failure & {
      readonly kind: "busy";
      readonly retryAfterMs: number | undefined;
      /** It said that it is well and takes no calls now. Otherwise it failed. */
      readonly isPause?: boolean;
      /**
       * The service began to work on it and did not finish in time. A smaller call might succeed.
       */
      readonly tooMuch?: boolean;
    })
  | (Failure & {
      readonly kind: "refused";
      readonly status: number;
      /** The parts of the request that caused it, where the service named them. */
      readonly details?: readonly ErrorDetail[];
    });

/** The outcome of a question that was passed on to the service of this name. */
export type ServiceAnswer = Outcome<unknown> & { readonly service: string };

/** Events of a live connection. Nothing comes after `closed`. */
export interface LiveHandlers {
  /** The socket is up: time to subscribe. */
  opened(): void;
  frame(frame: ServerFrame): void;
  /**
   * True: nothing came for longer than the service's pings are apart. False: something came again.
   */
  silent(isSilent: boolean): void;
  /** The socket is down, or never came up; `code`: the service's. Called once. */
  closed(message: string, code?: number): void;
}

/** A live socket, open or opening. Subscribe only once it is open. `close` leads to `closed`. */
export interface LiveConnection {
  subscribe(projects: readonly ProjectId[]): void;
  close(): void;
}

/** A service as the daemon uses it. */
export interface Service {
  /** Identifies the service in tables and to people: its address, or `embedded`. */
  readonly name: string;
  /** It is not called until a person has done something, such as logging in. */
  readonly isBlocked?: boolean;
  /** Why a service is blocked, and what that person has to do. */
  readonly blockedBy?: Failure | undefined;
  /** Distinguishes the token that it is called with; see `digestOfToken`. */
  readonly tokenDigest?: string;
  /**
   * `project` null: only `user` and `global`. `plain`: the service answered without an exchange.
   */
  exchange(
    project: ProjectId | null,
    request: ExchangeRequest,
  ): Promise<Outcome<ExchangeAnswer | "plain">>;
  /** One call about several projects. `unknown`: the service has no such call. */
  exchangeBatch?(request: BatchRequest): Promise<Outcome<BatchAnswer | "unknown">>;
  createProject(id: ProjectId, name: string): Promise<Outcome<void>>;
  /** A request of a round under way. It does not wait for the budget. */
  request(method: string, path: string, body?: string): Promise<Outcome<unknown>>;
  /** Passes on any request for which a person waits, with a shorter deadline. */
  forward(method: string, path: string, body?: string): Promise<Outcome<unknown>>;
  /** Undefined where nobody else can change what the service has. */
  openLive?(handlers: LiveHandlers): LiveConnection;
  /** Ends all calls, also those to come, as unreachable: the daemon is ending. */
  abandonCalls?(): void;
  /** What may be asked of it; undefined where nothing is limited. */
  readonly budget?: RequestBudget;
  /** Since when the oldest call under way waits for its answer, by the world's steady clock. */
  unansweredSince?(): number | undefined;
  /** Ends the calls under way and drops kept connections, because they may be dead. */
  dropConnections?(): void;
  close(): Promise<void>;
}
