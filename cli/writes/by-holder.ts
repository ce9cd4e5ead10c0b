import type { Home } from "../../daemon/home/home.ts";
import { HomeId } from "../../daemon/home/home-id.ts";
import { readMachineName } from "../../daemon/home/machine-name.ts";
import { refuseLost } from "../../daemon/home/open-home.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { findDaemon, type GatewayClient } from "../contact/gateway-client.ts";
import { takeHome } from "../contact/take-home.ts";

/** One change, made by the daemon or without one. */
export interface HolderChange<Result> {
  readonly byDaemon: (daemon: GatewayClient) => Promise<Result>;
  /** Called while this process has the home to itself. */
  readonly alone: (store: ReplicaStore<DaemonTables>) => Promise<Result>;
}

/**
 * Makes a change that only the holder of the home can make: through the daemon, or in its place
 * while none runs. Durable when it resolves. Throws one sentence where neither is possible.
 *
 * ```
 * await byHolder(home, {
 *   byDaemon: (daemon) => daemon.call("POST", "/_memsync/import", { body }),
 *   alone: (store) => importHome(store, document, { own }),
 * });
 * ```
 */
export async function byHolder<Result>(
  home: Home,
  { byDaemon, alone }: HolderChange<Result>,
): Promise<Result> {
  for (;;) {
    const daemon = await findDaemon(home);
    if (daemon) return await byDaemon(daemon);
    const lock = await takeHome(home);
    // A daemon has just started.
    if (!lock) continue;
    try {
      await refuseLost(home);
      const { current: homeId } = new HomeId(home, realWorld);
      const machine = readMachineName(home);
      const store = await openReplica(home.database, realWorld, { machine, homeId });
      try {
        return await alone(store);
      } finally {
        await store.close();
      }
    } finally {
      lock.release();
    }
  }
}
