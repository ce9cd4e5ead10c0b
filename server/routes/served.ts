import { type AnyElysia, Elysia } from "elysia";
import type { Services } from "../services/services.ts";
import { apiRoutes } from "./api/api-routes.ts";
import { OPEN_PATHS } from "./health.ts";
import { v1Routes } from "./v1/v1-routes.ts";

/** How much an app serves. */
export interface Served {
  /** Whether a path is served without a token. */
  isOpen(path: string): boolean;
  /** False for a path that is 404 whatever routes the app has beside these. */
  mayHave(path: string): boolean;
  /** Whether there are live sockets. */
  readonly live: boolean;
  /** All that needs a caller. */
  routes(services: Services): AnyElysia;
}

/** Both variants of the interface with all extensions. */
export const EVERYTHING: Served = {
  isOpen: (path) => OPEN_PATHS.has(path),
  mayHave: () => true,
  live: true,
  routes: (services) => new Elysia().use(v1Routes(services)).use(apiRoutes(services)),
};
