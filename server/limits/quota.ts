import { count } from "../../shared/count.ts";
import { RateLimited } from "../../shared/errors.ts";
import { DAY_SECONDS, MINUTE_SECONDS, type PlanLimits } from "./plans.ts";
import type { UsedWindow, Windows } from "./usage.ts";

/** A promise only where the counts are shared, and have to be asked for. */
type Soon<Value> = Value | Promise<Value>;

/** The result of charging a request. */
export interface Charge {
  /** To be sent with the answer; empty where nothing is limited. */
  readonly headers: QuotaHeaders;
  /** After this many seconds the same request can be charged; undefined if it was charged. */
  readonly retryAfterSeconds: number | undefined;
  /** Takes the charge back; the headers to be sent then. Undefined if nothing was charged. */
  readonly refund?: () => Soon<QuotaHeaders>;
}

/** Headers by name. */
export type QuotaHeaders = Readonly<Record<string, string>>;

/** What one account may still do. */
export interface Quota {
  /** Seconds after which one request could be charged; undefined if it could be now. */
  exhausted(): Soon<number | undefined>;
  /** Charges one request; or refuses it, without a charge. */
  charge(): Soon<Charge>;
  /** The headers for an answer without a charge. */
  headers(): Soon<QuotaHeaders>;
}

/** The same where this process alone counts: no method waits. */
export interface OwnQuota extends Quota {
  exhausted(): number | undefined;
  charge(): Charge & { readonly refund?: () => QuotaHeaders };
  headers(): QuotaHeaders;
}

/** The limits of a server that counts nothing. */
export const UNLIMITED: OwnQuota = {
  exhausted: () => undefined,
  charge: () => ({ headers: {}, retryAfterSeconds: undefined }),
  headers: () => ({}),
};

/** The parts of a request's context that concern its quota. */
interface Charged {
  /** Of the answer. */
  readonly headers: Record<string, string>;
  /** Undefined before the caller is known. */
  readonly quota?: Quota;
  /** Undefined before it is charged. */
  charge?: Charge | undefined;
}

/** Charges a request and adds the headers to its answer. Throws a 429 if nothing is left. */
export function charge(context: Charged): Promise<void> | undefined {
  const charging = context.quota?.charge();
  if (charging instanceof Promise) return charging.then((charged) => note(context, charged));
  note(context, charging);
  return undefined;
}

function note(context: Charged, charged: Charge | undefined): void {
  context.charge = charged;
  Object.assign(context.headers, charged?.headers);
  refuseFor(charged?.retryAfterSeconds);
}

/** A 429 costs nothing, also if it is found only after the charge: while a body is read. */
export async function refundRefused(context: Charged, thrown: unknown): Promise<void> {
  if (thrown instanceof RateLimited)
    Object.assign(context.headers, await context.charge?.refund?.());
}

/** Throws the 429 that `charge` would throw, and charges nothing. */
export async function refuseExhausted({ quota }: Charged): Promise<void> {
  refuseFor(await quota?.exhausted());
}

function refuseFor(seconds: number | undefined): void {
  if (seconds === undefined) return;
  throw new RateLimited(
    "the account has made all the requests that its plan allows: try again in " +
      count(seconds, "second", "seconds"),
    seconds,
  );
}

/** The context with the quota's headers, without a charge. */
export async function withQuota<Context extends Charged>(context: Context): Promise<Context> {
  if (context.headers.RateLimit === undefined) {
    Object.assign(context.headers, await context.quota?.headers());
  }
  return context;
}

const policies = new WeakMap<PlanLimits, string>();

/**
 * `RateLimit-Policy` and `RateLimit` as in draft-ietf-httpapi-ratelimit-headers: `q` and `w` are a
 * window's quota and length in seconds, `r` what is left of it, and `t` the seconds until it is
 * more.
 */
export function quotaHeaders(limits: PlanLimits, { minute, day }: Windows): QuotaHeaders {
  return {
    "RateLimit-Policy": policyOf(limits),
    RateLimit: `"minute";${itemOf(minute)}, "day";${itemOf(day)}`,
  };
}

function policyOf(limits: PlanLimits): string {
  let policy = policies.get(limits);
  if (policy === undefined) {
    const { minute, day } = limits;
    policy = `"minute";q=${minute};w=${MINUTE_SECONDS}, "day";q=${day};w=${DAY_SECONDS}`;
    policies.set(limits, policy);
  }
  return policy;
}

function itemOf(window: UsedWindow): string {
  return `r=${remainingOf(window) ?? 0};t=${wholeSeconds(window.freesInMs)}`;
}

/** What is left of a window; null where nothing is limited. */
export function remainingOf({ limit, used }: UsedWindow): number | null {
  return limit === null ? null : Math.max(0, limit - used);
}

/** Rounded up, so that the milliseconds are certainly over then. */
export function wholeSeconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}
