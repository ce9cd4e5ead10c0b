import type { Log } from "../shared/log.ts";
import type { World } from "../shared/world.ts";
import type { AppDeps } from "./app/app-deps.ts";
import type { RequestLimits } from "./limits/request-limits.ts";
import type { LiveSocketLimits } from "./live/live-sockets.ts";
import type { Operations } from "./operations/operations.ts";
import type { Caller } from "./services/services.ts";
import type { HostStore } from "./stores/open-store.ts";

/** Where the hosted server keeps its data, and whom it serves. */
export interface HostAppOptions {
  /** `:memory:`, the path of a database file, or the address of a PostgreSQL. */
  readonly path: string;
  /** See `PostgresReplicaOptions`; by the database's clock when left out. */
  readonly clock?: "database" | "world";
  readonly world: World;
  readonly log: Log;
  /** Refuse requests that name a host other than this machine. */
  readonly loopbackOnly: boolean;
  /** Whether the plans' limits apply; they do when left out. */
  readonly limits?: "on" | "off";
  /** Serve only the published specification. */
  readonly publishedOnly?: boolean;
  /** Further names, besides this machine's own, that requests may use as their host. */
  readonly allowedHosts?: readonly string[];
  /** Addresses and networks of proxies that are believed which client a request is of. */
  readonly trustedProxies?: readonly string[];
  readonly liveSockets?: LiveSocketLimits;
  /** Measures and logs requests, and says whether the server is ready. */
  readonly operated?: Pick<Operations, "readiness" | "metricsToken">;
}

/** What a host stands on: a file of its own, or a database that it shares with others. */
export interface HostParts {
  readonly host: HostStore;
  /** Its clock is that of the data. */
  readonly world: World;
  readonly limits: Pick<RequestLimits, "read" | "close"> & { quotaOf(caller: Caller): HostQuota };
}

type HostQuota = ReturnType<NonNullable<AppDeps["quotaOf"]>>;
