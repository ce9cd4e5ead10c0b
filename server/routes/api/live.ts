import { Elysia } from "elysia";
import { AppError } from "../../../shared/errors.ts";

/** The path of the live socket. Listeners handle its handshakes before a route is looked up. */
export const LIVE_PATH = "/api/live";

/** Answers a plain request at the live socket's path. */
export function liveRoutes() {
  return new Elysia({ prefix: "/live" }).get("", () => {
    throw new AppError("invalid_request", "this path takes WebSocket connections only");
  });
}
