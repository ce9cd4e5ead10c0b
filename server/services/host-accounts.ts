import type { Kysely } from "kysely";
import { AppError } from "../../shared/errors.ts";
import { findAccount, listUsers } from "../stores/account-store.ts";
import type { HostTables } from "../stores/account-tables.ts";
import { callerExpiry } from "./caller-expiry.ts";
import type { Services } from "./services.ts";

/** The accounts of a hosted server, as its database has them. */
export function hostAccounts(db: Kysely<HostTables>): Services["account"] {
  return {
    async get(caller) {
      const { account, user } = caller;
      const found = await findAccount(db, account);
      // Its tokens were removed with it.
      if (!found) throw new AppError("unauthorized", "the account of this token was removed");
      const users = await listUsers(db, account);
      const named = users.find(({ id }) => id === user)?.name ?? null;
      const { name, plan } = found;
      return { name, plan, users: users.length, user: named, ...callerExpiry(caller) };
    },
  };
}
