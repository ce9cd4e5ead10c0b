import type { Dice } from "./dice.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import type { ServerNode } from "./server-node.ts";
import type { Weather } from "./weather.ts";

/** A request may come a second time this much later. */
const ECHO_MS_MAX = 5000;
const RETRY_AFTER_S_MAX = 20;
/** A unit that the service refuses stays refused for so long. */
const REFUSED_MS = 8000;

/** What came back to a machine, and when. */
export interface Delivery {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

/** The ways between the machines and the services. */
export class Network {
  weather: Weather;
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  readonly #servers: readonly ServerNode[];
  readonly #cut = new Set<string>();
  readonly #refusedUntil = new Map<string, number>();

  constructor(scheduler: Scheduler, dice: Dice, servers: readonly ServerNode[], weather: Weather) {
    this.scheduler = scheduler;
    this.dice = dice;
    this.#servers = servers;
    this.weather = weather;
  }

  /** The service at an address. */
  serverAt(url: string): ServerNode {
    const { origin } = new URL(url);
    const found = this.#servers.find((each) => each.url === origin);
    if (!found) throw new Error(`there is no service at ${url}`);
    return found;
  }

  cut(machine: string): void {
    this.#cut.add(machine);
  }

  restore(machine: string): void {
    this.#cut.delete(machine);
  }

  isCut(machine: string): boolean {
    return this.#cut.has(machine);
  }

  latency(): number {
    return this.dice.between(0.1, 2) * this.weather.latencyMs;
  }

  /** Sends a machine's request; settles as `fetch` does, or not before it is aborted. */
  send(machine: string, owner: Owner, request: Request): Promise<Response> {
    return new Promise<Response>((resolve, reject) => {
      request.signal.addEventListener("abort", () => reject(new Error("aborted")));
      const fail = () => this.#later(owner, () => reject(new Error("the connection failed")));
      void request.text().then((body) => {
        this.#later(owner, () => {
          if (this.isCut(machine)) {
            if (this.dice.chance(0.5)) fail();
            return;
          }
          this.#arrive(machine, owner, request, body, resolve, fail);
        });
      });
    });
  }

  #arrive(
    machine: string,
    owner: Owner,
    request: Request,
    body: string,
    resolve: (response: Response) => void,
    fail: () => void,
  ): void {
    const { dice, weather } = this;
    const server = this.serverAt(request.url);
    const answer = (response: Response) => this.#later(owner, () => resolve(response));
    const isLost = dice.chance(weather.lostRequest);
    const made = isLost ? undefined : this.#answerInstead(request.url);
    if (isLost && dice.chance(0.5)) fail();
    if (made) answer(made);
    if (isLost || made) return;
    if (dice.chance(weather.doubled)) {
      this.scheduler.after(dice.between(0, ECHO_MS_MAX), ALWAYS, () => {
        server.fetch(copyOf(request, body)).catch(() => {
          // Nobody waits for this answer.
        });
      });
    }
    server.fetch(copyOf(request, body)).then(
      (response) => {
        if (this.isCut(machine) || dice.chance(weather.lostAnswer)) {
          if (dice.chance(0.5)) fail();
        } else if (dice.chance(weather.garbage)) void this.#spoil(response).then(answer);
        else answer(response);
      },
      () => {
        if (dice.chance(0.8)) fail();
      },
    );
  }

  /** What a service under load, or something on the way to it, says instead of an answer. */
  #answerInstead(url: string): Response | undefined {
    const { dice, weather, scheduler } = this;
    if (dice.chance(weather.busy)) {
      const seconds = dice.below(RETRY_AFTER_S_MAX);
      return errorAnswer(429, { "retry-after": String(seconds) });
    }
    if (dice.chance(weather.broken)) return errorAnswer(dice.pick([500, 502, 503]), {});
    if (dice.chance(weather.refusedUnit)) {
      this.#refusedUntil.set(url, scheduler.now + REFUSED_MS);
    }
    const isRefused = (this.#refusedUntil.get(url) ?? 0) > scheduler.now;
    return isRefused ? errorAnswer(400, {}) : undefined;
  }

  async #spoil(response: Response): Promise<Response> {
    const text = await response.text();
    const spoiled = this.dice.pick([
      "",
      "<html>not what you asked</html>",
      "null",
      '{"crdt":{"encoding":"yjs-v1","documents":{"project":{"epoch":1}}}}',
      text.slice(0, this.dice.below(text.length + 1)),
    ]);
    return new Response(spoiled, { status: 200 });
  }

  #later(owner: Owner, run: () => void): void {
    this.scheduler.after(this.latency(), owner, run);
  }
}

const ALWAYS: Owner = { alive: true };

function copyOf(request: Request, body: string): Request {
  const { url, method, headers } = request;
  return new Request(url, { method, headers, ...(method !== "GET" && { body }) });
}

function errorAnswer(status: number, headers: Record<string, string>): Response {
  const body = JSON.stringify({ error: { code: "simulated", message: "the weather" } });
  return new Response(body, { status, headers });
}
