import type { Kysely } from "kysely";
import { parseProjectId } from "../../shared/ids.ts";
import type { FolderPlace } from "../files/names/folder-place.ts";
import type { KnownPlace } from "../files/names/place-store.ts";
import { type Link, parseLink, valuesOf } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<DaemonTables>;

/** This many former folders are remembered. */
const FORMER_LINKS_MAX = 100;

/**
 * A link whose folder left its path to another folder. If the folder turns up again, it is
 * recognised by this.
 */
export interface FormerLink {
  readonly id: number;
  /** The link with the path that the folder had. */
  readonly link: Link;
  readonly known: KnownPlace;
}

/** The folder is not to be found. If it turns up, it gets its link back. */
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

/** The last link of a folder, found by its creation time; undefined where there is none. */
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

/** Forgets all former links of a folder: it is linked again, or must not be. */
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
