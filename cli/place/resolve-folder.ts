import { resolve } from "node:path";
import type { Environment } from "./environment.ts";

/** A folder as the user wrote it, from where the user stands. */
export function resolveFolder(env: Environment, dir: string): string {
  return resolve(env.dir, dir);
}
