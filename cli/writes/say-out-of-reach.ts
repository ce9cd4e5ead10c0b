import { readRefusal } from "../../daemon/home/read-refusal.ts";
import { serviceNameOf } from "../../daemon/home/remote.ts";
import { readRemotes } from "../../daemon/remotes/remote-view.ts";
import { explain } from "../../shared/reasons.ts";
import type { Environment } from "../place/environment.ts";
import { type MemoryPlace, withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { sayAside } from "../screen/output.ts";

/** Says on standard error if what was just written to `user` or `global` can't be sent. */
export async function sayIfOutOfReach(
  env: Environment,
  { layer, document, account }: MemoryPlace,
): Promise<void> {
  if (layer === "project") return;
  const refusal = await withLocal(env, async (db) => {
    if (!db) return undefined;
    const { remotes } = await readRemotes(db, remoteEnvironment(env));
    const service = serviceNameOf(remotes.find((each) => each.account === account));
    return await readRefusal(db, service, { owner: account, name: document });
  });
  if (refusal?.code !== "out-of-reach") return;
  sayAside(`${layer} stays on this machine, where nobody else sees it: ${explain(refusal)}`);
}
