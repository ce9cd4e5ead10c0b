import { AppError, ERROR_STATUS } from "../../../shared/errors.ts";
import type { AccountId } from "../../../shared/ids.ts";
import { LIMITS } from "../../../shared/limits.ts";
import type { Log } from "../../../shared/log.ts";
import { refusedAt } from "../../../shared/wire/parse.ts";
import type { World } from "../../../shared/world.ts";
import type { App } from "../../app/app.ts";
import { newContext } from "../../app/new-context.ts";
import { cutAnswer } from "../../http/cut-answer.ts";
import { errorResponse } from "../../http/errors-to-response.ts";
import type { PeerAddress } from "../../http/metrics-access.ts";
import { pathOf } from "../../http/query.ts";
import { readJson } from "../../http/read-json.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { bodyRead, watchCopy } from "../../http/watched-body.ts";
import type { FaultEffect } from "../interface/faults.ts";
import { FAULT_HEADER, HEADER_FAULT, parseFaultHeader } from "./fault-header.ts";
import { type FaultRules, latencyOf, type Misfortune } from "./fault-rules.ts";
import { type ItemRefusal, refuseItem } from "./refuse-item.ts";
import { sentOf, spoilSocket } from "./spoil-socket.ts";

/** Names the rule that has touched an answer, for readers of a log. */
const INJECTED_HEADER = "X-Memsync-Injected";

/** Listeners pass a handshake, or a frame, to the system within this time. */
const FLUSH_MS = 100;

/** What misbehaviour stands on. */
export interface MisbehaviourDeps {
  readonly app: App;
  readonly rules: FaultRules;
  readonly accountOf: (headers: Headers) => AccountId | undefined;
  /** For chance. */
  readonly world: World;
  /** For the ids of requests that do not reach the service. */
  readonly requestWorld: World;
  readonly log: Log;
  readonly extraHeaders: Readonly<Record<string, string>>;
  /** Called with the rule of each request that has one. */
  readonly injected?: (request: Request, rule: Injected) => void;
}

/**
 * How a rule changes an answer: `replaced` by another one, or `broken` on its way. Undefined: the
 * answer is as the service gave it.
 */
export type Harm = "replaced" | "broken";

/** The rule that applied to a request. */
export interface Injected {
  readonly id: string;
  /** Undefined for a rule that leaves the answer whole, such as one that only delays it. */
  readonly harm: Harm | undefined;
}

/** A service before which some requests come to grief. */
export interface Misbehaving {
  readonly app: App;
  /** For the end: delayed answers go out, and silent connections are cut. */
  release(): void;
}

/** The service behind the rules. Without a rule that matches it is the service itself. */
export function createMisbehaviour(deps: MisbehaviourDeps): Misbehaving {
  const waits = new Waits(deps.app.world);
  const fate = new Fate(deps, waits);
  return {
    app: {
      ...deps.app,
      fetch: (request, peer) => fate.fetch(request, peer),
      openLive: (request, peer) => fate.openLive(request, peer),
    },
    release: () => waits.release(),
  };
}

/** Waits in real time, which all end at once when the emulator does. */
class Waits {
  readonly #ends = new Set<() => void>();
  #released = false;

  constructor(readonly world: World) {}

  until(milliseconds: number): Promise<void> {
    if (this.#released) return Promise.resolve();
    return new Promise((resolve) => {
      const ends = milliseconds !== Number.POSITIVE_INFINITY;
      const timer = ends ? this.world.setTimer(milliseconds, () => end()) : undefined;
      const end = () => {
        timer?.cancel();
        this.#ends.delete(end);
        resolve();
      };
      this.#ends.add(end);
    });
  }

  release(): void {
    this.#released = true;
    for (const end of [...this.#ends]) end();
  }
}

/** A request, and what a rule does to it, if one applies. */
interface Fated {
  readonly request: Request;
  readonly misfortune?: Misfortune;
  readonly item?: ItemRefusal;
}

class Fate {
  constructor(
    readonly deps: MisbehaviourDeps,
    readonly waits: Waits,
  ) {}

  async fetch(request: Request, peer: PeerAddress | undefined): Promise<Response> {
    try {
      const fated = await this.#fateOf(request);
      if (!fated.misfortune) return await this.deps.app.fetch(fated.request, peer);
      const context = this.#newContext();
      return await this.#suffer(fated, fated.misfortune, { context, peer });
    } catch (thrown) {
      return errorResponse(this.#newContext(), thrown);
    }
  }

  async openLive(request: Request, peer: PeerAddress): ReturnType<App["openLive"]> {
    try {
      const { misfortune } = await this.#fateOf(request);
      if (!misfortune) return await this.deps.app.openLive(request, peer);
      const { effect, id } = misfortune;
      await this.waits.until(latencyOf(effect, this.deps.world));
      const early = await this.#early(misfortune, this.#newContext());
      if (early) return { accepted: false, response: early };
      const handshake = await this.deps.app.openLive(request, peer);
      if (!handshake.accepted) {
        handshake.response.headers.set(INJECTED_HEADER, id);
        return { accepted: false, response: await late(handshake.response, effect) };
      }
      const headers = { ...handshake.headers, [INJECTED_HEADER]: id };
      return spoilSocket({ ...handshake, headers }, effect, () => this.waits.until(FLUSH_MS));
    } catch (thrown) {
      return { accepted: false, response: errorResponse(this.#newContext(), thrown) };
    }
  }

  #newContext(): RequestContext {
    return newContext({ ...this.deps, world: this.deps.requestWorld });
  }

  async #fateOf(request: Request): Promise<Fated> {
    const { rules, accountOf, injected } = this.deps;
    const asked = request.headers.get(FAULT_HEADER);
    if (asked === null && rules.size === 0) return { request };
    const read = new ReadAhead(request);
    const holds = async (item: string) => (await read.refusal(item)) !== undefined;
    const misfortune =
      asked === null
        ? await rules.find(
            {
              method: request.method === "HEAD" ? "GET" : request.method,
              path: pathOf(request.url),
              account: accountOf(request.headers),
            },
            holds,
          )
        : { id: HEADER_FAULT, effect: parseFaultHeader(asked) };
    if (!misfortune) return { request: read.request };
    const name = misfortune.effect.refuseItem;
    const item = name === undefined ? undefined : await read.refusal(name);
    if (name !== undefined && !item) {
      throw refusedAt("X-Memsync-Fault", `refuse_item: this request has no item ${name}`);
    }
    injected?.(request, { id: misfortune.id, harm: harmOf(misfortune.effect) });
    return { request: read.request, misfortune, ...(item && { item }) };
  }

  async #suffer(
    { request, item }: Fated,
    misfortune: Misfortune,
    { context, peer }: { readonly context: RequestContext; readonly peer: PeerAddress | undefined },
  ): Promise<Response> {
    const { effect, id } = misfortune;
    const latencyMs = latencyOf(effect, this.deps.world);
    if (isEarly(effect)) await readThrough(request);
    const early = await this.#early(misfortune, context);
    if (early) {
      await this.waits.until(latencyMs);
      return early;
    }
    const answered = item
      ? await this.#refused(request, item, { context, peer })
      : await this.deps.app.fetch(request, peer);
    answered.headers.set(INJECTED_HEADER, id);
    await this.waits.until(latencyMs);
    return await late(answered, effect);
  }

  /** Ends a request without passing it to the service. */
  async #early({ id, effect }: Misfortune, context: RequestContext): Promise<Response | undefined> {
    const { disconnect, silent } = effect;
    if (!isEarly(effect)) return undefined;
    if (silent) await this.waits.until(Number.POSITIVE_INFINITY);
    if (silent || disconnect === "before")
      return cutAnswer(new Response(null), { body: undefined });
    return injectedAnswer(effect, {
      ...context,
      headers: { ...context.headers, [INJECTED_HEADER]: id },
    });
  }

  async #refused(
    request: Request,
    item: ItemRefusal,
    { context, peer }: { readonly context: RequestContext; readonly peer: PeerAddress | undefined },
  ): Promise<Response> {
    if (item.error) return errorResponse(context, item.error);
    const rest = withBody(request, JSON.stringify(item.body));
    const answered = await this.deps.app.fetch(rest, peer);
    if (answered.status !== 200) return answered;
    const whole = item.complete(await answered.json(), context.requestId);
    const headers = new Headers(answered.headers);
    headers.delete("content-length");
    return new Response(JSON.stringify(whole), { status: answered.status, headers });
  }
}

/** Whether a rule ends its request before the service sees it. */
function isEarly({ status, retryAfter, disconnect, silent }: FaultEffect): boolean {
  return (
    silent === true || disconnect === "before" || status !== undefined || retryAfter !== undefined
  );
}

function harmOf(effect: FaultEffect): Harm | undefined {
  if (isEarly(effect)) return "replaced";
  const { disconnect, truncate, malformed } = effect;
  return disconnect === "after" || truncate !== undefined || malformed ? "broken" : undefined;
}

/** Reads the body of such a request for the journal. Nothing else reads it. */
async function readThrough(request: Request): Promise<void> {
  if (request.body === null || request.bodyUsed) return;
  try {
    bodyRead(request, new Uint8Array(await request.arrayBuffer()));
  } catch {
    // It broke off: there is nothing to see.
  }
}

/** What becomes of an answer that the service has given. */
async function late(answered: Response, effect: FaultEffect): Promise<Response> {
  const { disconnect, truncate, malformed } = effect;
  if (disconnect === "after") return cutAnswer(answered, { body: undefined });
  if (truncate === undefined && !malformed) return answered;
  const body = new Uint8Array(await answered.arrayBuffer());
  const { status, headers } = answered;
  if (truncate !== undefined) {
    const response = new Response(null, { status, headers });
    return cutAnswer(response, { body: body.slice(0, sentOf(body.length, truncate)) });
  }
  headers.delete("content-length");
  headers.delete("content-encoding");
  return new Response(MALFORMED, { status, headers });
}

/** Begins like an answer, and is no JSON. */
const MALFORMED = '{"memories":[{"id":"mem_';

const CODES = new Map<number, string>(
  Object.entries(ERROR_STATUS).map(([code, status]) => [status, code]),
);

function injectedAnswer(effect: FaultEffect, context: RequestContext): Response {
  const { status = 429, error, retryAfter } = effect;
  const code = error ?? CODES.get(status) ?? (status >= 500 ? "internal" : "invalid_request");
  const wait = retryAfter ?? (status === 429 ? 1 : undefined);
  const headers = {
    ...context.headers,
    "Content-Type": "application/json; charset=utf-8",
    "Cache-Control": "no-store",
    ...(status === 401 && { "WWW-Authenticate": "Bearer" }),
    ...(wait !== undefined && { "Retry-After": String(wait) }),
  };
  if (status === 204 || status === 304) return new Response(null, { status, headers });
  const message = "this answer was injected by a fault";
  const { requestId: request_id } = context;
  const body = status < 300 ? {} : { error: { code, message, request_id } };
  return new Response(JSON.stringify(body), { status, headers });
}

/** The request with another body. Its answer is to be read, so that it must not be compressed. */
function withBody(request: Request, body: string | Uint8Array<ArrayBuffer>): Request {
  const headers = new Headers(request.headers);
  for (const name of ["content-length", "content-encoding", "accept-encoding"])
    headers.delete(name);
  // Nobody watches this one: whoever watched the former request has had its whole body.
  return new Request(request.url, { method: request.method, headers, body });
}

/** Reads a sync's body once, if a rule is about an item of it. */
class ReadAhead {
  #request: Request;
  #body: Promise<unknown> | undefined;

  constructor(request: Request) {
    this.#request = request;
  }

  /** The request, whose body can be read. */
  get request(): Request {
    return this.#request;
  }

  /** Undefined where there is no such item. */
  async refusal(name: string): Promise<ItemRefusal | undefined> {
    const { method, url } = this.#request;
    if (method !== "POST" || !pathOf(url).endsWith("/sync")) return undefined;
    this.#body ??= this.#read();
    return refuseItem(await this.#body, name);
  }

  async #read(): Promise<unknown> {
    const original = this.#request;
    const bytes = new Uint8Array(await original.arrayBuffer());
    const again = () =>
      new Request(original.url, { method: "POST", headers: original.headers, body: bytes });
    this.#request = again();
    const parsed = again();
    watchCopy(original, parsed);
    try {
      return (await readJson(parsed, LIMITS.exchangeBodyBytes))?.value;
    } catch (thrown) {
      // The service refuses it in its own way.
      if (thrown instanceof AppError) return undefined;
      throw thrown;
    }
  }
}
