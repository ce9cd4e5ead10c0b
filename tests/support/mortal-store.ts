import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";

/** How many more transactions a process makes before it is killed. */
export interface Life {
  left: number;
}

/** A store that a kill takes away from who has it. */
export function mortalStore(
  store: ReplicaStore<DaemonTables>,
  life: Life,
): ReplicaStore<DaemonTables> {
  const write: typeof store.write = (act) => {
    if (life.left <= 0) return Promise.reject(new Error("killed"));
    life.left -= 1;
    return store.write(act);
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "write") return write;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
