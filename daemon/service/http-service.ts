import { type ErrorDetail, messageOf } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { isObject } from "../../shared/json.ts";
import {
  type BatchAnswer,
  encodeBatchRequest,
  type PartAnswer,
  parseBatchAnswer,
} from "../../shared/wire/batch.ts";
import { encodeExchangeRequest, parseExchangeAnswer } from "../../shared/wire/exchange.ts";
import { delay, type World } from "../../shared/world.ts";
import { parseQuotas, parseRetryAfter } from "../budget/quota-headers.ts";
import { RequestBudget } from "../budget/request-budget.ts";
import { type Failure, failureBy } from "./failure.ts";
import { openLiveConnection } from "./live-connection.ts";
import type { Outcome, Service } from "./service.ts";
import { digestOfToken } from "./token-digest.ts";

/** A call without an answer after this time counts as unreachable. */
const CALL_DEADLINE_MS = 30_000;
/**
 * After this time without an answer the live socket is asked for a sign: a call may just be long,
 * but a service from which nothing comes at all is away.
 */
const LATE_MS = 3000;
/** A person's request is given up after this time. */
const PERSON_DEADLINE_MS = 10_000;
/** A person's request waits at most this long until the budget allows it. */
const ROOM_MS_MAX = 5000;
/** After a break, kept connections may be dead ones for this long. */
const BROKEN_MS = 10 * 60_000;

/** Where the service is, and the token for every call and the live socket. */
export interface HttpServiceOptions {
  /** Scheme and host, without `/v1` or `/api`. */
  readonly url: string;
  readonly token: string;
  readonly world: World;
}

/** Sends one request to the service: `fetch`, or the app itself in this process. */
export type Send = (request: Request) => Promise<Response>;

/** What calls need besides an address. */
export interface ServiceCallOptions {
  readonly send: Send;
  /** Paths are appended to this. */
  readonly base: string;
  readonly token: string;
  readonly world: World;
  /** Told of every request and answer; undefined where nothing is limited. */
  readonly budget?: RequestBudget;
  /** The requests under way: how to abort each, and when it was sent by the steady clock. */
  readonly underWay?: Map<AbortController, number>;
  /** Called when a request has waited for its answer for some time. */
  readonly onLate?: () => void;
}

/**
 * The service behind an address.
 *
 * ```
 * const service = createHttpService({ url: "https://memory.example.com", token, world });
 * await service.forward("GET", "/api/projects/stats");
 * ```
 */
export function createHttpService({ url, token, world }: HttpServiceOptions): Service {
  const base = url.replace(/\/+$/, "");
  const tokenDigest = digestOfToken(token);
  const budget = new RequestBudget(`${base} ${tokenDigest}`, world);
  const underWay = new Map<AbortController, number>();
  let ending = false;
  let brokenAt = Number.NEGATIVE_INFINITY;
  const giveUp = () => {
    for (const abort of underWay.keys()) abort.abort();
  };
  const send: Send = async (request) => {
    if (ending) throw new Error("the daemon is ending");
    // A kept connection may be dead, which would show only at the deadline.
    const keepalive = world.monotonic() - brokenAt > BROKEN_MS;
    return await fetch(request, { keepalive });
  };
  let live: ReturnType<typeof openLiveConnection> | undefined;
  const onLate = () => live?.askForSign();
  const calls = createCalls({ send, base, token, world, budget, underWay, onLate });
  return {
    name: base,
    tokenDigest,
    budget,
    ...calls,
    openLive: (handlers) => {
      budget.sent();
      live = openLiveConnection({ url: base, token, world, handlers });
      return live;
    },
    unansweredSince: () => (underWay.size > 0 ? Math.min(...underWay.values()) : undefined),
    dropConnections: () => {
      brokenAt = world.monotonic();
      giveUp();
    },
    abandonCalls: () => {
      ending = true;
      giveUp();
    },
    close: async () => {},
  };
}

type Asked = readonly [method: string, path: string, body?: string | undefined];

/** The calls of a `Service` over any `Send`. */
export function createCalls(
  options: ServiceCallOptions,
): Pick<Service, "exchange" | "createProject" | "request" | "forward"> &
  Required<Pick<Service, "exchangeBatch">> {
  const { base, token, budget } = options;
  const callWithin = async (deadlineMs: number, [method, path, body]: Asked) => {
    const init: RequestInit = {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      // A redirect is not followed: what is meant for this service must not go to another.
      redirect: "manual",
      ...(body !== undefined && { body }),
    };
    return withoutToken(await callOnce(options, base + path, { init, deadlineMs }), token);
  };
  const call = (...asked: Asked) => callWithin(CALL_DEADLINE_MS, asked);
  /** A service with the exchange tells its limits if it has any. */
  const read = <Value>(
    outcome: CallOutcome & { readonly kind: "answered" },
    parse: (value: unknown) => Value,
  ): Outcome<Value> => {
    try {
      const value = parse(outcome.value);
      if (!outcome.tellsQuotas) budget?.unlimited();
      return { kind: "answered", value };
    } catch (thrown) {
      const said = messageOf(thrown);
      return { kind: "unreachable", ...failureBy({ code: "answer-not-exchange", said }) };
    }
  };
  return {
    async exchange(project, request) {
      const path = project === null ? "/api/sync" : `/api/projects/${project}/sync`;
      const body = JSON.stringify(encodeExchangeRequest(request));
      const outcome = await call("POST", path, body);
      if (outcome.kind !== "answered") return outcome;
      if (isObject(outcome.value) && !("crdt" in outcome.value)) {
        return { kind: "answered", value: "plain" };
      }
      return read(outcome, parseExchangeAnswer);
    },
    async exchangeBatch(request) {
      const body = JSON.stringify(encodeBatchRequest(request));
      const outcome = await call("POST", "/api/sync", body);
      if (outcome.kind !== "answered") return outcome;
      // Such an answer comes from something in between.
      if (!isObject(outcome.value)) return read(outcome, noExchange);
      if (!("crdt" in outcome.value)) return { kind: "answered", value: "unknown" };
      return read(outcome, (value) => {
        const answer = parseBatchAnswer(value, request.projects.keys());
        return answer ? withoutTokenInParts(answer, token) : "unknown";
      });
    },
    async createProject(id: ProjectId, name: string) {
      const outcome = await call("POST", "/api/projects", JSON.stringify({ id, name }));
      return outcome.kind === "answered" ? { kind: "answered", value: undefined } : outcome;
    },
    request: call,
    forward: async (method, path, body) => {
      const refusal = await untilRoom(options);
      return refusal ?? (await callWithin(PERSON_DEADLINE_MS, [method, path, body]));
    },
  };
}

function noExchange(): never {
  throw new Error("the body must be an object");
}

/** A person's request waits for the budget, or is refused with the time at which it can be made. */
async function untilRoom({
  budget,
  world,
}: ServiceCallOptions): Promise<Outcome<never> | undefined> {
  const waitMs = budget ? budget.notBefore("person") - world.monotonic() : 0;
  if (waitMs <= 0) return undefined;
  if (waitMs <= ROOM_MS_MAX) {
    await delay(world, waitMs);
    return undefined;
  }
  const seconds = Math.ceil(waitMs / MS_PER_S);
  const code = budget?.isUsedUp ? "requests-used-up" : "requests-paused";
  return { kind: "busy", ...failureBy({ code, seconds }), retryAfterMs: waitMs };
}

const MS_PER_S = 1000;

/** An answered call, and whether the answer told quotas. */
type CallOutcome = Outcome<unknown> & { readonly tellsQuotas?: boolean };

async function callOnce(
  { send, world, budget, underWay, onLate }: ServiceCallOptions,
  url: string,
  { init, deadlineMs }: { readonly init: RequestInit; readonly deadlineMs: number },
): Promise<CallOutcome> {
  const abort = new AbortController();
  underWay?.set(abort, world.monotonic());
  budget?.sent();
  const deadline = world.setTimer(deadlineMs, () => abort.abort(TOO_LATE));
  const late = onLate && world.setTimer(LATE_MS, onLate);
  try {
    const response = await send(new Request(url, { ...init, signal: abort.signal }));
    const quotas = parseQuotas(response.headers);
    budget?.answered(quotas);
    const outcome = await outcomeOf(response, world.now());
    if (outcome.kind === "busy") notePause(budget, response.status, outcome.retryAfterMs);
    return { ...outcome, tellsQuotas: quotas !== undefined };
  } catch (thrown) {
    if (!abort.signal.aborted) budget?.unsent();
    const isLate = abort.signal.reason === TOO_LATE;
    if (!isLate) return { kind: "unreachable", ...whyUnsent(thrown) };
    const late = failureBy({ code: "call-late", seconds: deadlineMs / MS_PER_S });
    return { kind: "unreachable", ...late, tooMuch: true };
  } finally {
    deadline.cancel();
    late?.cancel();
    underWay?.delete(abort);
  }
}

function notePause(
  budget: ServiceCallOptions["budget"],
  status: number,
  retryAfterMs: number | undefined,
): void {
  if (status === 429) budget?.refused(retryAfterMs);
  else if (PAUSES.includes(status) && retryAfterMs) budget?.paused(retryAfterMs);
}

/** Why a call got no answer, by the codes of system calls. */
const UNSENT = new Map([
  ["ECONNREFUSED", "connection-refused"],
  ["ECONNRESET", "connection-closed"],
  ["ENOTFOUND", "name-not-known"],
] as const);
const TOO_LATE = Symbol("too late");

/** Why a call got no answer. */
export function whyUnsent(thrown: unknown): Failure {
  const of = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const [, code] = [...UNSENT].find(([known]) => known === of) ?? [];
  return failureBy(code ? { code } : { code: "call-failed", said: messageOf(thrown) });
}

/** Messages are logged and shown, and a service may have repeated its token in one. */
function withoutToken(outcome: CallOutcome, token: string): CallOutcome {
  if (outcome.kind === "answered") return outcome;
  const hide = (text: string) => text.replaceAll(token, "(the token)");
  const message = hide(outcome.message);
  if (outcome.kind !== "refused" || !outcome.details) return { ...outcome, message };
  const details = outcome.details.map((each) => ({ ...each, message: hide(each.message) }));
  return { ...outcome, message, details };
}

function withoutTokenInParts(answer: BatchAnswer, token: string): BatchAnswer {
  const projects = [...answer.projects].map(([id, part]): [ProjectId, PartAnswer] => {
    if (part.kind !== "refused") return [id, part];
    return [id, { ...part, message: part.message.replaceAll(token, "(the token)") }];
  });
  return { ...answer, projects: new Map(projects) };
}

/** Statuses by which a service or a proxy says that it failed while working on a request. */
const BEGAN: readonly number[] = [500, 502, 504];
/** Statuses by which it asks for a pause. */
const PAUSES: readonly number[] = [429, 503];

async function outcomeOf(response: Response, now: number): Promise<Outcome<unknown>> {
  const text = await response.text();
  if (response.ok) {
    try {
      return { kind: "answered", value: text === "" ? undefined : JSON.parse(text) };
    } catch {
      return { kind: "unreachable", ...failureBy({ code: "answer-not-json" }) };
    }
  }
  const { status } = response;
  const isElsewhere = status >= 300 && status < 400;
  const why = isElsewhere
    ? failureBy({ code: "call-redirected", status })
    : failureBy({ code: "call-answered", status, said: errorMessageIn(text) });
  if (status === 429 || status >= 500) {
    const retryAfterMs = parseRetryAfter(response.headers, now);
    const tooMuch = BEGAN.includes(status);
    const isPause = PAUSES.includes(status);
    return { kind: "busy", ...why, retryAfterMs, isPause, ...(tooMuch && { tooMuch }) };
  }
  return { kind: "refused", status, ...why, details: errorDetailsIn(text) };
}

/** What a service says in the body of a refusal. */
export function errorMessageIn(text: string): string {
  return String(errorIn(text)?.message ?? "no reason given");
}

function errorDetailsIn(text: string): ErrorDetail[] {
  const details = errorIn(text)?.details;
  if (!Array.isArray(details)) return [];
  return details.filter((each): each is ErrorDetail => {
    return isObject(each) && typeof each.path === "string" && typeof each.message === "string";
  });
}

function errorIn(
  text: string,
): { readonly message?: unknown; readonly details?: unknown } | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && isObject(body.error) ? body.error : undefined;
  } catch {
    return undefined;
  }
}
