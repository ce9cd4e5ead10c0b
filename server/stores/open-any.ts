import { isPostgresAddress } from "../../shared/sqlite/dialects.ts";
import type { World } from "../../shared/world.ts";
import type { HostDatabase } from "./host-database.ts";
import { type HostStore, openHostDatabase, openHostStore } from "./open-store.ts";

/** Where a host's data is, and who opens it. */
export interface HostPlace {
  /** `:memory:`, the path of a database file, or the address of a PostgreSQL. */
  readonly path: string;
  readonly world: World;
  /** See `PostgresReplicaOptions`; by the database's clock when left out. */
  readonly clock?: "database" | "world";
}

/** Opens a host's store. The driver of PostgreSQL is loaded only where it is asked for. */
export async function openAnyStore({ path, world, clock }: HostPlace): Promise<HostStore> {
  if (!isPostgresAddress(path)) return await openHostStore(path, world);
  const { openPostgresStore } = await import("./open-postgres-store.ts");
  return await openPostgresStore(path, world, clock);
}

/** The same database for commands beside running servers: only for accounts and tokens. */
export async function openAnyDatabase(
  path: string,
): Promise<HostDatabase & { close(): Promise<void> }> {
  if (!isPostgresAddress(path)) return await openHostDatabase(path);
  const { openPostgresDatabase } = await import("./open-postgres-store.ts");
  return await openPostgresDatabase(path);
}
