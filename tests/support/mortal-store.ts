import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";

export interface Life {
  /** How many more transactions the process makes before it is killed. */
  left: number;
  /** Called when it asks for the next one. */
  asked?: (() => void) | undefined;
}

/** Resolves when the process asks for its next transaction. */
export function nextTransaction(life: Life): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  life.asked = resolve;
  return promise;
}

/** A store that a kill takes away from who has it. */
export function mortalStore(
  store: ReplicaStore<DaemonTables>,
  life: Life,
): ReplicaStore<DaemonTables> {
  const write: typeof store.write = (act) => {
    if (life.left <= 0) return Promise.reject(new Error("killed"));
    life.left -= 1;
    life.asked?.();
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
