import { Elysia } from "elysia";
import type { Served } from "../served.ts";
import { publishedApiRoutes } from "./published-api.ts";
import { publishedV1Routes } from "./published-v1.ts";

/** All published paths, and the emulator's control calls, are below these. */
const PREFIX = /^\/(v1|api|_emulator)\//;

/** The specification's endpoints only. Every request needs a token. */
export const PUBLISHED: Served = {
  isOpen: () => false,
  mayHave: (path) => PREFIX.test(path),
  live: false,
  routes: (services) =>
    new Elysia().use(publishedV1Routes(services)).use(publishedApiRoutes(services)),
};
