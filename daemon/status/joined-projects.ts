import type { Kysely } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import { parseJson } from "../../shared/json.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { JOINED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { type ProjectJoin, parseJoin } from "../../shared/replica/document/project-join.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { listKnownPlaces } from "../files/names/place-store.ts";
import { readDeclined } from "../home/declined-joins.ts";
import { readDeletion } from "../home/deleted-project.ts";
import type { Home } from "../home/home.ts";
import { readHomeId } from "../home/home-id.ts";
import type { JoinedStatus } from "../home/joined-status.ts";
import type { Link } from "../home/links.ts";
import { findProjectName } from "../home/project-name.ts";
import { findBinding } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<DaemonTables>;

/** A project that is linked here, and all links of this machine. */
interface LinkedProject {
  readonly project: ProjectId;
  readonly links: readonly Link[];
  /** The id of this home, if it has one. */
  readonly own?: string | undefined;
}

/** A join that is to be told, with the folders that have not followed it. */
export interface ToldJoin {
  readonly join: ProjectJoin;
  readonly dirs: readonly string[];
  /** This home's own, and its folder is in the other project no more. */
  readonly isLeft: boolean;
}

/**
 * The projects to which a folder of a project that is linked here was linked, on another machine or
 * on this one. Each stays in the list until this machine's folders are linked there, too, or the
 * other one is linked back, or somebody has said that the project stays what it is here.
 */
export async function joinsOfLinked(
  db: Db,
  home: Home,
  linked: LinkedProject,
): Promise<JoinedStatus[]> {
  const own = readHomeId(home);
  const told = await listToldJoins(db, { ...linked, own });
  const statusFrom = ({ join, dirs, isLeft }: ToldJoin) =>
    statusOf(db, join, { from: linked.project, dirs, own, isLeft });
  return await Promise.all(told.map(statusFrom));
}

/** The latest first. */
export async function listToldJoins(
  db: Db,
  { project, links, own }: LinkedProject,
): Promise<ToldJoin[]> {
  const joins = await readJoins(db, project);
  if (joins.length === 0) return [];
  const isDeclined = await readDeclined(db, project);
  const places = await listKnownPlaces(db);
  const namedBy = ({ dir }: Link) => places.get(dir)?.derivedId;
  const linked = links.filter(({ projectId }) => projectId === project);
  const told: ToldJoin[] = [];
  for (const join of joins) {
    if (isDeclined(join) || (await isCrossed(db, project, join))) continue;
    // No folder of a project that was never here can go back to it.
    if (join.isReturn && (await findBinding(db, join.to)) === undefined) continue;
    // The project's own folders stay where they are when that of another repository goes.
    const meant = linked.filter((link) => join.of === project || namedBy(link) !== project);
    if (join.isReturn) {
      const sure = meant.filter((link) => namedBy(link) === join.of).map(({ dir }) => dir);
      // Any folder without a repository may have followed it, and none is named that may not have.
      const isUnsure = meant.some((link) => namedBy(link) === undefined) && join.home !== own;
      if (sure.length > 0 || isUnsure) told.push({ join, dirs: sure, isLeft: false });
      continue;
    }
    const rank = (link: Link) => (namedBy(link) === join.of ? 0 : 1);
    const dirs = meant.toSorted((one, other) => rank(one) - rank(other)).map(({ dir }) => dir);
    const first = dirs[0];
    if (first === undefined) continue;
    const isThere = links.some((link) => {
      return link.projectId === join.to && (namedBy(link) ?? join.of) === join.of;
    });
    const isOfFirst = (places.get(first)?.derivedId ?? project) === join.of;
    const isOwn = own !== undefined && join.home === own;
    told.push({ join, dirs, isLeft: isOwn && isOfFirst && !isThere });
  }
  return told;
}

/**
 * Whether the two projects were joined in the other direction as well, and later. Then that one
 * counts, on each machine: if both were followed, the machines would change places.
 */
async function isCrossed(db: Db, project: ProjectId, join: ProjectJoin): Promise<boolean> {
  const opposite = (await readJoins(db, join.to)).filter(({ to }) => to === project);
  return opposite.some(({ at }) => at > join.at || (at === join.at && project > join.to));
}

/** The same of a project that no folder is linked to here. */
export async function joinsOfUnlinked(db: Db, project: ProjectId): Promise<JoinedStatus[]> {
  const joins = await readJoins(db, project);
  const statusFrom = (join: ProjectJoin) => statusOf(db, join, { from: project, dirs: [] });
  return await Promise.all(joins.map(statusFrom));
}

/**
 * The join that a folder of `from` would take back by a link to `to`; undefined if it would not go
 * back. `derivedId`: the project that its repository names.
 */
export async function findJoinBack(
  db: Db,
  {
    from,
    to,
    derivedId: of = to,
  }: {
    readonly from: ProjectId;
    readonly to: ProjectId;
    readonly derivedId: ProjectId | undefined;
  },
): Promise<ProjectJoin | undefined> {
  const isHere = (join: ProjectJoin) => !join.isReturn && join.to === from && join.of === of;
  const here = (await readJoins(db, to)).find(isHere);
  if (here) return here;
  const isBack = (join: ProjectJoin) => join.isReturn && join.to === to && join.of === of;
  return (await readJoins(db, from)).find(isBack);
}

async function statusOf(
  db: Db,
  join: ProjectJoin,
  {
    from,
    dirs,
    own,
    isLeft = false,
  }: {
    readonly from: ProjectId;
    readonly dirs: readonly string[];
    readonly own?: string | undefined;
    readonly isLeft?: boolean;
  },
): Promise<JoinedStatus> {
  const { to, name, at, machine = null, home, isReturn = false } = join;
  const known = (await findProjectName(db, to)) ?? name ?? null;
  const here = home !== undefined && home === own;
  const when = timestampOf(at);
  const isDeleted = (await readDeletion(db, from)) !== undefined;
  const how = { is_return: isReturn, is_deleted: isDeleted, is_left: isLeft };
  return { id: to, name: known, from, at: when, machine, ...how, here, dirs };
}

/** The projects whose folders were linked to this one, on any machine, and have not gone back. */
export async function listJoinedInto(
  db: Db,
  project: ProjectId,
): Promise<readonly { readonly id: ProjectId; readonly machine: string | undefined }[]> {
  const rows = await db
    .selectFrom("metadata")
    .innerJoin("documents", "documents.id", "metadata.document_id")
    .select(["documents.name", "metadata.key", "value"])
    .where("metadata.key", ">=", JOINED_PREFIX)
    .where("metadata.key", "<", `${JOINED_PREFIX}~`)
    .execute();
  return rows.flatMap(({ name, key, value }) => {
    const id = projectOf(name);
    const join = parseJoin(key, parseJson(value));
    if (!id || join?.to !== project || join.isReturn) return [];
    return [{ id, machine: join.machine }];
  });
}

/** Of folders that were in a project for a while and have gone back; the latest first. */
export async function readReturns(db: Db, project: ProjectId): Promise<ProjectJoin[]> {
  return (await readJoins(db, project)).filter(({ isReturn }) => isReturn);
}

/** The latest first. */
async function readJoins(db: Db, project: ProjectId): Promise<ProjectJoin[]> {
  const rows = await db
    .selectFrom("metadata")
    .innerJoin("documents", "documents.id", "metadata.document_id")
    .select(["metadata.key", "value"])
    .where("documents.name", "=", project)
    .where("metadata.key", ">=", JOINED_PREFIX)
    .where("metadata.key", "<", `${JOINED_PREFIX}~`)
    .execute();
  const joins = rows.flatMap(({ key, value }) => parseJoin(key, parseJson(value)) ?? []);
  return joins.sort((one, other) => other.at - one.at);
}
