import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { keepHeard } from "../home/audience-store.ts";
import { findOwner } from "../home/former-service.ts";
import { forgetOtherServices } from "../home/positions.ts";
import type { Remote } from "../home/remote.ts";
import type { DaemonTables } from "../home/tables.ts";
import { type Failure, failureBy } from "../service/failure.ts";
import type { LiveConnection, LiveHandlers, Outcome, Service } from "../service/service.ts";
import { askAccount } from "./hear-audience.ts";
import { refusalElsewhere, refusalOfOthers } from "./others-token.ts";

/**
 * A service whose token came from the environment, so that nobody has tried it. Where it is known
 * whose memories these are, nothing is exchanged before the service has told whose the token is,
 * and nothing of a service under another address is forgotten. Of another user's or account's,
 * every call fails with the reason. The same service: there is nothing to ask.
 */
export async function guardToken(
  service: Service,
  remote: Remote,
  store: ReplicaStore<DaemonTables>,
): Promise<Service> {
  const known = await findOwner(store.reader, remote);
  const isHere = known?.service === remote.url;
  if (!known) return service;
  const { tokenDigest: digest } = service;
  if (isHere && digest !== undefined && known.tokens.includes(digest)) return service;
  return guarded(service, async () => {
    const asked = await askAccount(service);
    if (asked.kind !== "answered") return asked;
    const told = asked.value;
    const refusal = isHere
      ? refusalOfOthers(remote, known, { token: "MEMSYNC_TOKEN", told })
      : refusalElsewhere(remote, known, told);
    if (refusal !== undefined) {
      return { kind: "others", why: failureBy({ code: "token-of-another", refusal }) };
    }
    const token = service.tokenDigest;
    await store.write(async ({ db, now }) => {
      await keepHeard(db, remote, { heard: told, now, token });
      await forgetOtherServices(db, remote.account, service.name);
    });
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
