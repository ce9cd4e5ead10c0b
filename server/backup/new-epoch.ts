import { isPostgresAddress } from "../../shared/sqlite/dialects.ts";
import type { World } from "../../shared/world.ts";

/**
 * Begins an epoch in a host's PostgreSQL, so that replicas give back what a restore has lost.
 * Resolves to it; to undefined for a file, whose server takes a new epoch at each start.
 */
export async function beginNewEpoch(place: string, world: World): Promise<string | undefined> {
  if (!isPostgresAddress(place)) return undefined;
  const [{ openPostgresDatabase }, { beginEpoch }, { newWriter }] = await Promise.all([
    import("../stores/open-postgres-store.ts"),
    import("../../shared/replica/postgres/incarnation.ts"),
    import("../../shared/replica/store/writer.ts"),
  ]);
  const database = await openPostgresDatabase(place, world);
  try {
    const { epoch } = newWriter(world);
    await beginEpoch(database.writing, epoch);
    return epoch;
  } finally {
    await database.close();
  }
}
