import { type App, type Authenticate, createApp } from "../../server/app/app.ts";
import { RequestLimits } from "../../server/limits/request-limits.ts";
import { createServices } from "../../server/services/create-services.ts";
import type { ServiceStore } from "../../server/services/service-store.ts";
import type { Caller, Services } from "../../server/services/services.ts";
import type { Withholding } from "../../server/services/withholding.ts";
import type { ServiceTables } from "../../server/stores/tables.ts";
import type { Log } from "../../shared/log.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { VERSION } from "../../shared/version.ts";
import type { World } from "../../shared/world.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "../home/local-account.ts";

// The one place where the daemon meets the server's routes: whatever of the server the gateway
// needs goes through here.
export type { App, Authenticate } from "../../server/app/app.ts";
export { bearerToken } from "../../server/http/bearer.ts";
export { listenBun } from "../../server/listen/listen-bun.ts";
export type { Listener } from "../../server/listen/listener.ts";
export type { PlainWrite } from "../../server/services/plain-write.ts";
export { type ServiceStore, serviceStoreOf } from "../../server/services/service-store.ts";
export type { Caller, Services } from "../../server/services/services.ts";
export type { Withholding } from "../../server/services/withholding.ts";
export { LOCAL_ACCOUNT, LOCAL_USER } from "../home/local-account.ts";
/** What a write of the services may do. */
export type ServiceContext = WriteContext<ServiceTables>;
/** Connecting projects and undoing it: what the gateway passes on to the service. */
export type ConnectionService = Services["connections"];

/** Whoever reaches the gateway is the machine's one user. */
export const LOCAL_CALLER: Caller = {
  account: LOCAL_ACCOUNT,
  user: LOCAL_USER,
  tokenId: "local",
  plan: "pro",
  canWrite: true,
  boundTo: null,
};

/** What the routes answer from: the local replica, and the service for what it can't do. */
export interface MountOptions {
  readonly store: ServiceStore;
  readonly world: World;
  readonly log: Log;
  /** The home's folder. */
  readonly place: string;
  /** What only the service can do. */
  readonly connections: ConnectionService;
  /** What services have told of their accounts. */
  readonly account: Services["account"];
  /** What keeps secrets out of the documents. */
  readonly withholding: Withholding;
  /** Gives each operation to the remote that it is about. */
  readonly routes: { over(services: Services): Services };
}

/** The server's routes over the local replica, for those whom `authenticate` knows. */
export function mountRoutes(
  { store, world, log, place, connections, account, withholding, routes }: MountOptions,
  authenticate: Authenticate,
): App {
  const unlimited = new RequestLimits(world);
  const services = createServices(store, world, { usage: unlimited, account, withholding });
  return createApp({
    services: routes.over({ ...services, connections }),
    authenticate,
    quotaOf: (caller) => unlimited.quotaOf(caller),
    world,
    log,
    place,
    extraHeaders: { "X-Memsync-Gateway": VERSION },
    loopbackOnly: true,
  });
}
