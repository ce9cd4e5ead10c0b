import type { Log } from "../../shared/log.ts";
import { Sweeper } from "../../shared/replica/sweeper.ts";
import { VERSION } from "../../shared/version.ts";
import type { World } from "../../shared/world.ts";
import { type App, createApp } from "../app.ts";
import { bearerToken } from "../bearer.ts";
import { openHostStore } from "../open-store.ts";
import { createServices } from "../services/create-services.ts";
import { RequestCounts } from "../services/request-counts.ts";
import { type ServiceStore, serviceStoreOf } from "../services/service-store.ts";
import { callerOfDevToken, type Plan } from "./dev-tokens.ts";

/** Where the emulator keeps its data, and whom it answers. */
export interface EmulatorAppOptions {
  /** `:memory:` or the path of a database file. */
  readonly path: string;
  /** Plan of the accounts behind `mst_dev_NAME`. */
  readonly plan: Plan;
  readonly world: World;
  readonly log: Log;
  /** Refuse requests that name another host than this machine. */
  readonly loopbackOnly: boolean;
}

/** The emulator without a port; its database is open until `close`. */
export interface EmulatorApp {
  readonly app: App;
  readonly store: ServiceStore;
  /** Finishes the writes under way and closes the database. */
  close(): Promise<void>;
}

/** The whole service without a port, taking the fixed development tokens. */
export async function createEmulatorApp(options: EmulatorAppOptions): Promise<EmulatorApp> {
  const { world, log, plan, loopbackOnly } = options;
  const host = await openHostStore(options.path, world);
  const store = serviceStoreOf(host.store);
  const sweeper = new Sweeper(host.store, world, log);
  sweeper.start();
  const counts = new RequestCounts(world);
  const app = createApp({
    services: createServices(store, world, counts),
    authenticate(header) {
      const token = bearerToken(header);
      return token === undefined ? undefined : callerOfDevToken(token, plan);
    },
    charge: (caller) => counts.add(caller.account),
    world,
    log,
    extraHeaders: { "X-Memsync-Emulator": VERSION },
    loopbackOnly,
  });
  return {
    app,
    store,
    async close() {
      await sweeper.stop();
      await host.close();
    },
  };
}
