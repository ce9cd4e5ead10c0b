import type { Kysely } from "kysely";
import type { CapturedText } from "../../shared/replica/text.ts";
import type { TextForm } from "../../shared/replica/text-form.ts";
import type { DaemonTables } from "../tables.ts";

type Db = Kysely<DaemonTables>;

/** One state of a followed file: its bytes, and where its lines stand in the document. */
export interface FileState {
  readonly hash: string;
  readonly base: CapturedText;
  readonly form: TextForm;
}

/** A followed file as it was last read or written. */
export interface FollowedState extends FileState {
  readonly path: string;
  /** What a write that was begun will leave. */
  readonly next: FileState | undefined;
}

/** Versions of a file that are kept, for saves from an editor that has not seen our write. */
const VERSIONS_KEPT = 10;

export async function readFollowed(db: Db, dir: string): Promise<FollowedState | undefined> {
  const row = await db
    .selectFrom("followed_files")
    .selectAll()
    .where("dir", "=", dir)
    .executeTakeFirst();
  if (!row) return undefined;
  const { next_hash: hash, next_base: base, next_form: form } = row;
  return {
    path: row.path,
    ...toState(row.hash, row.base, row.form),
    next: hash !== null && base !== null && form !== null ? toState(hash, base, form) : undefined,
  };
}

export async function writeFollowed(db: Db, dir: string, state: FollowedState): Promise<void> {
  const values = {
    path: state.path,
    hash: state.hash,
    base: JSON.stringify(state.base),
    form: JSON.stringify(state.form),
    next_hash: state.next?.hash ?? null,
    next_base: state.next ? JSON.stringify(state.next.base) : null,
    next_form: state.next ? JSON.stringify(state.next.form) : null,
  };
  await db
    .insertInto("followed_files")
    .values({ dir, ...values })
    .onConflict((conflict) => conflict.column("dir").doUpdateSet(values))
    .execute();
}

/** Forgets what was known of a folder's file. */
export async function forgetFollowed(db: Db, dir: string): Promise<void> {
  await db.deleteFrom("followed_files").where("dir", "=", dir).execute();
  await db.deleteFrom("file_versions").where("dir", "=", dir).execute();
}

/** The versions that were written over last, newest first. */
export async function listVersions(
  db: Db,
  dir: string,
): Promise<{ readonly hash: string; readonly base: CapturedText }[]> {
  const rows = await db
    .selectFrom("file_versions")
    .select(["hash", "base"])
    .where("dir", "=", dir)
    .orderBy("id", "desc")
    .limit(VERSIONS_KEPT)
    .execute();
  return rows.map((row) => ({ hash: row.hash, base: JSON.parse(row.base) as CapturedText }));
}

/** Keeps a version that is being written over, and drops those beyond the bound. */
export async function addVersion(db: Db, dir: string, state: FileState): Promise<void> {
  await db
    .insertInto("file_versions")
    .values({ dir, hash: state.hash, base: JSON.stringify(state.base) })
    .execute();
  await db
    .deleteFrom("file_versions")
    .where("dir", "=", dir)
    .where("id", "not in", (select) =>
      select
        .selectFrom("file_versions")
        .select("id")
        .where("dir", "=", dir)
        .orderBy("id", "desc")
        .limit(VERSIONS_KEPT),
    )
    .execute();
}

function toState(hash: string, base: string, form: string): FileState {
  return {
    hash,
    base: JSON.parse(base) as CapturedText,
    form: JSON.parse(form) as TextForm,
  };
}
