import { resolve } from "node:path";
import type { Environment } from "./environment.ts";

/** A folder as the user typed it, resolved from the current one. */
export function resolveFolder(env: Environment, dir: string): string {
  return resolve(env.dir, dir);
}
