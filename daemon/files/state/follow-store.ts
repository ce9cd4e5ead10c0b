import type { Kysely, Selectable } from "kysely";
import type { AccountId } from "../../../shared/ids.ts";
import { parseStored } from "../../../shared/json.ts";
import type { TextConflictRecord } from "../../../shared/replica/conflicts/text-conflict-record.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import type { TextForm } from "../../../shared/replica/text/text-form.ts";
import type { Position } from "../../../shared/wire/position.ts";
import { keepHeldSave } from "../../held/keep-held-save.ts";
import type { DaemonTables, FollowedFilesTable } from "../../home/tables.ts";
import { forgetArrivals, moveArrivals } from "../arrivals/arrival-store.ts";
import type { FileState } from "../lines/file-state.ts";
import { alsoKeysOf } from "../names/also-file.ts";
import { askOfPersonal } from "./ask-of-personal.ts";

type Db = Kysely<DaemonTables>;

/** What git had checked out. */
export interface CheckedOut {
  /** The commit; undefined outside of git and before the first one. */
  readonly commit: string | undefined;
  /** Branch and commit as one text; undefined outside of git. */
  readonly head: string | undefined;
  /** How HEAD came there, by its log; see `readHeadEntry`. Undefined where nothing tells. */
  readonly headEntry: string | undefined;
  /** The git folder; see `repositoryAt`. Undefined outside of git, and where it is unknown. */
  readonly repository: string | undefined;
}

/** Whether the file was read in another repository at this path, as before it was cloned anew. */
export function isAnotherRepository(known: CheckedOut | undefined, now: CheckedOut): boolean {
  if (known?.repository === undefined || now.repository === undefined) return false;
  return known.repository !== now.repository;
}

/** What git has shown in a file with the marks of a conflict, since the file was taken last. */
export interface MarkedText {
  /** The text as git put its marks there, without what was typed beside them since. */
  readonly marked: string;
  /** When it was first seen so, by the file's own time. */
  readonly at?: number | undefined;
  /** What both versions were made of; undefined where git does not say so. */
  readonly base?: string | undefined;
}

/**
 * What git set aside of a file's saves, and what the file has not had again since. Without lines
 * where git has brought all of it back, and may take it out once more.
 */
export interface SetAside {
  /** Lines that git took out of the file. They stayed in the document. */
  readonly taken: readonly string[];
  /** Lines that git put back, though a save had deleted them. They stayed out of the document. */
  readonly returned: readonly string[];
}

/** What a write will leave. */
export interface BegunState extends FileState {
  /**
   * When the text that it replaces was saved, in milliseconds since the Unix epoch. Undefined where
   * that is not known.
   */
  readonly overSavedAt: number | undefined;
}

/** The file that a link led to, as it was read or written last. */
export type KnownTarget = Omit<FollowedState, "next" | "target">;

/** A followed file as it was read or written last. */
export interface FollowedState extends FileState {
  readonly path: string;
  /**
   * The name of the symbolic link that leads to the file; undefined where none was needed. The same
   * as `path` where the link has gone: it counts again once it is back.
   */
  readonly linkedAs?: string | undefined;
  /**
   * What was known of the link's target when a file took the link's place. Once the link is back,
   * its target is an edit of that.
   */
  readonly target?: KnownTarget | undefined;
  /** What a write that was begun will leave. */
  readonly next: BegunState | undefined;
  /** `commit`: at which the text was read. The rest: where the file was last seen. */
  readonly checkedOut: CheckedOut;
  /** A later look found the file missing. */
  readonly isGone: boolean;
  /** The paths of the other files that could be followed, at that time; undefined where unknown. */
  readonly beside: readonly string[] | undefined;
  /** The document's position when `base` was taken from it; undefined where unknown. */
  readonly position: Position | undefined;
  /**
   * What git kept outside of HEAD when this text was first seen; see `listKept`. Undefined where
   * unknown.
   */
  readonly kept: readonly string[] | undefined;
  readonly marked?: MarkedText | undefined;
  readonly setAside?: SetAside | undefined;
  /**
   * The conflicts that hold the file; see `HOLDING`. Undefined where that was not kept: it was read
   * by an earlier version.
   */
  readonly holding?: readonly TextConflictRecord[] | undefined;
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
    linkedAs: row.linked_as ?? undefined,
    target: row.link_target === null ? undefined : parseStored<KnownTarget>(row.link_target),
    ...toState(row.hash, row.base, row.form),
    next:
      hash !== null && base !== null && form !== null
        ? { ...toState(hash, base, form), overSavedAt: row.saved_at ?? undefined }
        : undefined,
    checkedOut: {
      commit: row.commit_id ?? undefined,
      head: row.head ?? undefined,
      headEntry: row.head_entry ?? undefined,
      repository: row.repository ?? undefined,
    },
    isGone: row.is_gone === 1,
    beside: row.beside === null ? undefined : parseStored<string[]>(row.beside),
    position: epoch === null || seq === null ? undefined : { epoch, seq },
    kept: row.kept === null ? undefined : parseStored<string[]>(row.kept),
    marked: row.marked === null ? undefined : parseStored<MarkedText>(row.marked),
    setAside: row.set_aside === null ? undefined : parseStored<SetAside>(row.set_aside),
    holding: row.holding === null ? undefined : parseStored<TextConflictRecord[]>(row.holding),
  };
}

export async function writeFollowed(db: Db, dir: string, state: FollowedState): Promise<void> {
  const { path, hash, base, form, next, checkedOut, isGone, position, beside, kept } = state;
  const { linkedAs, target, marked, setAside, holding } = state;
  const values = {
    path,
    linked_as: linkedAs ?? null,
    link_target: target ? JSON.stringify(target) : null,
    hash,
    base: JSON.stringify(base),
    form: JSON.stringify(form),
    next_hash: next?.hash ?? null,
    next_base: next ? JSON.stringify(next.base) : null,
    next_form: next ? JSON.stringify(next.form) : null,
    saved_at: next?.overSavedAt ?? null,
    commit_id: checkedOut.commit ?? null,
    head: checkedOut.head ?? null,
    head_entry: checkedOut.headEntry ?? null,
    repository: checkedOut.repository ?? null,
    is_gone: isGone ? 1 : 0,
    base_epoch: position?.epoch ?? null,
    base_seq: position?.seq ?? null,
    beside: beside ? JSON.stringify(beside) : null,
    kept: kept ? JSON.stringify(kept) : null,
    marked: marked ? JSON.stringify(marked) : null,
    set_aside: setAside ? JSON.stringify(setAside) : null,
    holding: holding ? JSON.stringify(holding) : null,
  };
  await db
    .insertInto("followed_files")
    .values({ dir, ...values })
    .onConflict((conflict) => conflict.column("dir").doUpdateSet(values))
    .execute();
}

/** Notes what git has shown in a folder's file; undefined: nothing that matters any more. */
export async function noteMarked(
  db: Db,
  dir: string,
  marked: MarkedText | undefined,
): Promise<void> {
  const value = marked ? JSON.stringify(marked) : null;
  await db.updateTable("followed_files").set("marked", value).where("dir", "=", dir).execute();
}

/** A document's text as its table has it; empty where there is none. */
export async function readStoredText(db: Db, owner: AccountId, name: string): Promise<string> {
  const row = await db
    .selectFrom("texts")
    .innerJoin("documents", "documents.id", "texts.document_id")
    .select("content")
    .where("owner", "=", owner)
    .where("name", "=", name)
    .executeTakeFirst();
  return row?.content ?? "";
}

/** Follows a folder that was in a repository without git from now on. */
export async function forgetGit(db: Db, dir: string): Promise<void> {
  const nowhere = { commit_id: null, head: null, head_entry: null, repository: null };
  const files = db.updateTable("followed_files").set(nowhere);
  await files.where("dir", "in", [dir, ...alsoKeysOf(dir)]).execute();
}

/** Forgets what was known of a folder's files. */
export async function forgetFollowed(db: Db, dir: string): Promise<void> {
  await askOfPersonal(db, dir);
  for (const key of [dir, ...alsoKeysOf(dir)]) await forgetOne(db, key);
}

/** Forgets what was known of a folder's further files. A save that is held stays held. */
export async function forgetAlso(db: Db, dir: string): Promise<void> {
  await askOfPersonal(db, dir);
  for (const key of alsoKeysOf(dir)) {
    await keepHeldSave(db, key);
    await forgetOne(db, key);
  }
}

async function forgetOne(db: Db, dir: string): Promise<void> {
  await db.deleteFrom("followed_files").where("dir", "=", dir).execute();
  await db.deleteFrom("held").where("kind", "=", "file").where("key", "=", dir).execute();
  await forgetArrivals(db, dir);
}

/** A folder was moved to another path. Its file is the same. */
export async function moveFollowed(db: Db, from: string, to: string): Promise<void> {
  await forgetFollowed(db, to);
  const keys = alsoKeysOf(to);
  for (const [at, key] of alsoKeysOf(from).entries()) await moveOne(db, key, keys[at] ?? to);
  await moveOne(db, from, to);
}

async function moveOne(db: Db, from: string, to: string): Promise<void> {
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
    base: parseStored<CapturedText>(base),
    form: parseStored<TextForm>(form),
  };
}
