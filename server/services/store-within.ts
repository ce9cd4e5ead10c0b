import type { AccountId } from "../../shared/ids.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { Queues } from "../../shared/turns.ts";
import type { ServiceTables } from "../stores/tables.ts";
import type { ServiceStore } from "./service-store.ts";

type Settler = Parameters<ServiceStore["onSettle"]>[0];

/**
 * A store whose writes are all parts of one write, which is committed whole or not at all: a write
 * that throws has to end it. Reading sees what was written so far. Usable until that write ends, in
 * which `settle` must have been called last.
 *
 * ```
 * await store.write(async (context) => {
 *   const within = storeWithin(context);
 *   await createServices(within, world, knowledge).projects.put(caller, project);
 *   await within.settle();
 * });
 * ```
 */
export function storeWithin<Tables extends ServiceTables>(
  write: WriteContext<Tables>,
): ServiceStore {
  // As in `serviceStoreOf`.
  const context = write as unknown as WriteContext<ServiceTables>;
  const settlers: Settler[] = [];
  return {
    reader: context.db,
    pause: context.pause,
    version: undefined,
    longWrites: new Queues<AccountId>(),
    async write(work) {
      const result = await work(context);
      await context.flushAll();
      return result;
    },
    // Nobody else writes meanwhile, so that nothing is gained by editing before.
    draft: async () => undefined,
    search: (_, search) => search(),
    onSettle: (settler) => void settlers.push(settler),
    async settle(owner) {
      for (const settler of settlers) await settler(owner);
    },
    onSweep: () => {},
    // The store itself tells of the whole write.
    onCommit: () => () => {},
    follow: () => () => {},
    following: () => undefined,
  };
}
