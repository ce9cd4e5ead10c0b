import { createApp } from "../../server/app/app.ts";
import type { AppDeps } from "../../server/app/app-deps.ts";
import { createPublishedApp } from "../../server/app/published-app.ts";
import { EMULATOR_HEADERS } from "../../server/emulator/emulator-app.ts";
import { callerOfDevToken, devAccounts } from "../../server/emulator/state/dev-tokens.ts";
import { AnswerBudget } from "../../server/http/answer-budget.ts";
import { bearerToken } from "../../server/http/bearer.ts";
import { BodyBudget } from "../../server/http/body-budget.ts";
import { RequestLimits } from "../../server/limits/request-limits.ts";
import { sharedCounts } from "../../server/limits/shared-counts.ts";
import { SharedLimits } from "../../server/limits/shared-limits.ts";
import { listen } from "../../server/listen/listen.ts";
import { LiveSockets } from "../../server/live/live-sockets.ts";
import { createOperations } from "../../server/operations/create-operations.ts";
import { Readiness } from "../../server/operations/readiness.ts";
import { createServices } from "../../server/services/create-services.ts";
import { serviceStoreOf } from "../../server/services/service-store.ts";
import { openPostgresStore } from "../../server/stores/open-postgres-store.ts";
import { silentLog } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { realWorld as world } from "../../shared/world-real.ts";
import { postgresCluster } from "./postgres-cluster.ts";

/** Addresses of servers that share one database. */
export interface SharedService {
  readonly urls: readonly string[];
  /** The same where only what is published is served. */
  readonly publishedUrls: readonly string[];
}

/**
 * Starts so many servers of the emulator's accounts on one new PostgreSQL, until the end.
 * `limitedBy`: by whose clock requests are limited.
 */
export async function startOnPostgres(servers: number, limitedBy?: World): Promise<SharedService> {
  const address = await (await postgresCluster()).createDatabase();
  const started = Array.from({ length: servers }, async () => {
    const deps = await depsOn(address, limitedBy);
    const at = { host: "127.0.0.1", port: 0 };
    const whole = await listen(createApp(deps), at);
    const published = await listen(createPublishedApp(deps), at);
    return { url: whole.url, publishedUrl: published.url };
  });
  const all = await Promise.all(started);
  return {
    urls: all.map(({ url }) => url),
    publishedUrls: all.map(({ publishedUrl }) => publishedUrl),
  };
}

/** Limits nothing, and what is counted is the same for all servers. */
const counted = new RequestLimits(world);

async function depsOn(address: string, limitedBy?: World): Promise<AppDeps> {
  const host = await openPostgresStore(address, world);
  const limits = limitedBy
    ? new SharedLimits(sharedCounts(host.database, limitedBy), limitedBy)
    : counted;
  const parts = {
    sockets: new LiveSockets(),
    bodies: new BodyBudget(world),
    answers: new AnswerBudget(world),
    world,
  };
  const knowledge = { usage: limits, account: devAccounts };
  return {
    ...parts,
    services: createServices(serviceStoreOf(host.store), world, knowledge),
    operations: createOperations({ host, readiness: new Readiness("ready"), ...parts }),
    authenticate(header) {
      const token = bearerToken(header);
      return token === undefined ? undefined : callerOfDevToken(token, "pro");
    },
    quotaOf: (caller) => limits.quotaOf(caller),
    log: silentLog,
    extraHeaders: EMULATOR_HEADERS,
    compress: true,
    loopbackOnly: true,
    allowedHosts: [],
  };
}
