import { messageOf } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import { encodeExchangeRequest, parseExchangeAnswer } from "../../shared/wire/exchange.ts";
import type { World } from "../../shared/world.ts";
import { openLiveConnection } from "./live-connection.ts";
import type { Outcome, Service } from "./service.ts";

/** A call that has not been answered by then counts as unreachable. */
const CALL_DEADLINE_MS = 30_000;

/** Where the service is, and the token that every call and the live socket carry. */
export interface HttpServiceOptions {
  /** Scheme and host, without `/v1` or `/api`. */
  readonly url: string;
  readonly token: string;
  readonly world: World;
}

/** Sends one request to the service; `fetch` itself, or an app's in this process. */
export type Send = (request: Request) => Promise<Response>;

/** The service behind an address. */
export function createHttpService({ url, token, world }: HttpServiceOptions): Service {
  const base = url.replace(/\/+$/, "");
  const ending = new AbortController();
  const calls = createCalls((request) => fetch(request), base, token, world, ending.signal);
  return {
    name: base,
    ...calls,
    abandonCalls: () => ending.abort(),
    openLive: (handlers) => openLiveConnection({ url: base, token, world, handlers }),
    close: async () => {},
  };
}

/** The calls of a `Service` over anything that answers requests; `ending` ends all of them. */
export function createCalls(
  send: Send,
  base: string,
  token: string,
  world: World,
  ending?: AbortSignal,
): Pick<Service, "exchange" | "createProject" | "forward"> {
  const call = (method: string, path: string, body?: string) =>
    callOnce(send, world, base + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body }),
      ...(ending !== undefined && { signal: ending }),
    });
  return {
    async exchange(project, request) {
      const path = project === null ? "/api/sync" : `/api/projects/${project}/sync`;
      const body = JSON.stringify(encodeExchangeRequest(request));
      const outcome = await call("POST", path, body);
      if (outcome.kind !== "answered") return outcome;
      try {
        return { kind: "answered", value: parseExchangeAnswer(outcome.value) };
      } catch (thrown) {
        const message = `the service's answer is not a replica exchange: ${messageOf(thrown)}`;
        return { kind: "unreachable", message };
      }
    },
    async createProject(id: ProjectId, name: string) {
      const outcome = await call("POST", "/api/projects", JSON.stringify({ id, name }));
      return outcome.kind === "answered" ? { kind: "answered", value: undefined } : outcome;
    },
    forward: call,
  };
}

async function callOnce(
  send: Send,
  world: World,
  url: string,
  init: RequestInit,
): Promise<Outcome<unknown>> {
  const late = new AbortController();
  const deadline = world.setTimer(CALL_DEADLINE_MS, () => late.abort());
  const signal = init.signal ? AbortSignal.any([late.signal, init.signal]) : late.signal;
  try {
    const response = await send(new Request(url, { ...init, signal }));
    return await outcomeOf(response);
  } catch (thrown) {
    const message = late.signal.aborted ? "it did not answer in time" : messageOf(thrown);
    return { kind: "unreachable", message };
  } finally {
    deadline.cancel();
  }
}

async function outcomeOf(response: Response): Promise<Outcome<unknown>> {
  const text = await response.text();
  if (response.ok) {
    try {
      return { kind: "answered", value: JSON.parse(text) };
    } catch {
      return { kind: "unreachable", message: "its answer is not JSON" };
    }
  }
  const message = `it answered ${response.status}: ${errorMessageIn(text)}`;
  if (response.status === 429 || response.status >= 500) {
    return { kind: "busy", message, retryAfterMs: retryAfterMs(response) };
  }
  return { kind: "refused", status: response.status, message };
}

function errorMessageIn(text: string): string {
  try {
    const body = JSON.parse(text) as { error?: { message?: unknown } };
    return String(body.error?.message ?? "no reason given");
  } catch {
    return "no reason given";
  }
}

function retryAfterMs(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
