import { prepareHome } from "../../daemon/home/home.ts";
import { readMachineName } from "../../daemon/home/machine-name.ts";
import { openHomeDatabase } from "../../daemon/home/open-home.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { keepLinks, readLinksToKeep } from "../../daemon/recovery/links-file.ts";
import {
  type ChangedRemote,
  changeRemote,
  describeRemotes,
  type ListedRemote,
  type RemoteChange,
} from "../../daemon/remotes/remote-change.ts";
import { silentLog } from "../../shared/log.ts";
import { passGate, takeLock } from "../../shared/sqlite/lock.ts";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import type { Environment } from "../place/environment.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { CommandFailed } from "../screen/errors.ts";

/**
 * Another process may have the home's lock this long: a starting daemon, or a command like this.
 */
const TRIED_MS = 5000;
const TRY_MS = 100;

/**
 * Changes the remotes through the daemon, or in its place while none runs. Durable when it
 * resolves.
 */
export async function changeRemotes(
  env: Environment,
  change: RemoteChange,
): Promise<ChangedRemote> {
  prepareHome(env.home);
  const deadline = realWorld.monotonic() + TRIED_MS;
  while (realWorld.monotonic() < deadline) {
    const daemon = await findDaemon(env.home);
    if (daemon)
      return (await daemon.call("POST", "/_memsync/remotes", { body: change })) as ChangedRemote;
    const made = await changeAlone(env, change);
    if (made) return made;
    await delay(realWorld, TRY_MS);
  }
  throw new CommandFailed(
    `another memsync process holds ${env.home.dir} and does not answer: end it and try again`,
  );
}

/** Undefined: another process has the home. */
async function changeAlone(
  env: Environment,
  change: RemoteChange,
): Promise<ChangedRemote | undefined> {
  const { home } = env;
  const lock = await takeLock(home.lock);
  if (!lock) return undefined;
  try {
    const store = await openReplica(home.database, realWorld, { machine: readMachineName(home) });
    try {
      const options = { world: realWorld, environment: remoteEnvironment(env) };
      const before = await readLinksToKeep(store.reader);
      keepLinks(home, { ...before, bindings: undefined }, silentLog);
      const changed = await store.write((context) => changeRemote(context, options, change));
      keepLinks(home, await readLinksToKeep(store.reader), silentLog);
      return changed;
    } finally {
      await store.close();
    }
  } finally {
    lock.release();
  }
}

/** The home's remotes as a running daemon sees them; without one, as this command does. */
export async function listRemotesOf(env: Environment): Promise<readonly ListedRemote[]> {
  const daemon = await findDaemon(env.home);
  if (daemon) return (await daemon.call("GET", "/_memsync/remotes")) as ListedRemote[];
  prepareHome(env.home);
  const gate = await passGate(env.home.gate, "shared");
  try {
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
