import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { deletionOf } from "../../shared/replica/document/project-deletion.ts";
import {
  endJoins,
  joinsIn,
  type ProjectJoin,
  recordJoin,
} from "../../shared/replica/document/project-join.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { listKnownPlaces } from "../files/names/place-store.ts";
import { declineJoin } from "../home/declined-joins.ts";
import { type Link, listLinks } from "../home/links.ts";
import { findBinding } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { listToldJoins } from "../status/joined-projects.ts";

/** What it has settled that somebody named the project of a folder. */
export interface SettledJoins {
  /** Those that are true no more: the machines that have followed are told that it went back. */
  readonly ended: readonly ProjectJoin[];
  /** What nothing is said of here any more. Other machines are not touched. */
  readonly declined: readonly ProjectJoin[];
}

/**
 * Somebody has named the project of a folder. That this machine had gone from there to another
 * project is over, unless another folder of the repository is still in that one. If the folder was
 * in the named project already, it stays there, whatever others have joined that to.
 */
export async function settleJoins(
  context: WriteContext<DaemonTables>,
  account: AccountId,
  {
    former,
    link,
    derivedId,
    isForAll = false,
  }: {
    readonly former: Link | undefined;
    readonly link: Link;
    readonly derivedId: ProjectId | undefined;
    /** Ends all joins: the home that made one may be lost. Who has followed is told to return. */
    readonly isForAll?: boolean | undefined;
  },
): Promise<SettledJoins> {
  const { db } = context;
  const { projectId: project } = link;
  const open = await context.find(projectDocument(account, project));
  if (!open) return { ended: [], declined: [] };
  const links = await listLinks(db);
  const places = await listKnownPlaces(db);
  const of = derivedId ?? project;
  const isIn = (other: ProjectId) =>
    links.some(({ dir, projectId }) => {
      // A folder without a repository may be any project's.
      return projectId === other && (places.get(dir)?.derivedId ?? of) === of;
    });
  const { home } = open.author;
  const ended = joinsIn(open.document).filter((join) => {
    const isOwn = home !== undefined && join.home === home && join.of === of;
    return isForAll || (isOwn && !isIn(join.to));
  });
  endJoins(open.document, ended);
  await context.flush(open);
  for (const each of ended) {
    await tellOfReturn(context, account, { join: each, link });
  }
  if (former?.projectId !== project) return { ended, declined: [] };
  const declined = (await listToldJoins(db, { project, links, own: home })).map(({ join }) => join);
  for (const join of declined) await declineJoin(db, project, join);
  return { ended, declined };
}

/** Those that have followed this machine into the other project are told to come back. */
async function tellOfReturn(
  context: WriteContext<DaemonTables>,
  account: AccountId,
  {
    join: { of, to: from, at: joinedAt, before, brought },
    link,
  }: { readonly join: ProjectJoin; readonly link: Link },
): Promise<void> {
  if ((await findBinding(context.db, from)) !== account) return;
  const left = await context.find(projectDocument(account, from));
  if (!left || deletionOf(left.document)) return;
  const { projectId: to, name } = link;
  const told = { of, to, name, at: context.now, isReturn: true, before, brought, joinedAt };
  recordJoin(left.document, { ...told, ...left.author });
  await context.flush(left);
}
