import { realWorld } from "../../shared/world-real.ts";
import { drainInbox } from "../drain-inbox.ts";
import { keepMachineName, readMachineName } from "../machine-name.ts";
import { openReplica } from "../open-replica.ts";
import type { PortableHome } from "../portable/format.ts";
import { type ImportResult, importHome, type OnImported } from "../portable/import-home.ts";
import { getDefault, readRemotes } from "../remotes/remote-view.ts";
import type { Environment } from "./environment.ts";
import { CommandFailed } from "./errors.ts";
import { findDaemon } from "./gateway-client.ts";
import { remoteEnvironment } from "./remote-environment.ts";
import { takeHome } from "./take-home.ts";

/** Imports through the daemon, or as it would where none runs; durable when it resolves. */
export async function importInto(
  env: Environment,
  document: PortableHome,
  onImported: OnImported,
): Promise<ImportResult> {
  const { home } = env;
  const daemon = await findDaemon(home);
  if (daemon) return (await daemon.call("POST", "/_memsync/import", document)) as ImportResult;
  const lock = await takeHome(home);
  if (!lock) throw new CommandFailed("a daemon has just been started: try again");
  try {
    return await importOffline(env, document, onImported);
  } finally {
    lock.release();
  }
}

async function importOffline(env: Environment, document: PortableHome, onImported: OnImported) {
  const { home } = env;
  keepMachineName(home);
  const store = await openReplica(home.database, realWorld, readMachineName(home));
  try {
    const { account } = getDefault(await readRemotes(store.reader, remoteEnvironment(env)));
    // What was written before the import comes before it.
    await drainInbox(store, account);
    return await importHome(store, document, account, onImported);
  } finally {
    await store.close();
  }
}
