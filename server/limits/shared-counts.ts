import type { Kysely } from "kysely";
import type { World } from "../../shared/world.ts";
import type { HostTables } from "../stores/account-tables.ts";
import type { HostDatabase } from "../stores/host-database.ts";
import { allowLateCommit } from "../stores/late-commit.ts";
import { dropRequestCountsBefore } from "../stores/request-count-store.ts";
import {
  holdRequestCounts,
  readRequestCounts,
  replaceRequestCounts,
} from "../stores/shared-count-store.ts";
import type { SharedCounts } from "./shared-limits.ts";
import { dayOf } from "./usage.ts";

/** The counts in a PostgreSQL, by its clock, or by that of `world` where this is given. */
export function sharedCounts(database: HostDatabase, world?: World): SharedCounts {
  return {
    change: (accounts, change) =>
      database.write(async (db) => {
        await allowLateCommit(db);
        const { counts, now } = await holdRequestCounts(db, accounts);
        if (counts.length === 0) return;
        const known = new Map(counts.map((each) => [each.account, each]));
        const changed = change(known, world?.now() ?? now);
        const records = [...changed].map(([account, record]) => ({ account, ...record }));
        await replaceRequestCounts(db, records);
      }),
    async find(account) {
      const { counts, now } = await readRequestCounts(database.reader, account);
      return { known: counts[0], now: world?.now() ?? now };
    },
  };
}

/** A step of the sweep: forgets accounts that were quiet since the day before yesterday. */
export async function dropOldCounts(db: Kysely<HostTables>, now: number): Promise<boolean> {
  await dropRequestCountsBefore(db, dayOf(now) - 1);
  return false;
}
