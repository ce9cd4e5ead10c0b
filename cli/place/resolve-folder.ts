import { resolve } from "node:path";
import { UsageError } from "../screen/errors.ts";
import type { Environment } from "./environment.ts";

/**
 * A path as the user typed it, resolved from the current folder; without one, the current folder.
 */
export function resolveFolder(env: Environment, dir: string): string {
  if (dir === "") throw new UsageError("the path of a file or folder is empty: name one");
  return resolve(env.dir, dir);
}
