import type { Log } from "../../shared/log.ts";
import { Sweeper } from "../../shared/replica/history/sweeper.ts";
import { VERSION } from "../../shared/version.ts";
import type { World } from "../../shared/world.ts";
import { type App, createApp } from "../app/app.ts";
import type { AppDeps } from "../app/app-deps.ts";
import { createPublishedApp } from "../app/published-app.ts";
import { AnswerBudget } from "../http/answer-budget.ts";
import { bearerToken } from "../http/bearer.ts";
import { BodyBudget } from "../http/body-budget.ts";
import { CountsWriter } from "../limits/counts-writer.ts";
import { PLAN_LIMITS, type PlanTable } from "../limits/plans.ts";
import { RequestLimits } from "../limits/request-limits.ts";
import { storedCounts } from "../limits/stored-counts.ts";
import { LiveSockets } from "../live/live-sockets.ts";
import { countRefusals } from "../operations/count-refusals.ts";
import { createOperations } from "../operations/create-operations.ts";
import type { Readiness } from "../operations/readiness.ts";
import { createServices } from "../services/create-services.ts";
import { type ServiceStore, serviceStoreOf } from "../services/service-store.ts";
import type { Caller, Services } from "../services/services.ts";
import { type HostStore, openHostStore } from "../stores/open-store.ts";
import { type AccountPlan, callerOfDevToken, devAccounts } from "./state/dev-tokens.ts";

/** The header by which a client sees that an answer is the emulator's. */
export const EMULATOR_HEADERS = { "X-Memsync-Emulator": VERSION };

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
  /** What is driven by tests, where there are any. */
  readonly driven?: DrivenParts;
  /** Refuse requests that name a host other than this machine. */
  readonly loopbackOnly: boolean;
  /** Further names that requests may then use as their host. */
  readonly allowedHosts?: readonly string[];
  /** Given if it has a port: requests are then measured and logged, and `/readyz` is served. */
  readonly readiness?: Readiness;
  /** Serve only the published specification. */
  readonly publishedOnly?: boolean;
}

/** What tests may change while the emulator runs. */
export interface DrivenParts {
  /** For requests' ids and the bookkeeping of limits. */
  readonly requestWorld: World;
  /** For epochs. */
  readonly writerWorld: World;
  /** Real time, for what concerns connections themselves. */
  readonly connectionWorld: World;
  /** Whose a token is. */
  find(token: string): Caller | undefined;
  /** What is said of a token that `find` does not find. */
  refusedToken(token: string): string;
  /** Undefined where nothing is limited. */
  limitsOf(caller: Caller): PlanTable[Caller["plan"]] | undefined;
}

/** The emulator without a port; its database is open until `close`. */
export interface EmulatorApp {
  readonly app: App;
  readonly store: ServiceStore;
  readonly host: HostStore;
  readonly services: Services;
  /** The same operations over another store. */
  readonly servicesOf: (store: ServiceStore) => Services;
  readonly limits: RequestLimits;
  readonly sockets: LiveSockets;
  /** The routes of the specification alone. */
  published(): App["routes"];
  /** Finishes the writes under way, writes what was counted, and closes the database. */
  close(): Promise<void>;
}

/** The complete service without a port. Accepts the fixed development tokens. */
export async function createEmulatorApp(options: EmulatorAppOptions): Promise<EmulatorApp> {
  const { world, log, plan, loopbackOnly, publishedOnly, readiness, driven } = options;
  const host = await openHostStore(options.path, driven?.writerWorld ?? world);
  const store = serviceStoreOf(host.store);
  const sweeper = new Sweeper(host.store, world, log);
  sweeper.start();
  const writer = new CountsWriter(storedCounts(host.database), world, log);
  const plans = options.plans ?? PLAN_LIMITS;
  const limits = new RequestLimits(
    world,
    driven || options.limits === "on" ? writer : undefined,
    driven ? (caller) => driven.limitsOf(caller) : (caller) => plans[caller.plan],
  );
  const find = driven?.find ?? ((token: string) => callerOfDevToken(token, plan));
  const knowledge = { usage: limits, account: devAccounts };
  const servicesOf = (of: ServiceStore) => createServices(of, world, knowledge);
  const services = servicesOf(store);
  const sockets = new LiveSockets();
  const bodies = new BodyBudget(driven?.connectionWorld ?? world, log);
  const answers = new AnswerBudget(driven?.connectionWorld ?? world);
  const operations =
    readiness && createOperations({ host, sockets, bodies, answers, world, readiness });
  const deps: AppDeps = {
    services: operations ? countRefusals(services, operations.metrics) : services,
    sockets,
    ...(operations && { operations }),
    authenticate(header) {
      const token = bearerToken(header);
      return token === undefined ? undefined : find(token);
    },
    ...(driven && { refusedToken: (token: string) => driven.refusedToken(token) }),
    quotaOf: (caller) => limits.quotaOf(caller),
    world: driven?.requestWorld ?? world,
    ...(driven && { connectionWorld: driven.connectionWorld }),
    log,
    extraHeaders: EMULATOR_HEADERS,
    bodies,
    answers,
    compress: true,
    loopbackOnly,
    allowedHosts: options.allowedHosts ?? [],
  };
  return {
    app: publishedOnly ? createPublishedApp(deps) : createApp(deps),
    store,
    host,
    services,
    servicesOf,
    limits,
    sockets,
    published: () => createPublishedApp(deps).routes,
    async close() {
      await sweeper.stop();
      await limits.close();
      await host.close();
    },
  };
}
