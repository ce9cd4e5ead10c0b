import type { Kysely } from "kysely";
import { type AccountId, type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import { findLastSyncedProject, findProject } from "../stores/project-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { getProject, mayReach } from "./access.ts";
import type { Caller } from "./services.ts";

type Db = Kysely<ServiceTables>;

/**
 * The project of a read that names none in its path (contract, section 4). The first of these that
 * exists: the named one, the only one to which the token is restricted, the one that the token last
 * created or synced by a plain call, the account's most recently synced one.
 */
export async function findCurrentProject(
  db: Db,
  caller: Caller,
  named: ProjectId | undefined,
): Promise<ProjectId | undefined> {
  if (named !== undefined) return (await getProject(db, caller, named)).id;
  const [bound, ...others] = caller.boundTo ?? [];
  if (bound !== undefined && others.length === 0) {
    return (await findProject(db, caller.account, bound))?.id;
  }
  const last = await findTokensProject(db, caller);
  if (last !== undefined) return last;
  const filter = { account: caller.account, among: caller.boundTo };
  return (await findLastSyncedProject(db, filter))?.id;
}

async function findTokensProject(db: Db, caller: Caller): Promise<ProjectId | undefined> {
  const [row] = await findByToken(db, { tokenId: caller.tokenId, account: caller.account });
  const id = row && parseProjectId(row.project_id);
  return id !== undefined && mayReach(caller, id) ? id : undefined;
}

const findByToken = compiled(
  (db: Db, { tokenId, account }: { readonly tokenId: string; readonly account: AccountId }) =>
    db
      .selectFrom("current_projects")
      .select("project_id")
      .where("token_id", "=", tokenId)
      .where("account", "=", account),
);

/** Stores that this token created or synced a project by a plain call. */
export async function rememberProject(db: Db, caller: Caller, id: ProjectId): Promise<void> {
  await db
    .insertInto("current_projects")
    .values({ token_id: caller.tokenId, account: caller.account, project_id: id })
    .onConflict((conflict) => conflict.column("token_id").doUpdateSet({ project_id: id }))
    .execute();
}
