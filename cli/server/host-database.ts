import { existsSync } from "node:fs";
import {
  HostAdmin,
  HostRemoval,
  isServed,
  openAnyDatabase,
  worldOfDatabase,
} from "../../daemon/embedded/embedded-service.ts";
import { isPostgresAddress } from "../../shared/sqlite/dialects.ts";
import { realWorld } from "../../shared/world-real.ts";
import type { Environment } from "../place/environment.ts";
import { CommandFailed } from "../screen/errors.ts";
import { databasePathOf } from "./server-settings.ts";

/** The options that say where the server's database is. */
export interface DatabaseFlag {
  readonly databaseUrl?: string;
  readonly config?: string;
}

/** The path of the database, whether it exists or not. */
export function databaseAt(env: Environment, { databaseUrl, config }: DatabaseFlag): string {
  return databasePathOf(env, { databaseUrl, config });
}

/** The path of an existing database: in a wrong folder, no new one must be created. */
export function presentDatabase(env: Environment, flags: DatabaseFlag): string {
  const path = databaseAt(env, flags);
  if (isPostgresAddress(path) || existsSync(path)) return path;
  throw new CommandFailed(
    `there is no database at ${path}: name the server's by --database-url, or make an account`,
    { code: "not-found" },
  );
}

/** Opens the server's database for one piece of work. */
export async function administer<Result>(
  path: string,
  work: (admin: HostAdmin, removal: HostRemoval) => Promise<Result>,
): Promise<Result> {
  const database = await openAnyDatabase(path, realWorld);
  try {
    // For a PostgreSQL nobody can tell whether servers run on it, so it counts as served.
    const served = async () => isPostgresAddress(path) || (await isServed(path));
    const world = await worldOfDatabase(database, realWorld);
    return await work(new HostAdmin(database, world), new HostRemoval(database, world, served));
  } finally {
    await database.close();
  }
}
