import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import { countUsers, findAccount } from "../stores/account-store.ts";
import type { HostTables } from "../stores/account-tables.ts";
import type { Services } from "./services.ts";

/** The accounts of a hosted server, as its database has them. */
export function hostAccounts(db: Kysely<HostTables>): Services["account"] {
  return {
    async get({ account }) {
      const found = await findAccount(db, account);
      // Its tokens were removed with it.
      if (!found) throw new AppError("unauthorized", "the account of this token was removed");
      return { name: found.name, plan: found.plan, users: await countUsers(db, account) };
    },
  };
}
