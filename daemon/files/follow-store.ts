import type { Kysely, Selectable } from "kysely";
import type { CapturedText } from "../../shared/replica/text/text.ts";
import type { TextForm } from "../../shared/replica/text/text-form.ts";
import type { Position } from "../../shared/wire/position.ts";
import type { DaemonTables, FollowedFilesTable } from "../home/tables.ts";
import { forgetArrivals, moveArrivals } from "./arrival-store.ts";
import type { FileState } from "./file-state.ts";

type Db = Kysely<DaemonTables>;

/** What git had checked out. */
export interface CheckedOut {
  /** The commit; undefined outside of git and before the first one. */
  readonly commit: string | undefined;
  /** Branch and commit as one text; undefined outside of git. */
  readonly head: string | undefined;
}

/** A followed file as it was last read or written. */
export interface FollowedState extends FileState {
  readonly path: string;
  /** What a write that was begun will leave. */
  readonly next: FileState | undefined;
  /** The commit is that at which the text was read, the head that at which it was last seen. */
  readonly checkedOut: CheckedOut;
  /** A look has found the file missing since. */
  readonly isGone: boolean;
  /** The paths of other files that stood beside it; undefined where that is not known. */
  readonly beside: readonly string[] | undefined;
  /** Where the document stood when `base` was taken from it; undefined where that is not known. */
  readonly position: Position | undefined;
}

export async function readFollowed(db: Db, dir: string): Promise<FollowedState | undefined> {
  const row = await db
    .selectFrom("followed_files")
    .selectAll()
    .where("dir", "=", dir)
    .executeTakeFirst();
  return row && toFollowed(row);
}

function toFollowed(row: Selectable<FollowedFilesTable>): FollowedState {
  const { next_hash: hash, next_base: base, next_form: form, base_epoch: epoch } = row;
  const seq = row.base_seq;
  return {
    path: row.path,
    ...toState(row.hash, row.base, row.form),
    next: hash !== null && base !== null && form !== null ? toState(hash, base, form) : undefined,
    checkedOut: { commit: row.commit_id ?? undefined, head: row.head ?? undefined },
    isGone: row.is_gone === 1,
    beside: row.beside === null ? undefined : (JSON.parse(row.beside) as string[]),
    position: epoch === null || seq === null ? undefined : { epoch, seq },
  };
}

export async function writeFollowed(db: Db, dir: string, state: FollowedState): Promise<void> {
  const { path, hash, base, form, next, checkedOut, isGone, position, beside } = state;
  const values = {
    path,
    hash,
    base: JSON.stringify(base),
    form: JSON.stringify(form),
    next_hash: next?.hash ?? null,
    next_base: next ? JSON.stringify(next.base) : null,
    next_form: next ? JSON.stringify(next.form) : null,
    commit_id: checkedOut.commit ?? null,
    head: checkedOut.head ?? null,
    is_gone: isGone ? 1 : 0,
    base_epoch: position?.epoch ?? null,
    base_seq: position?.seq ?? null,
    beside: beside ? JSON.stringify(beside) : null,
  };
  await db
    .insertInto("followed_files")
    .values({ dir, ...values })
    .onConflict((conflict) => conflict.column("dir").doUpdateSet(values))
    .execute();
}

/** A document's text, as its rows say; empty where there is none. */
export async function readStoredText(db: Db, owner: string, name: string): Promise<string> {
  const row = await db
    .selectFrom("texts")
    .innerJoin("documents", "documents.id", "texts.document_id")
    .select("content")
    .where("owner", "=", owner)
    .where("name", "=", name)
    .executeTakeFirst();
  return row?.content ?? "";
}

/** A folder that was in a repository is followed without one from now on. */
export async function forgetGit(db: Db, dir: string): Promise<void> {
  const nowhere = { commit_id: null, head: null };
  await db.updateTable("followed_files").set(nowhere).where("dir", "=", dir).execute();
}

/** Forgets what was known of a folder's file. */
export async function forgetFollowed(db: Db, dir: string): Promise<void> {
  await db.deleteFrom("followed_files").where("dir", "=", dir).execute();
  await db.deleteFrom("held").where("kind", "=", "file").where("key", "=", dir).execute();
  await forgetArrivals(db, dir);
}

/** A folder's path is another now, and its file is the same. */
export async function moveFollowed(db: Db, from: string, to: string): Promise<void> {
  await forgetFollowed(db, to);
  await db.updateTable("followed_files").set({ dir: to }).where("dir", "=", from).execute();
  await moveArrivals(db, from, to);
  await db.updateTable("saves").set({ dir: to }).where("dir", "=", from).execute();
  await db
    .updateTable("held")
    .set({ key: to })
    .where("kind", "=", "file")
    .where("key", "=", from)
    .execute();
}

function toState(hash: string, base: string, form: string): FileState {
  return {
    hash,
    base: JSON.parse(base) as CapturedText,
    form: JSON.parse(form) as TextForm,
  };
}
