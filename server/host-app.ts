import { Sweeper } from "../shared/replica/history/sweeper.ts";
import { isPostgresAddress } from "../shared/sqlite/dialects.ts";
import { GuessDelays } from "./accounts/guess-delays.ts";
import { TokenAuthenticator } from "./accounts/token-authenticator.ts";
import { TokenWatch } from "./accounts/token-watch.ts";
import { type App, createApp } from "./app/app.ts";
import { createPublishedApp } from "./app/published-app.ts";
import type { HostAppOptions, HostParts } from "./host-parts.ts";
import { AnswerBudget } from "./http/answer-budget.ts";
import { BodyBudget } from "./http/body-budget.ts";
import { Networks } from "./http/networks.ts";
import { CountsWriter } from "./limits/counts-writer.ts";
import { RequestLimits } from "./limits/request-limits.ts";
import { storedCounts } from "./limits/stored-counts.ts";
import { LiveSockets } from "./live/live-sockets.ts";
import { countRefusals } from "./operations/count-refusals.ts";
import { createOperations } from "./operations/create-operations.ts";
import { createServices } from "./services/create-services.ts";
import { hostAccounts } from "./services/host-accounts.ts";
import { serviceStoreOf } from "./services/service-store.ts";
import type { HostDatabase } from "./stores/host-database.ts";
import { openHostStore } from "./stores/open-store.ts";

/** The hosted server without a port; its database is open until `close`. */
export interface HostApp {
  readonly app: App;
  /** For accounts and tokens. */
  readonly database: HostDatabase;
  /** Ends all delays of answers. To be called before the listener is closed. */
  hurry(): void;
  /** Finishes the writes under way, stores the counts, and closes the database. */
  close(): Promise<void>;
}

/**
 * The complete service without a port. Accepts the tokens in its database.
 *
 * ```
 * const host = await createHostApp({ path: "memsync.db", loopbackOnly: true, world, log });
 * const listener = await listen(host.app, { host: "127.0.0.1", port: 8080 });
 * ```
 */
export async function createHostApp(options: HostAppOptions): Promise<HostApp> {
  const { log, loopbackOnly } = options;
  const { host, world, limits } = await openParts(options);
  const sweeper = new Sweeper(host.store, world, log);
  sweeper.start();
  const tokens = new TokenAuthenticator(host.database, world, log);
  const guesses = new GuessDelays(world);
  const create = options.publishedOnly ? createPublishedApp : createApp;
  const account = hostAccounts(host.database.reader);
  const services = createServices(serviceStoreOf(host.store), world, { usage: limits, account });
  const sockets = new LiveSockets(options.liveSockets);
  host.onAnew?.(() => {
    tokens.forget();
    sockets.end(undefined, "the database is another one");
  });
  const bodies = new BodyBudget(world, log);
  const answers = new AnswerBudget(world);
  const watch = new TokenWatch({
    db: host.database.reader,
    world,
    log,
    onChange(accounts) {
      tokens.forget();
      sockets.recheck(accounts);
    },
  });
  await watch.start();
  const operations =
    options.operated &&
    createOperations({ host, sockets, bodies, answers, world, ...options.operated });
  const app = create({
    services: operations ? countRefusals(services, operations.metrics) : services,
    sockets,
    ...(operations && { operations }),
    authenticate: (header) => tokens.authenticate(header),
    quotaOf: (caller) => limits.quotaOf(caller),
    guessed: (client) => guesses.failed(client),
    world,
    log,
    bodies,
    answers,
    compress: true,
    loopbackOnly,
    allowedHosts: options.allowedHosts ?? [],
    trustedProxies: new Networks(options.trustedProxies ?? []),
  });
  return {
    app,
    database: host.database,
    hurry: () => guesses.release(),
    async close() {
      await watch.stop();
      await sweeper.stop();
      await limits.close();
      await tokens.settled();
      await host.close();
    },
  };
}

/** The driver of PostgreSQL is loaded only where it is asked for. */
async function openParts(options: HostAppOptions): Promise<HostParts> {
  const { path, world, log } = options;
  if (isPostgresAddress(path)) {
    return await (await import("./host-on-postgres.ts")).openSharedParts(options);
  }
  const host = await openHostStore(path, world);
  const writer = new CountsWriter(storedCounts(host.database), world, log);
  const limits = new RequestLimits(world, options.limits === "off" ? undefined : writer);
  return { host, world, limits };
}
