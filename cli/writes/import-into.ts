import { keepMachineName } from "../../daemon/home/machine-name.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import type { PortableHome } from "../../daemon/portable/format.ts";
import {
  type ImportResult,
  importHome,
  type OnImported,
} from "../../daemon/portable/import-home.ts";
import { getDefault, readRemotes } from "../../daemon/remotes/remote-view.ts";
import type { Environment } from "../place/environment.ts";
import { ownDocument } from "../place/layer-option.ts";
import { withLocal } from "../place/place.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { byHolder } from "./by-holder.ts";
import { findOthersDaemon, refuseOthers } from "./refuse-others.ts";

/**
 * Imports through the daemon, or in the same way without one. Durable when it resolves. Throws
 * `CommandFailed` where a shell of another user's would write to `user` or `global`.
 */
export async function importInto(
  env: Environment,
  document: PortableHome,
  onImported: OnImported,
): Promise<ImportResult> {
  await refuseOwn(env, document);
  return await byHolder(env.home, {
    async byDaemon(daemon) {
      return await daemon.call<ImportResult>("POST", "/_memsync/import", { body: document });
    },
    async alone(store) {
      keepMachineName(env.home);
      const { account } = getDefault(await readRemotes(store.reader, remoteEnvironment(env)));
      // Earlier writes come before the import.
      await drainInbox(store, account);
      return await importHome(store, document, { own: account, onImported });
    },
  });
}

async function refuseOwn(env: Environment, { user, global }: PortableHome): Promise<void> {
  const layers = [
    ...(user.memories.length > 0 ? (["user"] as const) : []),
    ...(global.memories.length > 0 ? (["global"] as const) : []),
  ];
  if (layers.length === 0) return;
  const daemon = await findOthersDaemon(env.home);
  await withLocal(env, async (db) => {
    if (!db) return;
    const account = (await readRemotes(db, remoteEnvironment(env))).default?.account;
    for (const layer of layers) {
      await refuseOthers(env.home, db, { document: ownDocument(layer), account, daemon });
    }
  });
}
