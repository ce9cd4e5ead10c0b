import { isPostgres, isPostgresAddress } from "../../shared/sqlite/dialects.ts";
import type { World } from "../../shared/world.ts";
import type { HostDatabase } from "./host-database.ts";
import { openHostDatabase } from "./open-store.ts";

/**
 * A host's database for commands: beside running servers only for accounts and tokens. The driver
 * of PostgreSQL is loaded only where it is asked for.
 */
export async function openAnyDatabase(
  path: string,
  world: World,
): Promise<HostDatabase & { close(): Promise<void> }> {
  if (!isPostgresAddress(path)) return await openHostDatabase(path);
  const [{ openPostgresDatabase }, { writeUnlessHeldUp }] = await Promise.all([
    import("./open-postgres-store.ts"),
    import("../../shared/postgres/held-up.ts"),
  ]);
  const database = await openPostgresDatabase(path, world);
  return {
    ...database,
    write: (work) => writeUnlessHeldUp(database, world, () => database.write(work)),
  };
}

/** By whose clock the database's servers judge when something ends: PostgreSQL's, or `own`. */
export async function worldOfDatabase(database: HostDatabase, own: World): Promise<World> {
  if (!isPostgres(database.reader)) return own;
  const [{ DatabaseClock }, { readClock }] = await Promise.all([
    import("../../shared/postgres/database-clock.ts"),
    import("./shared-count-store.ts"),
  ]);
  const clock = new DatabaseClock(own);
  await clock.start(() => readClock(database.reader));
  clock.stop();
  return clock.world;
}
