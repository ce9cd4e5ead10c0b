import type { OfToken } from "./of-token.ts";

/** What a client did that a good client does not do. */
export interface Violation {
  /** `early-retry`, `over-limit`, `repeated-write`, `unmatched`, `unknown-field` and so on. */
  readonly rule: string;
  /** One line for a person. */
  readonly text: string;
  readonly requestId: string;
  readonly at: string;
}

/** A request as it came, and what became of it. */
export interface SeenRequest {
  /** Its answer's `X-Request-Id`; a name of the journal's where there is none. */
  readonly id: string;
  readonly receivedAt: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** The token, with most of it left out unless it is a fixed one. */
  readonly token: string | null;
  /** Without secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** As JSON if it was some; a text otherwise; absent if there was none, or nobody read it. */
  readonly body?: unknown;
  /** The body had so many bytes, of which the journal has the beginning. */
  readonly truncated?: true;
  readonly bytes?: number;
  readonly finishedAt?: string;
  /** Absent as long as it is not answered, and for one that never was. */
  readonly status?: number;
  /** The client left before it was answered. */
  readonly aborted?: true;
  /** The body of a refusal. */
  readonly responseBody?: unknown;
  /** Why it was refused, in one line. */
  readonly why?: string;
  /** The id of the fault that it had. */
  readonly injected?: string;
  readonly violations?: readonly Violation[];
}

/** Which requests. What is left out matches any. */
export interface RequestFilter extends OfToken {
  readonly method?: string | undefined;
  /** A path, or a route: `/v1/memories/:id`; `*` at the end is any rest. */
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  /** Received at this time or later, by the emulator's clock. */
  readonly since?: string | undefined;
}

/** Requests, the oldest first, and how many the journal has forgotten. */
export interface RequestList {
  readonly requests: readonly SeenRequest[];
  readonly dropped: number;
}

/** What the emulator has seen. */
export interface EmulatorRequests {
  list(filter?: RequestFilter): Promise<RequestList>;
  /**
   * Resolves to the requests that match, once there are so many: 1 when left out. Rejects after
   * `timeoutMs` of real time, 5000 when left out, with what came instead.
   */
  waitFor(
    filter?: RequestFilter & {
      readonly count?: number | undefined;
      readonly timeoutMs?: number | undefined;
    },
  ): Promise<readonly SeenRequest[]>;
  /** Forgets them; says how many. */
  clear(of?: OfToken): number;
}

/** What clients did that good clients don't do. */
export interface EmulatorViolations {
  list(of?: OfToken): Promise<readonly Violation[]>;
  /** Rejects with an error that names each. */
  assertNone(of?: OfToken): Promise<void>;
}
