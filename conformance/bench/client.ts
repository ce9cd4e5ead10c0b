import type { Timer, World } from "../../shared/world.ts";
import { GivenUp } from "./broken.ts";
import type { Exchange, Sender } from "./exchange.ts";

/** An answer that takes longer is not waited for. */
const ANSWER_DEADLINE_MS = 30_000;

/** A server that says 429 without a time is asked again after this. */
const RETRY_S = 15;

/** No request is waited for longer than this. If a day's quota is used up, waiting is useless. */
const WAIT_S_MAX = 300;

const MS_PER_S = 1000;

/** The tokens that requests carry. */
export interface Tokens {
  readonly token: string;
  /** For the same account; may only read. */
  readonly readOnlyToken?: string;
  /** For another account. */
  readonly otherToken?: string;
}

/** Where requests are sent, and with what. */
export interface ClientOptions extends Tokens {
  /** Scheme and host, without `/v1` or `/api`, no slash at the end. */
  readonly url: string;
  readonly world: World;
  /** Called before each wait for the server's rate limit. */
  readonly onWait?: (seconds: number) => void;
}

/** A request to make. */
export interface Request {
  readonly method: string;
  readonly path: string;
  /** Sent as JSON; a `Raw` unchanged. */
  readonly body?: unknown;
  readonly sender?: Sender;
}

/** A body that is sent exactly as written here. */
export class Raw {
  constructor(readonly text: string) {}
}

/** Makes requests, one by one or together, and records every answer. */
export class Client {
  /** All answers but those with status 429, in the order in which they came. */
  readonly transcript: Exchange[] = [];
  /** The answers with status 429. */
  readonly limited: Exchange[] = [];
  requests = 0;
  waitedSeconds = 0;
  #waiting: Promise<void> | undefined;

  constructor(readonly options: ClientOptions) {}

  /** Waits as long as the server's rate limit demands. Throws `GivenUp` without an answer. */
  async send(request: Request): Promise<Exchange> {
    let waited = 0;
    for (;;) {
      const exchange = await this.#once(request);
      if (exchange.status !== 429) {
        this.transcript.push(exchange);
        return exchange;
      }
      this.limited.push(exchange);
      const seconds = retryAfterOf(exchange);
      waited += seconds;
      if (waited > WAIT_S_MAX) {
        throw new GivenUp(`the server limits requests, and says to try again in ${seconds} s`);
      }
      await this.#wait(seconds);
    }
  }

  /** Requests that were refused together wait together. */
  #wait(seconds: number): Promise<void> {
    this.#waiting ??= this.#startWait(seconds).finally(() => {
      this.#waiting = undefined;
    });
    return this.#waiting;
  }

  #startWait(seconds: number): Promise<void> {
    const { onWait, world } = this.options;
    onWait?.(seconds);
    this.waitedSeconds += seconds;
    return new Promise((resolve) => {
      world.setTimer(seconds * MS_PER_S, resolve);
    });
  }

  async #once({ method, path, body, sender = "token" }: Request): Promise<Exchange> {
    const sent = textOf(body);
    const abort = new AbortController();
    const deadline = this.#deadline(abort);
    this.requests += 1;
    try {
      const response = await fetch(`${this.options.url}${path}`, {
        method,
        headers: this.#headers(sender, sent),
        redirect: "manual",
        signal: abort.signal,
        ...(sent !== undefined && { body: sent }),
      });
      const { status, headers } = response;
      const text = await response.text();
      const contentType = headers.get("content-type");
      const json = parse(text);
      return { method, path, sent, sender, status, contentType, headers, text, json };
    } catch (thrown) {
      const why = abort.signal.aborted ? "no answer in time" : reasonOf(thrown);
      throw new GivenUp(`${this.options.url} can't be reached for ${method} ${path}: ${why}`);
    } finally {
      deadline.cancel();
    }
  }

  #deadline(abort: AbortController): Timer {
    return this.options.world.setTimer(ANSWER_DEADLINE_MS, () => abort.abort());
  }

  #headers(sender: Sender, sent: string | undefined): Record<string, string> {
    const authorization = this.#authorization(sender);
    return {
      Accept: "application/json",
      ...(sent !== undefined && { "Content-Type": "application/json" }),
      ...(authorization !== undefined && { Authorization: authorization }),
    };
  }

  #authorization(sender: Sender): string | undefined {
    const { token, readOnlyToken, otherToken } = this.options;
    if (sender === "nobody") return undefined;
    if (sender === "stranger") return "Bearer nobody-has-this-token";
    if (sender === "basic") return `Basic ${token}`;
    if (sender === "reader") return `Bearer ${readOnlyToken}`;
    if (sender === "another") return `Bearer ${otherToken}`;
    return `Bearer ${token}`;
  }
}

function textOf(body: unknown): string | undefined {
  if (body === undefined) return undefined;
  return body instanceof Raw ? body.text : JSON.stringify(body);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whole seconds to wait. A server that gives none is asked again after a while. */
function retryAfterOf({ headers }: Exchange): number {
  const value = headers.get("retry-after") ?? "";
  return /^\d{1,9}$/.test(value) ? Math.max(Number(value), 1) : RETRY_S;
}

/** On Node the reason of a failed connection is in its cause. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? thrown.cause.message : thrown.message;
}
