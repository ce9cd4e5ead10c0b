import type { Timer, World } from "../../shared/world.ts";
import { GivenUp } from "./broken.ts";
import type { Exchange, Sender } from "./exchange.ts";

/** An answer that has not come by then never will. */
const ANSWER_DEADLINE_MS = 30_000;

/** A server that says 429 without saying until when is asked again so often. */
const RETRY_S = 15;

/** Nobody waits longer than this for one request; a day's quota that is used up is no wait. */
const WAIT_S_MAX = 300;

const MS_PER_S = 1000;

/** The tokens that requests carry. */
export interface Tokens {
  readonly token: string;
  /** Of the same account; may only read. */
  readonly readOnlyToken?: string;
  /** Of another account. */
  readonly otherToken?: string;
}

/** Where requests go and what they are sent with. */
export interface ClientOptions extends Tokens {
  /** Scheme and host, without `/v1` or `/api`, no slash at the end. */
  readonly url: string;
  readonly world: World;
  /** Told before each wait that the server's rate limit asks for. */
  readonly onWait?: (seconds: number) => void;
}

/** A request to make. */
export interface Request {
  readonly method: string;
  readonly path: string;
  /** Sent as JSON; a `Raw` as it is. */
  readonly body?: unknown;
  readonly sender?: Sender;
}

/** A body that is sent as it is written here. */
export class Raw {
  constructor(readonly text: string) {}
}

/** Makes requests one after another or together, and remembers every answer. */
export class Client {
  /** All answers but those with status 429, in the order in which they came. */
  readonly transcript: Exchange[] = [];
  /** The answers with status 429. */
  readonly limited: Exchange[] = [];
  requests = 0;
  waitedSeconds = 0;
  #waiting: Promise<void> | undefined;

  constructor(readonly options: ClientOptions) {}

  /** Waits as long as the server's rate limit asks. Throws `GivenUp` when there is no answer. */
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

  /** Requests that are refused together wait together. */
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

/** Whole seconds to wait; a server that names none, or a moment, is asked again in a while. */
function retryAfterOf({ headers }: Exchange): number {
  const value = headers.get("retry-after") ?? "";
  return /^\d{1,9}$/.test(value) ? Math.max(Number(value), 1) : RETRY_S;
}

/** A connection's failure has its reason in its cause on Node. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? thrown.cause.message : thrown.message;
}
