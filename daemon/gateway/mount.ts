import { type App, createApp } from "../../server/app/app.ts";
import type { Authenticate } from "../../server/app/app-deps.ts";
import { RequestLimits } from "../../server/limits/request-limits.ts";
import { createServices } from "../../server/services/create-services.ts";
import type { ServiceStore } from "../../server/services/service-store.ts";
import type { Caller, Services } from "../../server/services/services.ts";
import type { Withholding } from "../../server/services/withholding.ts";
import type { ReadConnections } from "../../server/stores/connection-store.ts";
import type { ServiceTables } from "../../server/stores/tables.ts";
import type { Log } from "../../shared/log.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { VERSION } from "../../shared/version.ts";
import type { World } from "../../shared/world.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../home/local-account.ts";

// The only file of the gateway that imports the server. Whatever the gateway needs of it is
// exported here.
export type { App } from "../../server/app/app.ts";
export type { Authenticate } from "../../server/app/app-deps.ts";
export { bearerToken } from "../../server/http/bearer.ts";
export { listenBun } from "../../server/listen/listen-bun.ts";
export type { Listener } from "../../server/listen/listener.ts";
export type { PlainWrite } from "../../server/services/plain-write.ts";
export { type ServiceStore, serviceStoreOf } from "../../server/services/service-store.ts";
export type { Caller, Services } from "../../server/services/services.ts";
export type { Withholding } from "../../server/services/withholding.ts";
export type { ReadConnections } from "../../server/stores/connection-store.ts";
export { LOCAL_ACCOUNT, LOCAL_USER } from "../home/local-account.ts";
/** The context of a service's write. */
export type ServiceContext = WriteContext<ServiceTables>;
/** Connecting projects and undoing that: the gateway passes both to the service. */
export type ConnectionService = Services["connections"];

/** Everybody who reaches the gateway acts as the machine's one user. */
export const LOCAL_CALLER: Caller = {
  account: LOCAL_ACCOUNT,
  user: LOCAL_USER,
  tokenId: "local",
  plan: "pro",
  canWrite: true,
  boundTo: null,
};

/** What the routes answer from: the local replica, and the service for what only it can do. */
export interface MountOptions {
  readonly store: ServiceStore;
  readonly world: World;
  readonly log: Log;
  /** The home's folder. */
  readonly place: string;
  /** What only the service can do. */
  readonly connections: ConnectionService;
  /** Which projects are connected, as their documents say. */
  readonly connected: ReadConnections;
  /** What services told of their accounts. */
  readonly account: Services["account"];
  /** Keeps secrets out of the documents. */
  readonly withholding: Withholding;
  /** Sends each operation to the remote that it concerns. */
  readonly routes: { over(services: Services): Services };
}

/** The server's routes over the local replica, for callers that `authenticate` accepts. */
export function mountRoutes(
  { connections, connected, account, withholding, ...options }: MountOptions,
  authenticate: Authenticate,
): App {
  const { store, world, log, place, routes } = options;
  const unlimited = new RequestLimits(world);
  const knowledge = { usage: unlimited, account, withholding, connections: connected };
  const services = createServices(store, world, knowledge);
  return createApp({
    services: routes.over({ ...services, connections }),
    authenticate,
    refusedToken: () => "this is no token of this gateway: `memsync env` prints one",
    quotaOf: (caller) => unlimited.quotaOf(caller),
    world,
    log,
    place,
    extraHeaders: { "X-Memsync-Gateway": VERSION },
    loopbackOnly: true,
  });
}
