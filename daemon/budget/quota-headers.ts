import { parseList } from "structured-headers";

/** One of the account's quotas as an answer told it; times in milliseconds. */
export interface ToldQuota {
  readonly name: string;
  /** Requests in a whole window; undefined where that is not said. */
  readonly limit: number | undefined;
  /** Length of the window; undefined where that is not said. */
  readonly windowMs: number | undefined;
  readonly remaining: number;
  /** Time until the quota is renewed; undefined where that is not said. */
  readonly moreInMs: number | undefined;
}

/** No honest service has more quotas than this. */
const QUOTAS_MAX = 8;
const NAME_LENGTH_MAX = 64;
const REQUESTS_MAX = 1e12;
const MS_PER_S = 1000;
/** No daemon waits for a longer window. */
const SECONDS_MAX = 31 * 24 * 60 * 60;

type Parameters = ReadonlyMap<string, unknown>;

/**
 * Reads `RateLimit` and `RateLimit-Policy` as draft-ietf-httpapi-ratelimit-headers-10 defines them
 * (lists of strings with parameters, RFC 9651). Undefined where one is missing or malformed: half
 * of the information could mislead.
 */
export function parseQuotas(headers: Headers): readonly ToldQuota[] | undefined {
  const said = headers.get("ratelimit");
  if (said === null) return undefined;
  try {
    const policies = itemsIn(headers.get("ratelimit-policy") ?? "");
    const quotas = [...itemsIn(said)].map(([name, parameters]) => {
      return quotaOf(name, parameters, policies.get(name));
    });
    return quotas.length > 0 ? quotas : undefined;
  } catch {
    return undefined;
  }
}

/** The items of a header. Throws unless it is a short list of different strings. */
function itemsIn(header: string): ReadonlyMap<string, Parameters> {
  const list = parseList(header);
  const items = new Map<string, Parameters>();
  for (const [name, parameters] of list) {
    if (typeof name !== "string" || name.length > NAME_LENGTH_MAX) throw new Error("no name");
    items.set(name, parameters);
  }
  if (items.size < list.length || items.size > QUOTAS_MAX) throw new Error("too many");
  return items;
}

function quotaOf(name: string, quota: Parameters, policy: Parameters | undefined): ToldQuota {
  const remaining = wholeNumber(quota.get("r"), REQUESTS_MAX);
  const limit = wholeNumber(policy?.get("q"), REQUESTS_MAX);
  if (remaining === undefined || limit === 0) throw new Error("no quota");
  if (policy && limit === undefined) throw new Error("no policy");
  const moreIn = wholeNumber(quota.get("t"), SECONDS_MAX);
  const window = wholeNumber(policy?.get("w"), SECONDS_MAX);
  return {
    name,
    limit,
    windowMs: window && window * MS_PER_S,
    remaining: Math.min(remaining, limit ?? REQUESTS_MAX),
    moreInMs: moreIn && moreIn * MS_PER_S,
  };
}

/** At most `max`. Throws for anything but a whole number. */
function wholeNumber(value: unknown, max: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) {
    return Math.min(value, max);
  }
  throw new Error("no whole number");
}

/**
 * `Retry-After` in milliseconds, from seconds or a date; undefined for anything else. A date is
 * compared with the answer's own `Date`, since this machine's clock, `now`, may be wrong. At most a
 * day, the length of the longest published quota.
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  const answeredAt = dateOf(headers.get("date") ?? "") || now;
  const ms = /^\d+$/.test(text) ? Number(text) * MS_PER_S : dateOf(text) - answeredAt;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), RETRY_AFTER_MS_MAX);
}

const RETRY_AFTER_MS_MAX = 24 * 60 * 60 * MS_PER_S;

/** Reads an IMF-fixdate, the only form that HTTP lets anyone send. */
function dateOf(text: string): number {
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
}
