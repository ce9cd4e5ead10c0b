import type { Kysely } from "kysely";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { type FolderPlace, isSamePlace } from "../files/names/folder-place.ts";
import type { EvidenceKind, KnownPlace } from "../files/names/place-store.ts";
import { readDeletion } from "../home/deleted-project.ts";
import type { Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import { findJoinBack } from "../status/joined-projects.ts";

type Db = Kysely<DaemonTables>;

/** This many unlinked folders are remembered. */
const UNLINKED_MAX = 1000;

/** The project that a folder was unlinked from. It was not deleted since. */
export interface PastProject {
  readonly projectId: ProjectId;
  readonly name: string;
  readonly evidence: EvidenceKind;
  /** It is the same folder. False: another one is at its path. */
  readonly isSameFolder: boolean;
}

/** A folder with no commit and no remote has nothing else that tells its project. */
export async function keepUnlinked(
  db: Db,
  { dir, projectId, name }: Link,
  { known, now }: { readonly known: KnownPlace; readonly now: number },
): Promise<void> {
  const { device, inode, bornAt } = known.place;
  const folder = { device, inode, born_at: bornAt };
  const project = { project_id: projectId, name, evidence: known.evidence };
  await forgetUnlinked(db, known.place);
  await db
    .insertInto("unlinked_folders")
    .values({ dir, ...folder, ...project, unlinked_at: now })
    .execute();
  const beyond = db
    .selectFrom("unlinked_folders")
    .select("id")
    .orderBy("id", "desc")
    .offset(UNLINKED_MAX)
    .limit(1);
  await db.deleteFrom("unlinked_folders").where("id", "<=", beyond).execute();
}

/** What a folder was unlinked from last: the folder itself, or else the one at its path. */
export async function findPastProject(
  db: Db,
  { dir, place }: { readonly dir: string; readonly place: FolderPlace },
): Promise<PastProject | undefined> {
  const rows = await db
    .selectFrom("unlinked_folders")
    .selectAll()
    .where((where) => where.or([where("dir", "=", dir), where("inode", "=", place.inode)]))
    .orderBy("id", "desc")
    .execute();
  const isSame = (row: (typeof rows)[number]) =>
    isSamePlace(place, { device: row.device, inode: row.inode, bornAt: row.born_at });
  const row = rows.find(isSame) ?? rows.find((each) => each.dir === dir);
  const projectId = parseProjectId(row?.project_id ?? "");
  if (!row || projectId === undefined || (await readDeletion(db, projectId))) return undefined;
  return { projectId, name: row.name, evidence: row.evidence, isSameFolder: isSame(row) };
}

/**
 * The link that a folder had before it was unlinked, if it goes back from there to the project that
 * its repository names: whoever unlinks a mistaken join, and links again, takes it back.
 */
export async function findWayBack(
  db: Db,
  {
    dir,
    place,
    ...way
  }: {
    readonly dir: string;
    readonly place: FolderPlace | undefined;
    readonly derivedId: ProjectId | undefined;
    readonly to: ProjectId;
  },
): Promise<Link | undefined> {
  const past = place && (await findPastProject(db, { dir, place }));
  if (!past?.isSameFolder || past.projectId === way.to) return undefined;
  if (!(await findJoinBack(db, { ...way, from: past.projectId }))) return undefined;
  return { dir, projectId: past.projectId, name: past.name, write: false };
}

/** A folder is linked again. Others that were at its path may come back. */
export async function forgetUnlinked(db: Db, { inode, bornAt }: FolderPlace): Promise<void> {
  await db
    .deleteFrom("unlinked_folders")
    .where("inode", "=", inode)
    .where("born_at", "=", bornAt)
    .execute();
}
