import type { Kysely } from "kysely";
import { findAudience } from "../home/audience-store.ts";
import type { Remote } from "../home/remote.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { Services } from "./mount.ts";

/** The accounts of remotes as their services last described them. The home's own has one user. */
export function heardAccounts(
  db: Kysely<DaemonTables>,
  remotes: () => readonly Remote[],
): Services["account"] {
  return {
    async get({ account: owner, plan: usual }) {
      const remote = remotes().find(({ account }) => account === owner);
      if (!remote || remote.url === undefined) {
        return { name: "local", plan: usual, users: 1, user: null };
      }
      const { name, plan, users, user } = await findAudience(db, remote);
      return { name, plan, users, user };
    },
  };
}
