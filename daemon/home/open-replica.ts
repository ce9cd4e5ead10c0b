import { ReplicaStore } from "../../shared/replica/store/store.ts";
import { newWriter } from "../../shared/replica/store/writer.ts";
import type { World } from "../../shared/world.ts";
import { openHomeDatabase } from "./open-home.ts";
import { lowestAcked } from "./positions.ts";
import type { DaemonTables } from "./tables.ts";

/** What a replica may be opened with. */
export interface ReplicaOptions {
  readonly machine?: string | (() => string) | undefined;
  readonly homeId?: string | (() => string) | undefined;
  readonly onDamage?: ((thrown: unknown) => void) | undefined;
}

/**
 * Opens the home's replica. `machine` is the name under which documents record this machine, and
 * `homeId` tells it from others of that name; both may change. Compaction keeps what a service has
 * not acknowledged. `onDamage` is called when the database turns out to be damaged.
 */
export async function openReplica(
  path: string,
  world: World,
  { machine, homeId, onDamage }: ReplicaOptions = {},
): Promise<ReplicaStore<DaemonTables>> {
  return new ReplicaStore({
    database: await openHomeDatabase(path, onDamage),
    world,
    onDamage,
    writer: newWriter(world, machine, homeId),
    droppable: lowestAcked,
  });
}
