import type { AccountId } from "../../../shared/ids.ts";
import type { World } from "../../../shared/world.ts";
import type { App } from "../../app/app.ts";
import { bearerToken } from "../../http/bearer.ts";
import { cutOf } from "../../http/cut-answer.ts";
import { hasBody } from "../../http/has-body.ts";
import type { PeerAddress } from "../../http/metrics-access.ts";
import { pathOf } from "../../http/query.ts";
import { watchBody } from "../../http/watched-body.ts";
import type { Injected } from "../faults/misbehaviour.ts";
import type { Journal, RequestEntry } from "./journal.ts";
import { KnownEnds } from "./known-ends.ts";
import { goneSocket, recordSocket } from "./recorded-socket.ts";
import { wasLost } from "./repeated-writes.ts";
import { isCounted, RetryWaits } from "./retry-waits.ts";

/** What recording stands on. */
export interface RecordingDeps {
  readonly app: App;
  readonly journal: Journal;
  readonly accountOf: (headers: Headers) => AccountId | undefined;
  /** By the emulator's clock. */
  readonly world: Pick<World, "now" | "monotonic">;
  readonly real: Pick<World, "monotonic" | "setTimer">;
}

/** A service whose requests are recorded. */
export interface Recording {
  readonly app: App;
  /** This request had the fault of this rule. */
  injected(request: Request, rule: Injected): void;
  /** Forgets that clients of an account, or of all, were told to wait. */
  forgetWaits(account: AccountId | undefined): void;
  /**
   * Forgets that clients of an account, or of all, were told to wait. With `faults`, the ids of
   * rules: only what these told.
   */
  lifted(account: AccountId | undefined, faults?: readonly string[]): void;
  /** Another test may begin: what faults have said in the state before is as if never said. */
  takenBack(account: AccountId | undefined): void;
  close(): void;
}

/** Records each request when it comes, and what becomes of it when that is known. */
export function createRecording(deps: RecordingDeps): Recording {
  const { app, journal, accountOf, world } = deps;
  const entries = new WeakMap<Request, RequestEntry>();
  /** Of these, the handshakes of live sockets. */
  const live = new WeakSet<Request>();
  const waits = new RetryWaits(deps);
  const ends = new KnownEnds(deps.real);
  let serial = 0;

  function begin(request: Request, peer: PeerAddress | undefined): RequestEntry {
    serial += 1;
    const account = accountOf(request.headers);
    const connection = connectionOf(peer);
    const entry = newEntry(request, { serial, receivedAt: world.now(), account, connection });
    for (const together of ends.began(entry)) journal.changed(together);
    if (isCounted(entry, app.routes)) waits.came(entry);
    entries.set(request, entry);
    watchBody(request, (bytes) => journal.keepBody(entry, bytes));
    journal.add(entry);
    return entry;
  }

  async function finish(entry: RequestEntry, response: Response): Promise<void> {
    const isCut = cutOf(response) !== undefined;
    keepAnswer(entry, response, world.now());
    ends.ended(entry, { matters: waits.answered(entry) || wasLost(entry) });
    const isPlain = response.headers.get("content-encoding") === null;
    if (response.status >= 400 && !isCut && isPlain) entry.refusal = await response.clone().text();
    journal.changed(entry);
  }

  return {
    app: {
      ...app,
      async fetch(request, peer) {
        const entry = begin(request, peer);
        const response = await app.fetch(request, peer);
        await finish(entry, response);
        return response;
      },
      async openLive(request, peer) {
        const entry = begin(request, peer);
        live.add(request);
        const handshake = await app.openLive(request, peer);
        if (!handshake.accepted) {
          await finish(entry, handshake.response);
          return handshake;
        }
        ends.ended(entry, { matters: false });
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
        ends.ended(entry, { matters: true });
        if (live.has(request)) entry.socket = goneSocket(world.now());
        journal.changed(entry);
      },
    },
    injected(request, { id, harm }) {
      const entry = entries.get(request);
      if (entry) Object.assign(entry, { injected: id, harm });
    },
    forgetWaits(account) {
      waits.forget(isOf(account));
      ends.forget(account);
    },
    lifted: (account, faults) => waits.forget(isOf(account, faults)),
    takenBack: (account) => takeBack({ journal, waits }, account),
    close: () => ends.close(),
  };
}

/** What the limits themselves told stays, because they are not part of a state. */
function takeBack(
  { journal, waits }: { readonly journal: Journal; readonly waits: RetryWaits },
  account: AccountId | undefined,
): void {
  journal.takeBack(account);
  const isTheirs = isOf(account);
  waits.forget((entry) => entry.harm === "replaced" && isTheirs(entry));
}

/** Of an account, or of all; with `faults` what one of these answered in place of the service. */
function isOf(
  account: AccountId | undefined,
  faults?: readonly string[],
): (entry: RequestEntry) => boolean {
  return (entry) => {
    const { injected = "", harm } = entry;
    const isTheirs = !faults || (harm === "replaced" && faults.includes(injected));
    return isTheirs && (account === undefined || entry.account === account);
  };
}

function keepAnswer(entry: RequestEntry, response: Response, at: number): void {
  entry.finishedAt = at;
  const cut = cutOf(response);
  if (!cut || cut.body) {
    entry.status = response.status;
    entry.responseHeaders = response.headers;
  }
  entry.requestId = response.headers.get("x-request-id") ?? undefined;
  entry.retryAfter = cut ? null : response.headers.get("retry-after");
}

type Receipt = Pick<RequestEntry, "serial" | "receivedAt" | "account" | "connection">;

function connectionOf(peer: PeerAddress | undefined): string | undefined {
  const from = peer?.();
  return from && `${from.address} ${from.port}`;
}

/** A request of which nothing more is known yet. */
function newEntry({ method, headers, url }: Request, receipt: Receipt): RequestEntry {
  const start = url.indexOf("?");
  return {
    ...receipt,
    ...{ method, path: pathOf(url), query: start === -1 ? "" : url.slice(start + 1) },
    ...{ token: bearerToken(headers.get("authorization")), headers },
    hasBody: hasBody(headers),
    ...{ body: undefined, bodyBytes: 0, finishedAt: undefined, status: undefined },
    ...{ aborted: false, refusal: undefined, requestId: undefined, retryAfter: null },
    ...{ responseHeaders: undefined, injected: undefined, harm: undefined, socket: undefined },
    ...{ run: undefined, isOver: false, readAfter: undefined, isTakenBack: false },
    ...{ changedAt: 0, violations: [] },
  };
}
