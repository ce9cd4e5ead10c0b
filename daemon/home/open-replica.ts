import { ReplicaStore } from "../../shared/replica/store/store.ts";
import { newWriter } from "../../shared/replica/store/writer.ts";
import type { World } from "../../shared/world.ts";
import { openHomeDatabase } from "./open-home.ts";
import { lowestAcked } from "./positions.ts";
import type { DaemonTables } from "./tables.ts";

/** What a replica may be opened with. */
export interface ReplicaOptions {
  readonly machine?: string | (() => string) | undefined;
  readonly onDamage?: ((thrown: unknown) => void) | undefined;
}

/**
 * The home's replica, whose documents call this machine `machine`, which may change. What some
 * service has not acknowledged survives compaction. `onDamage` is told when the database turns out
 * to be damaged.
 */
export async function openReplica(
  path: string,
  world: World,
  { machine, onDamage }: ReplicaOptions = {},
): Promise<ReplicaStore<DaemonTables>> {
  return new ReplicaStore({
    database: await openHomeDatabase(path, onDamage),
    world,
    onDamage,
    writer: newWriter(world, machine),
    droppable: lowestAcked,
  });
}
