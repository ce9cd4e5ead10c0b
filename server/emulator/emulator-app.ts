import type { Log } from "../../shared/log.ts";
import { Sweeper } from "../../shared/replica/history/sweeper.ts";
import { VERSION } from "../../shared/version.ts";
import type { World } from "../../shared/world.ts";
import { type App, createApp } from "../app/app.ts";
import { createPublishedApp } from "../app/published-app.ts";
import { bearerToken } from "../http/bearer.ts";
import { BodyBudget } from "../http/body-budget.ts";
import { CountsWriter } from "../limits/counts-writer.ts";
import type { PlanTable } from "../limits/plans.ts";
import { RequestLimits } from "../limits/request-limits.ts";
import { storedCounts } from "../limits/stored-counts.ts";
import { LiveSockets } from "../live/live-sockets.ts";
import { countRefusals } from "../operations/count-refusals.ts";
import { createOperations } from "../operations/create-operations.ts";
import type { Readiness } from "../operations/readiness.ts";
import { createServices } from "../services/create-services.ts";
import { type ServiceStore, serviceStoreOf } from "../services/service-store.ts";
import { openHostStore } from "../stores/open-store.ts";
import { type AccountPlan, callerOfDevToken, devAccounts } from "./dev-tokens.ts";

/** Where the emulator keeps its data, and whom it serves. */
export interface EmulatorAppOptions {
  /** `:memory:` or the path of a database file. */
  readonly path: string;
  /** Plan of the accounts behind `mst_dev_NAME`. */
  readonly plan: AccountPlan;
  /** Whether the plans' limits apply. */
  readonly limits: "on" | "off";
  /** Limits other than the published ones, for measuring the cost of counting. */
  readonly plans?: PlanTable;
  readonly world: World;
  readonly log: Log;
  /** Refuse requests that name a host other than this machine. */
  readonly loopbackOnly: boolean;
  /** Given if it has a port: requests are then measured and logged, and `/readyz` is served. */
  readonly readiness?: Readiness;
  /** Serve only the published specification. */
  readonly publishedOnly?: boolean;
}

/** The emulator without a port; its database is open until `close`. */
export interface EmulatorApp {
  readonly app: App;
  readonly store: ServiceStore;
  /** Finishes the writes under way, writes what was counted, and closes the database. */
  close(): Promise<void>;
}

/** The complete service without a port. Accepts the fixed development tokens. */
export async function createEmulatorApp(options: EmulatorAppOptions): Promise<EmulatorApp> {
  const { world, log, plan, loopbackOnly, publishedOnly, readiness } = options;
  const host = await openHostStore(options.path, world);
  const store = serviceStoreOf(host.store);
  const sweeper = new Sweeper(host.store, world, log);
  sweeper.start();
  const writer = new CountsWriter(storedCounts(host.database), world, log);
  const limits = new RequestLimits(
    world,
    options.limits === "on" ? writer : undefined,
    options.plans,
  );
  const services = createServices(store, world, { usage: limits, account: devAccounts });
  const sockets = new LiveSockets();
  const bodies = new BodyBudget();
  const operations = readiness && createOperations({ host, sockets, bodies, world, readiness });
  const create = publishedOnly ? createPublishedApp : createApp;
  const app = create({
    services: operations ? countRefusals(services, operations.metrics) : services,
    sockets,
    ...(operations && { operations }),
    authenticate(header) {
      const token = bearerToken(header);
      return token === undefined ? undefined : callerOfDevToken(token, plan);
    },
    quotaOf: (caller) => limits.quotaOf(caller),
    world,
    log,
    extraHeaders: { "X-Memsync-Emulator": VERSION },
    bodies,
    compress: true,
    loopbackOnly,
  });
  return {
    app,
    store,
    async close() {
      await sweeper.stop();
      await limits.close();
      await host.close();
    },
  };
}
