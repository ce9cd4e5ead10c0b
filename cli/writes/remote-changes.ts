import { prepareHome } from "../../daemon/home/home.ts";
import { openHomeDatabase, refuseLost } from "../../daemon/home/open-home.ts";
import { keepLinks, readLinksToKeep } from "../../daemon/recovery/links-file.ts";
import {
  type ChangedRemote,
  changeRemote,
  describeRemotes,
  type ListedRemote,
  type RemoteChange,
} from "../../daemon/remotes/remote-change.ts";
import { silentLog } from "../../shared/log.ts";
import { passGate } from "../../shared/sqlite/lock.ts";
import { realWorld } from "../../shared/world-real.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import type { Environment } from "../place/environment.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { byHolder } from "./by-holder.ts";

/** Changes the remotes through the daemon, or in its place. Durable when it resolves. */
export function changeRemotes(env: Environment, change: RemoteChange): Promise<ChangedRemote> {
  return byHolder(env.home, {
    async byDaemon(daemon) {
      return await daemon.call<ChangedRemote>("POST", "/_memsync/remotes", { body: change });
    },
    async alone(store) {
      const { home } = env;
      const options = { world: realWorld, environment: remoteEnvironment(env) };
      const before = await readLinksToKeep(store.reader);
      keepLinks(home, { ...before, bindings: undefined }, silentLog);
      const changed = await store.write((context) => changeRemote(context, options, change));
      keepLinks(home, await readLinksToKeep(store.reader), silentLog);
      return changed;
    },
  });
}

/** The home's remotes as a running daemon sees them; without one, as this command does. */
export async function listRemotesOf(env: Environment): Promise<readonly ListedRemote[]> {
  const daemon = await findDaemon(env.home);
  if (daemon) return await daemon.call<ListedRemote[]>("GET", "/_memsync/remotes");
  prepareHome(env.home);
  const gate = await passGate(env.home.gate, "shared");
  try {
    await refuseLost(env.home);
    const database = await openHomeDatabase(env.home.database);
    try {
      return await describeRemotes(database.reader, remoteEnvironment(env));
    } finally {
      await database.close();
    }
  } finally {
    gate.release();
  }
}
