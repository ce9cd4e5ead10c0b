import { parseStored } from "../../shared/json.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { BudgetRecord } from "./budget.ts";
import type { BudgetStore } from "./request-budget.ts";

/** Keeps budgets in a home's database. A write shares a commit with whatever else waits for one. */
export function budgetsIn(store: ReplicaStore<DaemonTables>): BudgetStore {
  return {
    async read(account) {
      const row = await store.reader
        .selectFrom("request_budgets")
        .select("record")
        .where("account", "=", account)
        .executeTakeFirst();
      return row && recordIn(row.record);
    },
    write: (account, budget) =>
      store.write(async ({ db }) => {
        const record = JSON.stringify(budget);
        await db
          .insertInto("request_budgets")
          .values({ account, record })
          .onConflict((conflict) => conflict.column("account").doUpdateSet({ record }))
          .execute();
      }),
  };
}

/** Undefined for a record that an older or newer program wrote and this one can't read. */
function recordIn(text: string): BudgetRecord | undefined {
  const record = parseStored<Partial<BudgetRecord> | null>(text);
  const isWhole = record !== null && FIELDS.every((field) => field in record);
  // It has every field, as the program that kept it wrote them.
  return isWhole ? (record as BudgetRecord) : undefined;
}

const FIELDS = [
  "limits",
  "savedAt",
  "saved",
  "savedAsks",
  "share",
  "windows",
  "times",
  "day",
  "closedUntil",
] as const satisfies readonly (keyof BudgetRecord)[];
