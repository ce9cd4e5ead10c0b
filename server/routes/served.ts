import { type AnyElysia, Elysia } from "elysia";
import type { Services } from "../services/services.ts";
import { apiRoutes } from "./api/api-routes.ts";
import { OPEN_PATHS } from "./health.ts";
import { v1Routes } from "./v1/v1-routes.ts";

/**
 * The part of the interface that an app serves.
 *
 * ```
 * createApp({ ...deps, serves: PUBLISHED });
 * ```
 */
export interface Served {
  /** Whether a path is served without a token. */
  isOpen(path: string): boolean;
  /** False for a path that is always 404, whatever other routes exist. */
  mayHave(path: string): boolean;
  /** Whether live sockets are served. */
  readonly live: boolean;
  /** The routes that need a caller. */
  routes(services: Services): AnyElysia;
}

/** Both variants of the interface with all extensions. */
export const EVERYTHING: Served = {
  isOpen: (path) => OPEN_PATHS.has(path),
  mayHave: () => true,
  live: true,
  routes: (services) => new Elysia().use(v1Routes(services)).use(apiRoutes(services)),
};
