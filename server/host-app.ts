import type { Log } from "../shared/log.ts";
import type { SqliteDatabase } from "../shared/sqlite/database.ts";
import type { World } from "../shared/world.ts";
import { type App, createApp } from "./app.ts";
import { GuessDelays } from "./guess-delays.ts";
import { CountsWriter } from "./limits/counts-writer.ts";
import { RequestLimits } from "./limits/request-limits.ts";
import { storedCounts } from "./limits/stored-counts.ts";
import { openHostStore } from "./open-store.ts";
import { createPublishedApp } from "./published-app.ts";
import { createServices } from "./services/create-services.ts";
import { serviceStoreOf } from "./services/service-store.ts";
import type { HostTables } from "./stores/account-tables.ts";
import { TokenAuthenticator } from "./token-authenticator.ts";

/** Where the hosted server keeps its data, and whom it answers. */
export interface HostAppOptions {
  /** `:memory:` or the path of a database file. */
  readonly path: string;
  readonly world: World;
  readonly log: Log;
  /** Refuse requests that name another host than this machine. */
  readonly loopbackOnly: boolean;
  /** Serve the published specification and nothing else. */
  readonly publishedOnly?: boolean;
}

/** The hosted server without a port; its database is open until `close`. */
export interface HostApp {
  readonly app: App;
  /** For accounts and tokens. */
  readonly database: SqliteDatabase<HostTables>;
  /** No answer waits from now on: call it before the listener is closed. */
  hurry(): void;
  /** Finishes the writes under way, writes what was counted, and closes the database. */
  close(): Promise<void>;
}

/** The whole service without a port, for the tokens that its database knows. */
export async function createHostApp(options: HostAppOptions): Promise<HostApp> {
  const { path, world, log, loopbackOnly } = options;
  const host = await openHostStore(path, world);
  const tokens = new TokenAuthenticator(host.database, world, log);
  const writer = new CountsWriter(storedCounts(host.database), world, log);
  const limits = new RequestLimits(world, writer);
  const guesses = new GuessDelays(world);
  const create = options.publishedOnly ? createPublishedApp : createApp;
  const app = create({
    services: createServices(serviceStoreOf(host.store), world, limits),
    authenticate: (header) => tokens.authenticate(header),
    quotaOf: (caller) => limits.quotaOf(caller),
    guessed: (origin) => guesses.failed(origin.address()),
    world,
    log,
    loopbackOnly,
  });
  return {
    app,
    database: host.database,
    hurry: () => guesses.release(),
    async close() {
      await limits.close();
      await tokens.settled();
      await host.close();
    },
  };
}
