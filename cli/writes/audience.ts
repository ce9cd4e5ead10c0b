import type { Kysely } from "kysely";
import { keepAgreed } from "../../daemon/home/audience-store.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readRemotes } from "../../daemon/remotes/remote-view.ts";
import { type AudienceView, readAudience } from "../../daemon/status/audience-view.ts";
import type { AccountId } from "../../shared/ids.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { realWorld } from "../../shared/world-real.ts";
import { contactDaemon, DaemonSilent, OWN_DEADLINE_MS } from "../contact/daemon-contact.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import type { Environment } from "../place/environment.ts";
import { type MemoryPlace, withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { leaveShown } from "../place/unkept-variable.ts";
import { confirm, isTerminal } from "../screen/ask.ts";
import { CommandFailed } from "../screen/errors.ts";
import { sayAside } from "../screen/output.ts";
import { isAged, isShared, seenBy } from "../views/seen-by.ts";
import { changeHome } from "./inbox-write.ts";
import { readOutOfReach, staysHere } from "./out-of-reach.ts";

/** A busy daemon may delay a list by no more than this. */
const SHOWN_DEADLINE_MS = 500;

/** Options of a command that may write to `global`. */
export interface AgreeOptions {
  /** Answers yes in advance. */
  readonly yes?: boolean;
}

/**
 * Says who can read what is about to be written, if others can. Asks on a terminal the first time.
 * `done`: what is done to it, such as "saved". Throws after a no.
 */
export async function agreeToAudience(
  env: Environment,
  place: Pick<MemoryPlace, "layer" | "account">,
  { done, options }: { readonly done: string; readonly options: AgreeOptions },
): Promise<void> {
  const { layer, account } = place;
  if (layer !== "global") return;
  const audience = await audienceOf(env, account);
  const kept = await readOutOfReach(env, { document: layer, account });
  const question = `Is it to be ${done} there?`;
  if (await mayBeSeen(env, account, { ...options, audience, question, kept })) return;
  const instead = done === "saved" ? ": what is in the layer user is seen by you alone" : "";
  throw new CommandFailed(`nothing was ${done}${instead}`, { code: "declined" });
}

/** Whether others may see what is about to be written. */
interface AudienceQuestion {
  readonly audience: AudienceView | null;
  readonly question: string;
  /** Why it stays on this machine for now; undefined where it can be sent. */
  readonly kept?: string | undefined;
}

/** The same for a caller that continues without it. False: the user does not agree. */
export async function mayBeSeen(
  env: Environment,
  account: AccountId,
  { audience, question, kept, yes = false }: AudienceQuestion & AgreeOptions,
): Promise<boolean> {
  const isAlone = !isShared(audience);
  if (isAlone && !isAged(audience)) {
    if (kept !== undefined) sayAside(staysHere("global", kept));
    return true;
  }
  const until = audience.former
    ? `, once MEMSYNC_URL is set again; ${leaveShown(audience.service)}`
    : "";
  const seen = `seen by ${seenBy(audience)}${until}`;
  const sentence =
    kept === undefined
      ? `global is ${seen}`
      : staysHere("global", kept, `, and is ${seen} once it is sent`);
  if (isAlone) {
    sayAside(sentence);
    return true;
  }
  const asks = !audience.agreed && !yes && isTerminal();
  if (asks && !(await confirm(`${sentence}. ${question}`))) return false;
  if (!asks) sayAside(sentence);
  if (!audience.agreed && (asks || yes)) await rememberAgreed(env, account, audience);
  return true;
}

/** The daemon's answer: who sees \`global\`, as far as it knows. */
interface ToldAudience {
  readonly audience: AudienceView | null;
}

/**
 * Who sees `global`: as the daemon has just heard it; without a daemon, as the service last told
 * it.
 */
export async function audienceOf(
  env: Environment,
  account: AccountId,
): Promise<AudienceView | null> {
  const daemon = await findDaemon(env.home);
  try {
    const options = { body: { account }, deadlineMs: OWN_DEADLINE_MS };
    const answer = await daemon?.call<ToldAudience>("POST", "/_memsync/audience", options);
    if (answer) return answer.audience;
  } catch (thrown) {
    if (!(thrown instanceof DaemonSilent)) throw thrown;
  }
  return await withLocal(env, (db) => localAudience(env, db, account));
}

/** As last told, without a daemon. */
export async function localAudience(
  env: Environment,
  db: Kysely<DaemonTables> | undefined,
  account: AccountId = LOCAL_ACCOUNT,
): Promise<AudienceView | null> {
  const environment = remoteEnvironment(env);
  const remotes = db ? (await readRemotes(db, environment)).remotes : [];
  const known = remotes.find((remote) => remote.account === account);
  const remote = known ?? { url: environment.url, account };
  if (db) return await readAudience(db, remote);
  if (remote.url === undefined) return null;
  return { service: remote.url, account: null, users: null, heard_at: null, agreed: false };
}

async function rememberAgreed(env: Environment, account: AccountId, { service }: AudienceView) {
  const remote = { url: service, account };
  await changeHome(env.home, (db) => keepAgreed(db, remote, realWorld.now()));
}

/**
 * Who can read the `global` memories among those that were read; undefined where there are none.
 */
export async function audienceShown(
  env: Environment,
  db: Kysely<DaemonTables> | undefined,
  {
    places,
    memories,
  }: {
    readonly places: readonly MemoryPlace[];
    readonly memories: readonly { readonly layer: Layer }[];
  },
): Promise<AudienceView | null | undefined> {
  if (!memories.some(({ layer }) => layer === "global")) return undefined;
  const place = places.find(({ layer }) => layer === "global");
  const known = place && (await localAudience(env, db, place.account));
  return known && isAged(known) ? ((await daemonsAudience(env, place.account)) ?? known) : known;
}

/** As the daemon knows it, which asks nobody. Undefined without an answer in a moment. */
async function daemonsAudience(
  { home }: Environment,
  account: AccountId,
): Promise<AudienceView | null | undefined> {
  const deadlineMs = SHOWN_DEADLINE_MS;
  const daemon = await contactDaemon(home, deadlineMs);
  const options = { body: { account, shown: true }, deadlineMs };
  const answer = daemon?.call<ToldAudience>("POST", "/_memsync/audience", options);
  return await answer?.then(
    (told) => told.audience,
    // Without an answer, what the home has is shown with its age.
    () => undefined,
  );
}

/** Says who can read what was shown, if something of `global` is among it and others can. */
export function sayAudience(audience: AudienceView | null | undefined): void {
  if (audience && isShared(audience)) sayAside(`global is seen by ${seenBy(audience)}`);
}
