import type { HostDatabase } from "../stores/host-database.ts";
import {
  dropRequestCountsBefore,
  findRequestCounts,
  putRequestCounts,
} from "../stores/request-count-store.ts";
import type { CountsStore } from "./counts-writer.ts";

/** The counts in a host's database. */
export function storedCounts(database: HostDatabase): CountsStore {
  return {
    find: (account) => findRequestCounts(database.reader, account),
    write: (counts, oldestDay) =>
      database.write(async (db) => {
        for (const [account, record] of counts) {
          await putRequestCounts(db, { account, ...record });
        }
        await dropRequestCountsBefore(db, oldestDay);
      }),
  };
}
