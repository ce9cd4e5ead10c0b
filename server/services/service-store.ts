import type { Replica } from "../../shared/replica/store/replica.ts";
import type { ServiceTables } from "../stores/tables.ts";

/** The replica behind the services, as far as they use it. */
export type ServiceStore = Pick<
  Replica<ServiceTables>,
  | "write"
  | "draft"
  | "longWrites"
  | "reader"
  | "version"
  | "search"
  | "pause"
  | "settle"
  | "onSettle"
  | "onSweep"
  | "onCommit"
  | "follow"
  | "following"
>;

/** A host's replica, whose database contains the services' tables. */
export function serviceStoreOf<Tables extends ServiceTables>(store: Replica<Tables>): ServiceStore {
  // Kysely's types are invariant in the set of tables; using some of them alone is sound.
  return store as unknown as ServiceStore;
}
