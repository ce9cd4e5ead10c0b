import { readRefusal } from "../../daemon/home/read-refusal.ts";
import { serviceNameOf } from "../../daemon/home/remote.ts";
import { readRemotes } from "../../daemon/remotes/remote-view.ts";
import { explain } from "../../shared/reasons.ts";
import type { Layer } from "../../shared/wire/layer.ts";
import type { Environment } from "../place/environment.ts";
import { type MemoryPlace, withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { sayAside } from "../screen/output.ts";

/** Why what is written to `user` or `global` can't be sent; undefined if it can. */
export async function readOutOfReach(
  env: Environment,
  { layer, document, account }: Omit<MemoryPlace, "remote">,
): Promise<string | undefined> {
  if (layer === "project") return undefined;
  const refusal = await withLocal(env, async (db) => {
    if (!db) return undefined;
    const { remotes } = await readRemotes(db, remoteEnvironment(env));
    const service = serviceNameOf(remotes.find((each) => each.account === account));
    return await readRefusal(db, service, { owner: account, name: document });
  });
  const isOut = refusal?.code === "out-of-reach" || refusal?.code === "token-forbids";
  return isOut ? explain(refusal) : undefined;
}

/** Says it on standard error. Of `global` it is said with who can read it. */
export async function sayIfOutOfReach(env: Environment, place: MemoryPlace): Promise<void> {
  if (place.layer === "global") return;
  const why = await readOutOfReach(env, place);
  if (why !== undefined) sayAside(staysHere(place.layer, why));
}

/** That what is written stays here, in one sentence. `later`: what happens once it is sent. */
export function staysHere(layer: Layer, why: string, later = ""): string {
  return `what is changed in ${layer} stays on this machine${later}: ${why}`;
}
