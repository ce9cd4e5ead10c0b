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

/**
 * Versions that we wrote over are kept for saves from a buffer that has not seen our writes: for
 * this long, and no two that were written over closer to each other than this.
 */
export const VERSION_AGE_MS_MAX = 10 * 60_000;
export const VERSION_DISTANCE_MS = 5000;

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
  await db.deleteFrom("held").where("kind", "=", "file").where("key", "=", dir).execute();
  await forgetVersions(db, dir);
}

/** A folder's path is another now, and its file is the same. */
export async function moveFollowed(db: Db, from: string, to: string): Promise<void> {
  await forgetFollowed(db, to);
  await db.updateTable("followed_files").set({ dir: to }).where("dir", "=", from).execute();
  await db.updateTable("file_versions").set({ dir: to }).where("dir", "=", from).execute();
  await db
    .updateTable("held")
    .set({ key: to })
    .where("kind", "=", "file")
    .where("key", "=", from)
    .execute();
}

/** The versions that stood in the file at `since` or later and were then written over, in order. */
export async function listVersions(db: Db, dir: string, since: number): Promise<FileState[]> {
  const rows = await db
    .selectFrom("file_versions")
    .select(["hash", "base", "form"])
    .where("dir", "=", dir)
    .where("replaced_at", ">=", since)
    .orderBy("id")
    .execute();
  return rows.map(({ hash, base, form }) => toState(hash, base, form));
}

/**
 * Keeps a version that is about to be written over at `now`, unless one was kept just before. One
 * without text stands for no other, for no buffer is a later state of it.
 */
export async function addVersion(
  db: Db,
  dir: string,
  state: FileState,
  now: number,
): Promise<void> {
  const last = await db
    .selectFrom("file_versions")
    .select(["replaced_at", "hash", "base", "form"])
    .where("dir", "=", dir)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const isNear = last && Math.abs(now - last.replaced_at) < VERSION_DISTANCE_MS;
  if (isNear && toState(last.hash, last.base, last.form).base.text.trim() !== "") return;
  const oldest = now - VERSION_AGE_MS_MAX;
  await db
    .deleteFrom("file_versions")
    .where("dir", "=", dir)
    .where("replaced_at", "<", oldest)
    .execute();
  await db
    .insertInto("file_versions")
    .values({
      dir,
      hash: state.hash,
      base: JSON.stringify(state.base),
      form: JSON.stringify(state.form),
      replaced_at: now,
    })
    .execute();
}

/** Forgets the versions that were written over: whoever saved since has seen the file. */
export async function forgetVersions(db: Db, dir: string): Promise<void> {
  await db.deleteFrom("file_versions").where("dir", "=", dir).execute();
}

function toState(hash: string, base: string, form: string): FileState {
  return {
    hash,
    base: JSON.parse(base) as CapturedText,
    form: JSON.parse(form) as TextForm,
  };
}
