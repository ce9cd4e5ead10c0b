import type { SqliteDatabase } from "../../shared/sqlite/database.ts";
import { writeTransaction } from "../../shared/sqlite/transaction.ts";
import type { HostTables } from "../stores/account-tables.ts";
import {
  dropRequestCountsBefore,
  findRequestCounts,
  putRequestCounts,
} from "../stores/request-count-store.ts";
import type { CountsStore } from "./counts-writer.ts";

/** The counts in a host's database. */
export function storedCounts(database: SqliteDatabase<HostTables>): CountsStore {
  return {
    find: (account) => findRequestCounts(database.reader, account),
    write: (counts, oldestDay) =>
      writeTransaction(database.writer, async (db) => {
        for (const [account, record] of counts) {
          await putRequestCounts(db, { account, ...record });
        }
        await dropRequestCountsBefore(db, oldestDay);
      }),
  };
}
