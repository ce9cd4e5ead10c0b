import { readRefusal } from "../../daemon/home/read-refusal.ts";
import { serviceNameOf } from "../../daemon/home/remote.ts";
import { readRemotes } from "../../daemon/remotes/remote-view.ts";
import type { Failure } from "../../daemon/service/failure.ts";
import { explain, type Reason, type ReasonCode } from "../../shared/reasons.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import { contactDaemon } from "../contact/daemon-contact.ts";
import type { Environment } from "../place/environment.ts";
import { type MemoryPlace, withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { sayAside } from "../screen/output.ts";

/** Why what is written there can't be sent with the token; undefined if it can. */
export async function readOutOfReach(
  env: Environment,
  { document, account }: Omit<MemoryPlace, "remote" | "layer">,
): Promise<string | undefined> {
  const refusal = await withLocal(env, async (db) => {
    if (!db) return undefined;
    const { remotes } = await readRemotes(db, remoteEnvironment(env));
    const service = serviceNameOf(remotes.find((each) => each.account === account));
    return await readRefusal(db, service, { owner: account, name: document });
  });
  const call = refusal ? undefined : await askDaemon(env, { account, document });
  if (call?.blocked?.code === "token-of-another") return call.blocked.message;
  const why = refusal ?? call?.refused;
  return why && BY_TOKEN.has(why.code) ? explain(why) : undefined;
}

/** The refusals that another token would end. */
const BY_TOKEN: ReadonlySet<ReasonCode> = new Set([
  "out-of-reach",
  "token-forbids",
  "call-forbidden",
]);

/** Why the service refused the last call about a project, and why none is made at all. */
interface RefusedCall {
  readonly refused: Reason | null;
  readonly blocked: Failure | null;
}

/**
 * Asks the daemon, which alone knows because it makes the calls. A busy one is not waited for,
 * since this is only a remark.
 */
async function askDaemon(
  { home }: Environment,
  { account, document }: Pick<MemoryPlace, "account" | "document">,
): Promise<RefusedCall | undefined> {
  const daemon = await contactDaemon(home, DEADLINE_MS);
  const body = { account, project: projectOf(document) };
  const answer = daemon?.call<RefusedCall>("POST", REFUSAL, { body, deadlineMs: DEADLINE_MS });
  return await answer?.catch(() => undefined);
}

const REFUSAL = "/_memsync/refusal";
const DEADLINE_MS = 500;

/** Says it on standard error. Of `global` it is said with who can read it. */
export async function sayIfOutOfReach(env: Environment, place: MemoryPlace): Promise<void> {
  if (place.layer === "global") return;
  const why = await readOutOfReach(env, place);
  if (why !== undefined) sayAside(staysHere(place.layer, why));
}

/** That what is written stays here, in one sentence. `later`: what happens once it is sent. */
export function staysHere(layer: Layer, why: string, later = ""): string {
  const where = layer === "project" ? "the project" : layer;
  return `what is changed in ${where} stays on this machine${later}: ${why}`;
}
