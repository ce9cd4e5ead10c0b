import type { Kysely } from "kysely";
import { listLinks } from "../../daemon/home/links.ts";
import type { Remote } from "../../daemon/home/remote.ts";
import { findBinding, listRemotes } from "../../daemon/home/remote-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { findOfAnother, type OfAnother } from "../../daemon/remotes/refuse-owners.ts";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { confirm, isTerminal } from "../screen/ask.ts";
import { CommandFailed } from "../screen/errors.ts";

/** From where to where something is moved: two remotes by their names. */
interface Moving {
  readonly from: string | ((db: Kysely<DaemonTables>) => Promise<AccountId | undefined>);
  readonly to: string;
}

/** Why something is not moved unasked: it is known to be another owner's than what is there. */
export async function readOfAnother(
  env: Environment,
  { from, to }: Moving,
): Promise<OfAnother | undefined> {
  return await withLocal(env, async (db) => {
    if (!db) return undefined;
    const remotes = await listRemotes(db);
    const source = typeof from === "string" ? accountOf(remotes, from) : await from(db);
    const target = accountOf(remotes, to);
    return source && target && (await findOfAnother(db, { from: source, to: target }));
  });
}

function accountOf(remotes: readonly Remote[], name: string): AccountId | undefined {
  return remotes.find((each) => each.name === name)?.account;
}

/**
 * Asks before what is one owner's comes to another, and names both; `--of-another` answers in
 * advance. Throws without a yes. `undone`: what the failure says then. Resolves to whether there is
 * an agreement to it.
 */
export async function agreeToAnother(
  env: Environment,
  moving: Moving,
  {
    ofAnother = false,
    undone,
  }: { readonly ofAnother: boolean | undefined; readonly undone: string },
): Promise<boolean> {
  const found = ofAnother ? undefined : await readOfAnother(env, moving);
  if (!found) return ofAnother;
  if (!isTerminal()) {
    const mend = "--of-another moves it nevertheless";
    throw new CommandFailed(`${undone}: ${found.whose}; ${mend}`, { code: "needs-yes" });
  }
  const question = `${found.whose}. Move it to ${moving.to} nevertheless?`;
  if (!(await confirm(question))) throw new CommandFailed(undone, { code: "declined" });
  return true;
}

/** The same before a folder's project, or the named one, is bound to a remote that was named. */
export async function agreeToBind(
  env: Environment,
  { dir, project }: { readonly dir: string; readonly project: ProjectId | undefined },
  { remote, ofAnother }: { readonly remote?: string; readonly ofAnother?: boolean },
): Promise<boolean> {
  if (remote === undefined) return false;
  const from = async (db: Kysely<DaemonTables>) => {
    const id = project ?? (await listLinks(db)).find((each) => each.dir === dir)?.projectId;
    return id && (await findBinding(db, id));
  };
  return await agreeToAnother(
    env,
    { from, to: remote },
    { ofAnother, undone: "nothing was linked" },
  );
}
