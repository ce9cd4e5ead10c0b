import { AppError } from "../../shared/errors.ts";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { Allows } from "../held/judge.ts";
import { type Link, listLinks } from "../home/links.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import { UNKNOWN_SERVICE } from "../home/remote.ts";
import { findBinding } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { allowPrivateParts } from "./private-parts.ts";
import { type BookOptions, moveProject, nameRemotes } from "./remote-book.ts";
import { getDefault, getRemote, readRemotes } from "./remote-view.ts";

/** A folder that is linked to a project, with what decides the project's remote. */
export interface Binding {
  readonly project: ProjectId;
  /** The remote that the caller named. */
  readonly remote: string | undefined;
  /** The folder's former link. */
  readonly former: Link | undefined;
  /** The project's links in other folders. */
  readonly others: readonly Link[];
  /** What is private in the project may be synced, as far as the caller says so. */
  readonly allows?: Allows | undefined;
  /** It may come to another owner. */
  readonly ofAnother?: boolean | undefined;
}

/**
 * Binds a project to one remote: the one named, else its current one, else that of the folder's
 * former project, else the default. Refuses to take a project from the remote that another folder
 * links it to, unless that remote's service is unknown; so does `moveProject`. Resolves to the
 * account.
 */
export async function bindProject(
  context: WriteContext<DaemonTables>,
  options: BookOptions,
  { project, remote, former, others, allows, ofAnother }: Binding,
): Promise<AccountId> {
  const { db } = context;
  if (remote !== undefined) await nameRemotes(context, options);
  const bound = await findBinding(db, project);
  const view = await readRemotes(db, options.environment);
  const named = remote === undefined ? undefined : getRemote(view.remotes, remote).account;
  const wanted = named ?? bound ?? (former && (await findBinding(db, former.projectId)));
  const account = wanted ?? getDefault(view).account;
  if (bound === undefined) await context.open(projectDocument(account, project));
  else if (allows) {
    await allowPrivateParts(context, await context.open(projectDocument(bound, project)), allows);
  }
  if (bound === undefined || bound === account) return account;
  const [other] = others;
  const { name = "another remote", url } =
    view.remotes.find((each) => each.account === bound) ?? {};
  if (other && url !== UNKNOWN_SERVICE) {
    throw new AppError(
      "invalid_request",
      `${other.dir} is linked to this project, too, and the project is bound to ${name}: a ` +
        "project has one remote, so unlink that folder first",
    );
  }
  await moveProject(context, project, { to: account, ofAnother });
  return account;
}

/**
 * Where no remote was ever named, everything linked is bound to the only one, even a project
 * without a document, as in a home that lost its database.
 */
export async function bindLinks(
  context: WriteContext<DaemonTables>,
  { environment }: BookOptions,
): Promise<void> {
  if (!(await readRemotes(context.db, environment)).follows) return;
  for (const { projectId } of await listLinks(context.db)) {
    if ((await findBinding(context.db, projectId)) !== undefined) continue;
    await context.open(projectDocument(LOCAL_ACCOUNT, projectId));
  }
}
