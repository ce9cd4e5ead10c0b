import { randomFraction } from "../shared/world.ts";
import type { Attempt } from "./attempt.ts";
import { MemsyncError } from "./memsync-error.ts";
import type { ClientWorld, Fetch, Signal } from "./platform.ts";
import { readAnswer } from "./read-answer.ts";
import { pauseAfter } from "./retry.ts";

/** How long and how often a call is tried. */
export interface Patience {
  /** The greatest number of attempts, the first included; 5 when left out. */
  readonly attemptsMax?: number;
  /** Milliseconds for all attempts and the pauses between them; 60,000 when left out. */
  readonly deadlineMs?: number;
}

/** Choices for one call. */
export interface CallOptions extends Patience {
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: Signal;
}

/** Where a client's calls go. */
export interface TransportOptions extends Patience {
  /** Address of the service, without `/v1` or `/api`. */
  readonly url: string;
  readonly token: string;
  /** What sends requests; the platform's `fetch` when left out. */
  readonly fetch?: Fetch;
  /** Sent with every request, such as those that a proxy wants. The client's own go first. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Called after each request, for logs and figures, and waited for. What it throws or rejects with
   * ends the call.
   */
  readonly onAttempt?: (attempt: Attempt) => void | Promise<void>;
}

/** One request, with what decides whether it may be sent again. */
export interface Call {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: object;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the call can be made twice without harm. */
  readonly repeatable: boolean;
}

/** A call, with its body as it is sent in every attempt. */
interface Sendable extends Call {
  readonly json: string | undefined;
}

/** What a header can carry after `Bearer`. */
const TOKEN = /^[\x21-\x7e]+$/;

const MALFORMED_TOKEN =
  "token is missing or empty, or has a line break, a space or another character that no token " +
  "has: if it was read from a file, trim it";

const ATTEMPTS_MAX = 5;
const DEADLINE_MS = 60_000;

/** Longer timers would run at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** What one request came to: the call's answer, or why there is none. */
interface Outcome {
  readonly answer?: unknown;
  readonly failure?: MemsyncError;
  /** The caller ended it. */
  readonly aborted?: true;
  readonly headers: Headers | undefined;
  readonly status: number;
}

/** Sends calls, and repeats them as necessary where that is safe. */
export class Transport {
  readonly #base: string;
  /** What may be wrong if a path is unknown. */
  readonly #hint: string;
  readonly #options: TransportOptions;

  /** Throws a TypeError for a malformed address, token or header. */
  constructor(
    options: TransportOptions,
    readonly world: ClientWorld,
  ) {
    const { origin, pathname, protocol } = new URL(options.url);
    if (!/^https?:$/.test(protocol)) throw new TypeError("url must begin with http: or https:");
    // A program without types may give a variable that is not set.
    if (!TOKEN.test(options.token ?? "")) throw new TypeError(MALFORMED_TOKEN);
    for (const [name, value] of Object.entries(options.headers ?? {})) checkHeader(name, value);
    this.#base = `${origin}${pathname.replace(/\/+$/, "")}`;
    const [, variant] = /(\/v1|\/api)$/.exec(this.#base) ?? [];
    this.#hint = variant ? `: the url should probably end before ${variant}` : "";
    this.#options = options;
  }

  /** The answer's JSON. Rejects with a `MemsyncError`, or with the caller's signal's reason. */
  async send<Answer>(call: Call, options: CallOptions = {}): Promise<Answer> {
    const { attemptsMax = ATTEMPTS_MAX, deadlineMs = DEADLINE_MS } = {
      ...this.#options,
      ...options,
    };
    // Each platform declares its own `AbortSignal`, and all have what is used of it here.
    const signal = options.signal as AbortSignal | undefined;
    const json = jsonOf(call.body);
    const giveUpAt = this.world.monotonic() + deadlineMs;
    for (let attempt = 1; ; attempt++) {
      const startedAt = this.world.monotonic();
      signal?.throwIfAborted();
      const outcome = await this.#attempt({ ...call, json }, giveUpAt - startedAt, signal);
      const now = this.world.monotonic();
      const { failure } = outcome;
      const retryInMs =
        failure && attempt < attemptsMax
          ? this.#pauseAfter(failure, { call, attempt, leftMs: giveUpAt - now })
          : undefined;
      await this.#options.onAttempt?.({
        method: call.method,
        path: call.path,
        attempt,
        durationMs: now - startedAt,
        status: outcome.status,
        requestId: outcome.headers?.get("x-request-id") ?? undefined,
        rateLimit: outcome.headers?.get("ratelimit") ?? undefined,
        code: outcome.aborted ? "aborted" : failure?.code,
        retryInMs,
      });
      if (outcome.aborted) signal?.throwIfAborted();
      // The caller names the type that the interface has for its call; nothing is checked here.
      if (!failure) return outcome.answer as Answer;
      if (retryInMs === undefined) throw failure;
      await this.#pause(retryInMs, signal);
    }
  }

  /** Undefined if the call is not made again. */
  #pauseAfter(
    error: MemsyncError,
    { call, attempt, leftMs }: { readonly call: Call; readonly attempt: number; leftMs: number },
  ): number | undefined {
    const random = randomFraction(this.world);
    const { repeatable } = call;
    const pauseMs = pauseAfter({ error, attempt, repeatable, random });
    return pauseMs !== undefined && pauseMs < leftMs ? pauseMs : undefined;
  }

  /** Never rejects: resolves to a failure for the caller to judge. */
  async #attempt(
    call: Sendable,
    leftMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const controller = new AbortController();
    const abort = () => controller.abort();
    signal?.addEventListener("abort", abort);
    const timer = this.world.setTimer(Math.min(leftMs, TIMER_MS_MAX), abort);
    let response: Response | undefined;
    const came = () => ({ headers: response?.headers, status: response?.status ?? 0 });
    try {
      response = await this.#fetch(call, controller.signal);
      return { answer: readAnswer(response, await response.text(), this.#hint), ...came() };
    } catch (thrown) {
      if (signal?.aborted) return { aborted: true, ...came() };
      const isOurs = thrown instanceof MemsyncError;
      const failure = isOurs ? thrown : unreachable(controller.signal.aborted, thrown);
      return { failure, ...came() };
    } finally {
      timer.cancel();
      signal?.removeEventListener("abort", abort);
    }
  }

  #fetch({ method, path, query, json, headers }: Sendable, signal: AbortSignal): Promise<Response> {
    const own = {
      Authorization: `Bearer ${this.#options.token}`,
      ...(json !== undefined && { "Content-Type": "application/json" }),
      ...headers,
    };
    // Each platform declares its own `fetch`, and all take what is given to it here.
    const send = (this.#options.fetch ?? fetch) as typeof fetch;
    return send(`${this.#base}${path}${queryText(query)}`, {
      method,
      headers: { ...without(this.#options.headers, Object.keys(own)), ...own },
      ...(json !== undefined && { body: json }),
      // A redirect would send the token elsewhere, and turn a POST into a GET.
      redirect: "manual",
      credentials: "omit",
      signal,
    });
  }

  async #pause(pauseMs: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve) => {
      const end = () => {
        timer.cancel();
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = this.world.setTimer(pauseMs, end);
      signal?.addEventListener("abort", end);
    });
    signal?.throwIfAborted();
  }
}

/** Throws a TypeError that names the header, whose value may be a secret. */
export function checkHeader(name: string, value: string, option = "headers"): void {
  try {
    new Headers().set(name, value);
  } catch {
    const what = JSON.stringify(name);
    throw new TypeError(`${option}: ${what} is no header's name, or has what no header can carry`);
  }
}

/** Throws a TypeError for what JSON does not have. */
function jsonOf(body: unknown): string | undefined {
  try {
    return body === undefined ? undefined : JSON.stringify(body);
  } catch (cause) {
    throw new TypeError("the body of the call can't be written as JSON", { cause });
  }
}

/** The headers but those of these names, in whatever letters. */
function without(
  headers: Readonly<Record<string, string>> = {},
  names: readonly string[],
): Readonly<Record<string, string>> {
  const taken = new Set(names.map((name) => name.toLowerCase()));
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !taken.has(name.toLowerCase())),
  );
}

function queryText(query: object = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) params.set(name, String(value));
  }
  return params.size === 0 ? "" : `?${params}`;
}

function unreachable(timedOut: boolean, cause: unknown): MemsyncError {
  const message = timedOut
    ? "the service did not answer in time"
    : "the service can't be reached: look at the url and the network";
  return new MemsyncError(message, { code: "unreachable", status: 0, cause });
}
