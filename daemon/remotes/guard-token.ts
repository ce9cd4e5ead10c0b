import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { findAudience, keepHeard } from "../home/audience-store.ts";
import type { Remote } from "../home/remote.ts";
import type { DaemonTables } from "../home/tables.ts";
import { type Failure, failureBy } from "../service/failure.ts";
import type { LiveConnection, LiveHandlers, Outcome, Service } from "../service/service.ts";
import { askAccount } from "./hear-audience.ts";
import { refusalOfOthers } from "./others-token.ts";

/**
 * A service whose token came from the environment, so that nobody has tried it. Where a former
 * token's user is known, nothing is exchanged before the service has told whose this one is. Of
 * another user's, every call fails with the reason.
 */
export async function guardToken(
  service: Service,
  remote: Remote,
  store: ReplicaStore<DaemonTables>,
): Promise<Service> {
  const known = await findAudience(store.reader, remote);
  const isKnown = known.token !== undefined && known.token === service.tokenDigest;
  if (isKnown || (known.name ?? known.user) === null) return service;
  return guarded(service, async () => {
    const asked = await askAccount(service);
    if (asked.kind !== "answered") return asked;
    const told = asked.value;
    const refusal = refusalOfOthers(remote, known, { token: "MEMSYNC_TOKEN", told });
    if (refusal !== undefined) {
      return { kind: "others", why: failureBy({ code: "token-of-another", refusal }) };
    }
    const token = service.tokenDigest;
    await store.write(({ db, now }) => keepHeard(db, remote, { heard: told, now, token }));
    return { kind: "good" };
  });
}

/** Whether a token may be used; or why that could not be found out. */
type Verdict =
  | { readonly kind: "good" }
  | { readonly kind: "others"; readonly why: Failure }
  | Exclude<Outcome<never>, { readonly kind: "answered" }>;

/** Asks `judge` before the first call, and again as long as it could not find out. */
function guarded(service: Service, judge: () => Promise<Verdict>): Service {
  let verdict: Verdict | undefined;
  let judging: Promise<Verdict> | undefined;
  const refusal = () => (verdict?.kind === "others" ? verdict.why : undefined);
  /** Undefined: calls may be made. */
  const failure = async (): Promise<Outcome<never> | undefined> => {
    if (verdict?.kind !== "good" && verdict?.kind !== "others") {
      judging ??= judge();
      verdict = await judging.finally(() => {
        judging = undefined;
      });
    }
    if (verdict.kind === "good") return undefined;
    return verdict.kind === "others" ? { kind: "unreachable", ...verdict.why } : verdict;
  };
  const first =
    <Asked extends unknown[], Value>(call: (...asked: Asked) => Promise<Outcome<Value>>) =>
    async (...asked: Asked): Promise<Outcome<Value>> =>
      (await failure()) ?? (await call(...asked));
  const { exchangeBatch, openLive } = service;
  return {
    ...service,
    get isBlocked() {
      return refusal() !== undefined;
    },
    get blockedBy() {
      return refusal();
    },
    exchange: first(service.exchange),
    ...(exchangeBatch && { exchangeBatch: first(exchangeBatch) }),
    createProject: first(service.createProject),
    request: first(service.request),
    forward: first(service.forward),
    ...(openLive && { openLive: (handlers) => openAfter(failure, { openLive, handlers }) }),
  };
}

/** A live socket that is opened once calls may be made. */
function openAfter(
  failure: () => Promise<Outcome<never> | undefined>,
  { openLive, handlers }: { openLive: NonNullable<Service["openLive"]>; handlers: LiveHandlers },
): LiveConnection {
  let inner: LiveConnection | undefined;
  let isOver = false;
  const end = (message: string) => {
    if (!isOver) handlers.closed(message);
    isOver = true;
  };
  failure().then(
    (failed) => {
      if (failed) end("message" in failed ? failed.message : "it may not be opened");
      else if (!isOver) inner = openLive(handlers);
    },
    (thrown) => end(String(thrown)),
  );
  return {
    subscribe: (projects) => inner?.subscribe(projects),
    close: () => (inner ? inner.close() : end("closed here")),
  };
}
