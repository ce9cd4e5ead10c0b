import type { HostDatabase } from "../stores/host-database.ts";
import {
  allowLateCommit,
  holdRequestCounts,
  readRequestCounts,
  replaceRequestCounts,
} from "../stores/shared-count-store.ts";
import type { SharedCounts } from "./shared-limits.ts";

/** The counts in a PostgreSQL. */
export function sharedCounts(database: HostDatabase): SharedCounts {
  return {
    change: (accounts, change) =>
      database.write(async (db) => {
        await allowLateCommit(db);
        const { counts, now } = await holdRequestCounts(db, accounts);
        if (counts.length === 0) return;
        const changed = change(new Map(counts.map((each) => [each.account, each])), now);
        const records = [...changed].map(([account, record]) => ({ account, ...record }));
        await replaceRequestCounts(db, records);
      }),
    async find(account) {
      const { counts, now } = await readRequestCounts(database.reader, account);
      return { known: counts[0], now };
    },
  };
}
