import type { Kysely } from "kysely";
import { parseProjectId } from "../../shared/ids.ts";
import type { FolderPlace } from "../files/folder-place.ts";
import type { KnownPlace } from "../files/place-store.ts";
import { type Link, parseLink, valuesOf } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<DaemonTables>;

/** So many folders are known again. */
const FORMER_LINKS_MAX = 100;

/** A link whose folder has left its path to another one, by which that folder is known again. */
export interface FormerLink {
  readonly id: number;
  /** As it was, with the path that the folder had. */
  readonly link: Link;
  readonly known: KnownPlace;
}

/** The folder is nowhere to be seen; should it turn up, it is what it was. */
export async function keepFormerLink(
  db: Db,
  link: Link,
  {
    knownPlace: { place, evidence, derivedId, rootCommit },
    now,
  }: { readonly knownPlace: KnownPlace; readonly now: number },
): Promise<void> {
  const { device, inode, bornAt } = place;
  await db
    .insertInto("former_links")
    .values({
      dir: link.dir,
      ...valuesOf(link),
      device,
      inode,
      born_at: bornAt,
      evidence,
      derived_id: derivedId ?? null,
      root_commit: rootCommit ?? null,
      left_at: now,
    })
    .execute();
  const beyond = db
    .selectFrom("former_links")
    .select("id")
    .orderBy("id", "desc")
    .offset(FORMER_LINKS_MAX)
    .limit(1);
  await db.deleteFrom("former_links").where("id", "<=", beyond).execute();
}

/** The latest link that a folder had, which its time of birth tells; undefined without one. */
export async function findFormerLink(db: Db, place: FolderPlace): Promise<FormerLink | undefined> {
  if (place.bornAt === "") return undefined;
  const row = await db
    .selectFrom("former_links")
    .selectAll()
    .where("inode", "=", place.inode)
    .where("born_at", "=", place.bornAt)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const link = row && parseLink(row);
  if (!row || !link) return undefined;
  const { id, evidence } = row;
  const derivedId = parseProjectId(row.derived_id ?? "");
  const rootCommit = row.root_commit ?? undefined;
  return { id, link, known: { place, evidence, derivedId, rootCommit, change: undefined } };
}

/** The folder is linked again, or is not to be: forgets all of its former links. */
export async function forgetFormerLinks(db: Db, { inode, bornAt }: FolderPlace): Promise<void> {
  await db
    .deleteFrom("former_links")
    .where("inode", "=", inode)
    .where("born_at", "=", bornAt)
    .execute();
}

/** Forgets the folders that were linked at a path. */
export async function forgetFormerLinksAt(db: Db, dir: string): Promise<void> {
  await db.deleteFrom("former_links").where("dir", "=", dir).execute();
}
