import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { ServiceTables } from "../stores/tables.ts";
import type { Caller } from "./services.ts";

/**
 * A write of the caller's. Whoever was let in when the request came may not be by now: its body was
 * long in coming, or this is one of many parts. What is removed with an account stays removed.
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
