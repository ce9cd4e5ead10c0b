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
import { remoteEnvironment } from "../place/remote-environment.ts";
import { byHolder } from "./by-holder.ts";

/** Imports through the daemon, or in the same way without one. Durable when it resolves. */
export function importInto(
  env: Environment,
  document: PortableHome,
  onImported: OnImported,
): Promise<ImportResult> {
  return byHolder(env.home, {
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
