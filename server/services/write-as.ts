import type { Edit } from "../../shared/replica/store/replica.ts";
import type { Draft, WriteContext } from "../../shared/replica/store/write-context.ts";
import type { ServiceTables } from "../stores/tables.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Caller } from "./services.ts";

type Work<Result> = (context: WriteContext<ServiceTables>) => Promise<Result>;

/**
 * A write by the caller, whose permission is checked again: its body may have taken long, or this
 * is one of many parts. What was removed with an account stays removed. It comes after the
 * account's long writes that came before.
 */
export async function writeAs<Result>(
  store: ServiceStore,
  caller: Caller,
  work: Work<Result>,
): Promise<Result> {
  const before = store.longWrites.done(caller.account);
  if (before) await before;
  return await store.write(checked(caller, work), { owner: caller.account });
}

/**
 * The same for a write that may be `long`. Then its document is edited first, while others write,
 * and `work` gets it as a draft with what `edit` returned. Without a draft `work` has to make the
 * edit itself.
 */
export function writeLongAs<Edited, Result>(
  store: ServiceStore,
  caller: Caller,
  {
    long,
    work,
  }: {
    readonly long: Edit<Edited> | undefined;
    readonly work: (draft: Draft<Edited> | undefined) => Work<Result>;
  },
): Promise<Result> {
  if (!long) return writeAs(store, caller, work(undefined));
  return store.longWrites.run(caller.account, async () => {
    const draft = await store.draft(long);
    return await store.write(checked(caller, work(draft)), {
      isLong: true,
      owner: caller.account,
    });
  });
}

function checked<Result>(caller: Caller, work: Work<Result>): Work<Result> {
  return (context) => {
    const checking = caller.assertValid?.(context.db);
    return checking ? checking.then(() => work(context)) : work(context);
  };
}
