import type { Log } from "../../shared/log.ts";
import { VERSION } from "../../shared/version.ts";
import type { World } from "../../shared/world.ts";
import { type App, createApp } from "../app.ts";
import { bearerToken } from "../bearer.ts";
import { CountsWriter } from "../limits/counts-writer.ts";
import { RequestLimits } from "../limits/request-limits.ts";
import { storedCounts } from "../limits/stored-counts.ts";
import { openHostStore } from "../open-store.ts";
import { createPublishedApp } from "../published-app.ts";
import { createServices } from "../services/create-services.ts";
import { type ServiceStore, serviceStoreOf } from "../services/service-store.ts";
import { callerOfDevToken, type Plan } from "./dev-tokens.ts";

/** Where the emulator keeps its data, and whom it answers. */
export interface EmulatorAppOptions {
  /** `:memory:` or the path of a database file. */
  readonly path: string;
  /** Plan of the accounts behind `mst_dev_NAME`. */
  readonly plan: Plan;
  /** Whether the plans' limits hold. */
  readonly limits: "on" | "off";
  readonly world: World;
  readonly log: Log;
  /** Refuse requests that name another host than this machine. */
  readonly loopbackOnly: boolean;
  /** Serve the specification and nothing else. */
  readonly publishedOnly?: boolean;
}

/** The emulator without a port; its database is open until `close`. */
export interface EmulatorApp {
  readonly app: App;
  readonly store: ServiceStore;
  /** Finishes the writes under way, writes what was counted, and closes the database. */
  close(): Promise<void>;
}

/** The whole service without a port, taking the fixed development tokens. */
export async function createEmulatorApp(options: EmulatorAppOptions): Promise<EmulatorApp> {
  const { world, log, plan, loopbackOnly, publishedOnly } = options;
  const host = await openHostStore(options.path, world);
  const store = serviceStoreOf(host.store);
  const writer = new CountsWriter(storedCounts(host.database), world, log);
  const limits = new RequestLimits(world, options.limits === "on" ? writer : undefined);
  const create = publishedOnly ? createPublishedApp : createApp;
  const app = create({
    services: createServices(store, world, limits),
    authenticate(header) {
      const token = bearerToken(header);
      return token === undefined ? undefined : callerOfDevToken(token, plan);
    },
    quotaOf: (caller) => limits.quotaOf(caller),
    world,
    log,
    extraHeaders: { "X-Memsync-Emulator": VERSION },
    loopbackOnly,
  });
  return {
    app,
    store,
    async close() {
      await limits.close();
      await host.close();
    },
  };
}
