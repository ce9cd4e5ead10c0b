import { isPostgresAddress } from "../../shared/sqlite/dialects.ts";
import type { HostDatabase } from "./host-database.ts";
import { openHostDatabase } from "./open-store.ts";

/**
 * A host's database for commands beside running servers: only for accounts and tokens. The driver
 * of PostgreSQL is loaded only where it is asked for.
 */
export async function openAnyDatabase(
  path: string,
): Promise<HostDatabase & { close(): Promise<void> }> {
  if (!isPostgresAddress(path)) return await openHostDatabase(path);
  const { openPostgresDatabase } = await import("./open-postgres-store.ts");
  return await openPostgresDatabase(path);
}
