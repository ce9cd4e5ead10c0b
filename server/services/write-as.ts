import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { ServiceTables } from "../stores/tables.ts";
import type { Caller } from "./services.ts";

/**
 * A write by the caller, whose permission is checked again: its body may have taken long, or this
 * is one of many parts. What was removed with an account stays removed.
 */
export function writeAs<Result>(
  store: ReplicaStore<ServiceTables>,
  caller: Caller,
  work: (context: WriteContext<ServiceTables>) => Promise<Result>,
): Promise<Result> {
  return store.write((context) => {
    caller.assertValid?.(context.db);
    return work(context);
  });
}
