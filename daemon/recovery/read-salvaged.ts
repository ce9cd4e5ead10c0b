import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<DaemonTables>;

/** A memory that was read from a damaged database and waits for the service's answer. */
export interface SalvagedMemory {
  readonly key: string;
  readonly value: string;
  readonly client: number;
  readonly clock: number;
  readonly updated_at: number;
}

/** The document that salvaged memories belong to. */
export interface SalvagedPlace {
  /** The account of the remote that it is bound to. */
  readonly account: AccountId;
  /** A project's id, `user/<user id>` or `global`. */
  readonly document: string;
}

/** The memories of a document that wait, oldest first. */
export async function readSalvaged(
  db: Db,
  { account, document }: SalvagedPlace,
): Promise<SalvagedMemory[]> {
  return await db
    .selectFrom("salvaged_memories")
    .select(["key", "value", "client", "clock", "updated_at"])
    .where("account", "=", account)
    .where("document", "=", document)
    .orderBy("id")
    .execute();
}

/** How many memories wait. */
export async function countSalvaged(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom("salvaged_memories")
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}
