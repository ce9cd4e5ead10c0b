import { readRefusal } from "../../daemon/home/read-refusal.ts";
import { serviceNameOf } from "../../daemon/home/remote.ts";
import { readRemotes } from "../../daemon/remotes/remote-view.ts";
import { explain } from "../../shared/reasons.ts";
import type { Environment } from "../place/environment.ts";
import { type MemoryPlace, withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { sayAside } from "../screen/output.ts";

/** That what is written to `user` or `global` can't be sent, and why; undefined if it can. */
export async function whyOutOfReach(
  env: Environment,
  { layer, document, account }: MemoryPlace,
): Promise<string | undefined> {
  if (layer === "project") return undefined;
  const refusal = await withLocal(env, async (db) => {
    if (!db) return undefined;
    const { remotes } = await readRemotes(db, remoteEnvironment(env));
    const service = serviceNameOf(remotes.find((each) => each.account === account));
    return await readRefusal(db, service, { owner: account, name: document });
  });
  if (refusal?.code !== "out-of-reach") return undefined;
  return `${layer} stays on this machine, where nobody else sees it: ${explain(refusal)}`;
}

/** Says it on standard error. */
export async function sayIfOutOfReach(env: Environment, place: MemoryPlace): Promise<void> {
  const why = await whyOutOfReach(env, place);
  if (why !== undefined) sayAside(why);
}
