import type { OfToken } from "./of-token.ts";

/** What happens to a request. One of those that end it, and latency besides. */
export interface FaultEffect {
  /** Answered with this status, without reaching the service. */
  readonly status?: number | undefined;
  /** The `code` of that answer's error body; the status's own when left out. */
  readonly error?: string | undefined;
  /** `Retry-After` of that answer, in seconds or as a date. Alone it makes a 429. */
  readonly retryAfter?: number | string | undefined;
  /** The answer is delayed so long, in real time; log-normal around a median, by the seed. */
  readonly latencyMs?: number | LogNormal | undefined;
  /** The connection is cut: before the service sees the request, or after it has done it. */
  readonly disconnect?: "before" | "after" | undefined;
  /** It is done, and the connection cut after so many bytes of the answer's body; true: half. */
  readonly truncate?: number | true | undefined;
  /** It is done, and the answer's body is not JSON. */
  readonly malformed?: boolean | undefined;
  /** It is never answered, and never reaches the service. */
  readonly silent?: boolean | undefined;
  /**
   * Of a sync: the memory of this key, the document (`project`, `user`, `global`) or the project of
   * this name is refused, as the service refuses what it can't take.
   */
  readonly refuseItem?: string | undefined;
}

/** Half of the times are below the median; `sigma` 0.5 is mild, 1 is wild. */
export interface LogNormal {
  readonly medianMs: number;
  readonly sigma: number;
}

/** Which requests misbehave, and how. */
export interface FaultRule extends FaultEffect, OfToken {
  /** For `GET faults` and the answer's header; made when left out. */
  readonly id?: string | undefined;
  readonly method?: string | undefined;
  /** A path, or a route: `/v1/memories/:id`; `*` at the end is any rest. */
  readonly path?: string | undefined;
  /** How many requests have it; 1 when left out. */
  readonly times?: number | undefined;
  /** How likely it is for each that matches, by the seed; 1 when left out. */
  readonly probability?: number | undefined;
}

/** A rule and what has become of it. */
export interface FaultReport extends FaultRule {
  readonly id: string;
  /** How many requests had it. */
  readonly hits: number;
  /** How many more will. */
  readonly remaining: number;
}

/** Rules by which the emulator misbehaves. */
export interface EmulatorFaults {
  /** Adds rules behind those that are there. */
  add(...rules: readonly FaultRule[]): readonly FaultReport[];
  /**
   * Puts rules in place of those that are there; with a token in place of those of its account, and
   * for this account alone.
   */
  set(rules: readonly FaultRule[], of?: OfToken): readonly FaultReport[];
  list(of?: OfToken): readonly FaultReport[];
  /** Takes rules back; says how many. */
  clear(of?: OfToken & { readonly id?: string | undefined }): number;
  /** Throws an error that names the rules that no request has had. */
  assertAllFired(of?: OfToken): void;
}
