import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { ServiceTables } from "../stores/tables.ts";

/** The replica behind the services. */
export type ServiceStore = ReplicaStore<ServiceTables>;

/** A host's replica, whose database contains the services' tables. */
export function serviceStoreOf<Tables extends ServiceTables>(
  store: ReplicaStore<Tables>,
): ServiceStore {
  // Kysely's types are invariant in the set of tables; using some of them alone is sound.
  return store as unknown as ServiceStore;
}
