import type { ConnectionOptions, SqliteConnection } from "../../../../shared/sqlite/connection.ts";
import { diskOf } from "./mounted.ts";

/** Stands for `connect-bun.ts` in a simulation. */
export function connect(path: string, options: ConnectionOptions): SqliteConnection {
  return diskOf(path).connect(path, options);
}
