import type { SqliteDatabase } from "../../shared/sqlite/database.ts";
import type { HostTables } from "./account-tables.ts";

/** A host's database, whichever it is, for what is kept of accounts, tokens and limits. */
export type HostDatabase = Pick<SqliteDatabase<HostTables>, "reader" | "write">;
