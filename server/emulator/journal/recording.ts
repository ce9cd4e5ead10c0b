import type { AccountId } from "../../../shared/ids.ts";
import type { World } from "../../../shared/world.ts";
import type { App } from "../../app/app.ts";
import { bearerToken } from "../../http/bearer.ts";
import { cutOf } from "../../http/cut-answer.ts";
import { pathOf } from "../../http/query.ts";
import { watchBody } from "../../http/watched-body.ts";
import type { Journal, RequestEntry } from "./journal.ts";
import { goneSocket, recordSocket } from "./recorded-socket.ts";
import { RetryWaits } from "./retry-waits.ts";

/** What recording stands on. */
export interface RecordingDeps {
  readonly app: App;
  readonly journal: Journal;
  readonly accountOf: (headers: Headers) => AccountId | undefined;
  /** By the emulator's clock. */
  readonly world: Pick<World, "now">;
  readonly real: Pick<World, "monotonic">;
}

/** A service whose requests are recorded. */
export interface Recording {
  readonly app: App;
  /** This request had the fault of this id. */
  injected(request: Request, id: string): void;
  /** Forgets who of an account was told to wait, or of all. */
  forgetWaits(account: AccountId | undefined): void;
}

/** Records each request when it comes, and what becomes of it when that is known. */
export function createRecording(deps: RecordingDeps): Recording {
  const { app, journal, accountOf, world } = deps;
  const entries = new WeakMap<Request, RequestEntry>();
  /** Of these, the handshakes of live sockets. */
  const live = new WeakSet<Request>();
  const waits = new RetryWaits(world, deps.real);
  let serial = 0;

  function begin(request: Request): RequestEntry {
    serial += 1;
    const account = accountOf(request.headers);
    const entry = newEntry(request, { serial, receivedAt: world.now(), account });
    const early = waits.came(entry);
    if (early !== undefined) entry.violations.push({ rule: "early-retry", text: early });
    entries.set(request, entry);
    watchBody(request, (bytes) => journal.keepBody(entry, bytes));
    journal.add(entry);
    return entry;
  }

  async function finish(entry: RequestEntry, response: Response): Promise<void> {
    entry.finishedAt = world.now();
    const isCut = cutOf(response) !== undefined;
    if (!isCut || cutOf(response)?.body) {
      entry.status = response.status;
      entry.responseHeaders = response.headers;
    }
    entry.requestId = response.headers.get("x-request-id") ?? undefined;
    entry.retryAfter = isCut ? null : response.headers.get("retry-after");
    waits.answered(entry);
    const isPlain = response.headers.get("content-encoding") === null;
    if (response.status >= 400 && !isCut && isPlain) entry.refusal = await response.clone().text();
    if (entry.status === 429 && entry.injected === undefined) {
      const text = "asked for more than the plan of the account allows";
      entry.violations.push({ rule: "over-limit", text });
    }
    journal.changed(entry);
  }

  return {
    app: {
      ...app,
      async fetch(request, peer) {
        const entry = begin(request);
        const response = await app.fetch(request, peer);
        await finish(entry, response);
        return response;
      },
      async openLive(request, peer) {
        const entry = begin(request);
        live.add(request);
        const handshake = await app.openLive(request, peer);
        if (!handshake.accepted) {
          await finish(entry, handshake.response);
          return handshake;
        }
        // Nobody is there to be answered: the listener finds the connection gone.
        if (entry.aborted) return handshake;
        entry.status = 101;
        entry.requestId = handshake.headers["X-Request-Id"];
        entry.responseHeaders = new Headers(handshake.headers);
        entry.finishedAt = world.now();
        const recorded = recordSocket(handshake, { entry, journal, world });
        journal.changed(entry);
        return recorded;
      },
      aborted(request) {
        const entry = entries.get(request);
        if (!entry || entry.finishedAt !== undefined) return;
        entry.aborted = true;
        if (live.has(request)) entry.socket = goneSocket(world.now());
        journal.changed(entry);
      },
    },
    injected(request, id) {
      const entry = entries.get(request);
      if (entry) entry.injected = id;
    },
    forgetWaits: (account) => waits.forget(account),
  };
}

type Receipt = Pick<RequestEntry, "serial" | "receivedAt" | "account">;

/** A request of which nothing more is known yet. */
function newEntry({ method, headers, url }: Request, receipt: Receipt): RequestEntry {
  const start = url.indexOf("?");
  return {
    ...receipt,
    ...{ method, path: pathOf(url), query: start === -1 ? "" : url.slice(start + 1) },
    ...{ token: bearerToken(headers.get("authorization")), headers },
    hasBody: headers.has("transfer-encoding") || Number(headers.get("content-length")) > 0,
    ...{ body: undefined, bodyBytes: 0, finishedAt: undefined, status: undefined },
    ...{ aborted: false, refusal: undefined, requestId: undefined, retryAfter: null },
    ...{ responseHeaders: undefined, injected: undefined, socket: undefined },
    ...{ changedAt: 0, violations: [] },
  };
}
