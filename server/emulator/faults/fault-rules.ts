import { AppError } from "../../../shared/errors.ts";
import type { AccountId } from "../../../shared/ids.ts";
import { refusedAt } from "../../../shared/wire/parse.ts";
import { randomFraction, type World } from "../../../shared/world.ts";
import type { FaultEffect, FaultReport, FaultRule } from "../interface/faults.ts";
import { fixedPartsOf, pathMatches, pathMayMatch } from "./fault-paths.ts";
import { patternNear } from "./near-paths.ts";

/** A request, as far as a rule looks at it. */
export interface FaultedRequest {
  readonly method: string;
  readonly path: string;
  /** Undefined where the token is nobody's. */
  readonly account: AccountId | undefined;
}

/** What a rule does to one request. */
export interface Misfortune {
  /** The rule's id; `header` for what the request itself asked for. */
  readonly id: string;
  readonly effect: FaultEffect;
}

interface Kept {
  readonly id: string;
  readonly rule: FaultRule;
  readonly account: AccountId | undefined;
  readonly times: number;
  hits: number;
}

/** More rules than this are a mistake, as of a test that never resets. */
const RULES_MAX = 1000;

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "DELETE"]);

/** What the rules know of the emulator. */
export interface FaultDeps {
  /** For probabilities. */
  readonly world: World;
  /** Throws a 400 for a token that is nobody's. */
  accountOf(token: string): AccountId;
  routes(): readonly { readonly method: string; readonly path: string }[];
}

/**
 * The rules by which an emulator misbehaves. A request has the first one that matches it and is not
 * used up; each goes off once, unless it says otherwise.
 *
 * ```
 * rules.add([{ path: "/v1/memories", method: "POST", disconnect: "after" }]);
 * ```
 */
export class FaultRules {
  readonly #deps: FaultDeps;
  #kept: Kept[] = [];
  #made = 0;

  constructor(deps: FaultDeps) {
    this.#deps = deps;
  }

  /** How many there are, those that are used up among them. */
  get size(): number {
    return this.#kept.length;
  }

  /** All or none: throws a 400 for a rule that can never go off, or does nothing. */
  add(rules: readonly FaultRule[]): FaultReport[] {
    const known = new Set(this.#kept.map(({ id }) => id));
    const coming = rules.map((rule, at) => this.#checked(rule, at));
    for (const { id } of coming) {
      if (known.has(id)) throw refusedAt("id", "is a rule's already");
      known.add(id);
    }
    if (known.size > RULES_MAX) throw new AppError("invalid_request", "too many rules: reset them");
    this.#kept.push(...coming);
    return coming.map(reportOf);
  }

  /** In place of those of an account, or of all without one; these stay if a new one is refused. */
  replace(account: AccountId | undefined, rules: readonly FaultRule[]): FaultReport[] {
    const before = this.#kept;
    this.clear(account);
    try {
      return this.add(rules);
    } catch (thrown) {
      this.#kept = before;
      throw thrown;
    }
  }

  list(account: AccountId | undefined): FaultReport[] {
    return this.#of(account).map(reportOf);
  }

  /** Returns the ids of those that were there. */
  clear(account: AccountId | undefined, id?: string): string[] {
    const gone = new Set(this.#of(account).filter((kept) => id === undefined || kept.id === id));
    this.#kept = this.#kept.filter((kept) => !gone.has(kept));
    return [...gone].map((kept) => kept.id);
  }

  /**
   * After a reset of everything rules get the same names as after the start, because answers
   * contain these.
   */
  nameAnew(): void {
    if (this.#kept.length === 0) this.#made = 0;
  }

  /**
   * The rule that this request gets; undefined if none applies. `holds` says whether the request
   * has the item that a rule names.
   */
  async find(
    request: FaultedRequest,
    holds: (item: string) => Promise<boolean>,
  ): Promise<Misfortune | undefined> {
    for (const kept of this.#kept) {
      if (kept.hits >= kept.times || !concerns(kept, request)) continue;
      const { probability = 1, refuseItem } = kept.rule;
      if (refuseItem !== undefined) {
        if (!(await holds(refuseItem))) continue;
        // While the body was read, another request may have used the rule up, or a reset may have
        // removed it.
        if (kept.hits >= kept.times || !this.#kept.includes(kept)) continue;
      }
      if (probability < 1 && randomFraction(this.#deps.world) >= probability) continue;
      kept.hits += 1;
      return { id: kept.id, effect: kept.rule };
    }
    return undefined;
  }

  #of(account: AccountId | undefined): Kept[] {
    return this.#kept.filter((kept) => account === undefined || kept.account === account);
  }

  #checked(rule: FaultRule, at: number): Kept {
    const { method, path, token, times = 1, probability = 1, id } = rule;
    const place = (name: string) => `/faults/${at}/${name}`;
    checkEffect(rule, `/faults/${at}`);
    if (method !== undefined && !METHODS.has(method.toUpperCase())) {
      throw refusedAt(place("method"), "must be GET, POST or DELETE");
    }
    if (path !== undefined || method !== undefined) this.#checkServed(rule, place("path"));
    this.#checkItem(rule, place("refuseItem"));
    if (!(times >= 1)) throw refusedAt(place("times"), "must be 1 or more");
    if (!(probability > 0 && probability <= 1)) {
      throw refusedAt(place("probability"), "must be more than 0, and at most 1");
    }
    this.#made += 1;
    const account = token === undefined ? undefined : this.#deps.accountOf(token);
    return { id: id ?? `fault-${this.#made}`, rule, account, times, hits: 0 };
  }

  /** Only a sync has items. */
  #checkItem({ refuseItem, method = "POST", path = "/*" }: FaultRule, place: string): void {
    if (refuseItem === undefined) return;
    const routes = this.#deps.routes();
    const words = fixedPartsOf(routes);
    const isOfSync = routes.some((route) => {
      return route.path.endsWith("/sync") && pathMayMatch(path, { route: route.path, words });
    });
    if (method.toUpperCase() === "POST" && isOfSync) return;
    throw refusedAt(place, "is about an item of a sync: the rule would never go off elsewhere");
  }

  #checkServed({ method, path = "/*" }: FaultRule, place: string): void {
    const routes = this.#deps.routes();
    const words = fixedPartsOf(routes);
    const ofMethod = routes.filter((route) => {
      return method === undefined || route.method === method.toUpperCase();
    });
    const paths = ofMethod.map((route) => route.path);
    if (paths.some((route) => pathMayMatch(path, { route, words }))) return;
    const near = patternNear(path, paths);
    const meant = near === undefined ? "see GET routes" : `${near} is served`;
    throw refusedAt(place, `is served by nothing: the rule would never go off; ${meant}`);
  }
}

const LATENCY_MS_MAX = 5 * 60 * 1000;

/** Effects that decide what becomes of the answer: a request can have one of them. */
const ENDS = ["status", "disconnect", "truncate", "malformed", "refuseItem", "silent"] as const;

/** Throws a 400 for a rule that does nothing, or two things at once. */
export function checkEffect(effect: FaultEffect, at: string): void {
  const { status, latencyMs, retryAfter, truncate, refuseItem } = effect;
  const place = (name: string) => `${at}/${name}`;
  const ends = ENDS.filter((name) => effect[name] !== undefined && effect[name] !== false);
  if (ends.length > 1) throw refusedAt(place(ends[1] ?? ""), `can't be together with ${ends[0]}`);
  if (ends.length === 0 && latencyMs === undefined && retryAfter === undefined) {
    throw refusedAt(at, "needs an effect, such as status, disconnect or latencyMs");
  }
  if (status !== undefined && !(status >= 200 && status <= 599)) {
    throw refusedAt(place("status"), "must be from 200 to 599");
  }
  if (truncate !== undefined && truncate !== true && !(truncate >= 0)) {
    throw refusedAt(place("truncate"), "must be a number of bytes");
  }
  if (refuseItem === "") throw refusedAt(place("refuseItem"), "must name an item");
  if (typeof retryAfter === "string" && !isRetryAfter(retryAfter)) {
    throw refusedAt(place("retryAfter"), "must be seconds, or a date");
  }
  if (typeof latencyMs === "object" && !(latencyMs.sigma >= 0)) {
    throw refusedAt(place("latencyMs/sigma"), "must be 0 or more");
  }
  const latency = typeof latencyMs === "object" ? latencyMs.medianMs : (latencyMs ?? 0);
  if (!(latency >= 0 && latency <= LATENCY_MS_MAX)) {
    throw refusedAt(place("latencyMs"), `must be from 0 to ${LATENCY_MS_MAX}`);
  }
}

/** As RFC 9110, section 10.2.3, has it. */
function isRetryAfter(text: string): boolean {
  return /^\d+$/.test(text) || (/\D{3}/.test(text) && !Number.isNaN(Date.parse(text)));
}

/** Milliseconds of an effect: fixed, or by chance around a median. */
export function latencyOf({ latencyMs }: FaultEffect, world: World): number {
  if (latencyMs === undefined || typeof latencyMs === "number") return latencyMs ?? 0;
  // Box-Muller: https://en.wikipedia.org/wiki/Box-Muller_transform
  const radius = Math.sqrt(-2 * Math.log(1 - randomFraction(world)));
  const normal = radius * Math.cos(2 * Math.PI * randomFraction(world));
  return Math.min(LATENCY_MS_MAX, latencyMs.medianMs * Math.exp(latencyMs.sigma * normal));
}

function concerns({ rule, account }: Kept, request: FaultedRequest): boolean {
  const { method, path } = rule;
  if (account !== undefined && account !== request.account) return false;
  if (method !== undefined && method.toUpperCase() !== request.method) return false;
  return path === undefined || pathMatches(path, request.path);
}

function reportOf({ id, rule, times, hits }: Kept): FaultReport {
  return { ...rule, id, times, hits, remaining: times - hits };
}
