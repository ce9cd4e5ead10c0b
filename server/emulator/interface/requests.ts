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

/** A message of a live socket. Pings are none. */
export interface SeenFrame {
  readonly from: "client" | "server";
  readonly at: string;
  /** As JSON if it was some; a text otherwise; absent for a binary one. Without secrets. */
  readonly body?: unknown;
  readonly bytes: number;
  /** The journal has the beginning of it. */
  readonly truncated?: true;
}

/** How a live socket ended: by whom, and with which code of RFC 6455 or of the interface. */
export interface SeenClose {
  readonly code: number;
  readonly reason: string;
  readonly by: "client" | "server";
  readonly at: string;
}

/** A request as it came, and what became of it. */
export interface SeenRequest {
  /** Counts the requests from the emulator's start. */
  readonly serial: number;
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
  /** Without secrets; absent where no answer left. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** The body of a refusal. */
  readonly responseBody?: unknown;
  /** Why it was refused, in one line. */
  readonly why?: string;
  /** The id of the fault that it had. */
  readonly injected?: string;
  readonly violations?: readonly Violation[];
  /** What went over a live socket, the oldest first; so many older ones are forgotten. */
  readonly frames?: readonly SeenFrame[];
  readonly framesDropped?: number;
  /** Absent as long as the socket is open. */
  readonly closed?: SeenClose;
}

/** Which requests. What is left out matches any. */
export interface RequestFilter extends OfToken {
  readonly method?: string | undefined;
  /** A path, or a route: `/v1/memories/:id`; `*` at the end is any rest. */
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  /** Received at this time or later, by the emulator's clock. */
  readonly since?: string | undefined;
  /** Live sockets that carried a frame of this type: `subscribe`, `subscribed`, `changed`. */
  readonly frame?: string | undefined;
  /** Live sockets that were closed with this code. */
  readonly closeCode?: number | undefined;
}

/** Requests, the oldest first, and how many the journal has forgotten. */
export interface RequestList {
  readonly requests: readonly SeenRequest[];
  readonly dropped: number;
}

/** What has changed since a former answer. */
export interface RequestChanges extends RequestList {
  /** Where the next one begins. */
  readonly next: string;
  /** These are all there are: some were forgotten, or this is the first answer. */
  readonly whole?: true;
}

/** What the emulator has seen. */
export interface EmulatorRequests {
  list(filter?: RequestFilter): Promise<RequestList>;
  /**
   * Resolves to the requests that match, once there are so many: 1 when left out. With `frame` it
   * is the frames that are counted. Rejects after `timeoutMs` of real time, 5000 when left out,
   * with what came instead.
   */
  waitFor(
    filter?: RequestFilter & {
      readonly count?: number | undefined;
      readonly timeoutMs?: number | undefined;
    },
  ): Promise<readonly SeenRequest[]>;
  /**
   * The requests of which something became known after `after`, the `next` of a former answer.
   * Resolves when there is news, of faults, the clock and snapshots too, or after `timeoutMs` of
   * real time, 5000 when left out.
   */
  changes(
    filter?: RequestFilter & {
      readonly after?: string | undefined;
      readonly timeoutMs?: number | undefined;
    },
  ): Promise<RequestChanges>;
  /** Forgets them; says how many. */
  clear(of?: OfToken): number;
}

/** What clients did that good clients don't do. */
export interface EmulatorViolations {
  list(of?: OfToken): Promise<readonly Violation[]>;
  /** Rejects with an error that names each. */
  assertNone(of?: OfToken): Promise<void>;
}
