import { keepMachineName, readMachineName } from "../../daemon/home/machine-name.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { drainInbox } from "../../daemon/inbox/drain-inbox.ts";
import type { PortableHome } from "../../daemon/portable/format.ts";
import {
  type ImportResult,
  importHome,
  type OnImported,
} from "../../daemon/portable/import-home.ts";
import { getDefault, readRemotes } from "../../daemon/remotes/remote-view.ts";
import { realWorld } from "../../shared/world-real.ts";
import { findDaemon } from "../contact/gateway-client.ts";
import { takeHome } from "../contact/take-home.ts";
import type { Environment } from "../place/environment.ts";
import { remoteEnvironment } from "../place/remote-environment.ts";
import { CommandFailed } from "../screen/errors.ts";

/** Imports through the daemon, or in the same way without one. Durable when it resolves. */
export async function importInto(
  env: Environment,
  document: PortableHome,
  onImported: OnImported,
): Promise<ImportResult> {
  const { home } = env;
  const daemon = await findDaemon(home);
  if (daemon)
    return (await daemon.call("POST", "/_memsync/import", { body: document })) as ImportResult;
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
  const store = await openReplica(home.database, realWorld, { machine: readMachineName(home) });
  try {
    const { account } = getDefault(await readRemotes(store.reader, remoteEnvironment(env)));
    // Earlier writes come before the import.
    await drainInbox(store, account);
    return await importHome(store, document, { own: account, onImported });
  } finally {
    await store.close();
  }
}
