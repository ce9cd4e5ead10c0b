import { createHash } from "node:crypto";
import type { Kysely, Selectable } from "kysely";
import { type AccountId, base32, type ProjectId } from "../../shared/ids.ts";
import { parseReason, type Reason, reasonText } from "../../shared/reasons.ts";
import type { EntryId } from "../../shared/replica/document/entry-index.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import { entryIdsText, parseEntryIds } from "./entry-ids.ts";
import { notePersonalText, ownTextsOf } from "./personal-lines.ts";
import type { DaemonTables, HeldTable } from "./tables.ts";

type Db = Kysely<DaemonTables>;

const ID_LENGTH = 8;
/** As it is stored where a write is what its memory shows, and no file's text. */
const NOT_APART = "";

/** The document that a held write is of. */
export interface HeldDocument {
  /** The account of the remote that it is bound to. */
  readonly account: AccountId;
  /** A project's id, `user/<user id>` or `global`. */
  readonly document: string;
}

/** The place of a held write. Each place has at most one. */
export interface HeldPlace extends HeldDocument {
  readonly kind: HeldTable["kind"];
  /** A memory's or metadata's key; empty for a text; the folder of a followed file. */
  readonly key: string;
  /**
   * SHA-256, in hex, of a value that an assistant's file has or had, or that was written over. Each
   * has a place of its own, so that no other write of the key replaces what is in no history.
   */
  readonly apart?: string | undefined;
}

/** A write that is kept out of its document: readable on this machine, and never sent. */
export interface HeldWrite extends HeldPlace {
  /**
   * Metadata as JSON. Undefined deletes the key. Undefined for a file whose content is only in the
   * file.
   */
  readonly value: string | undefined;
  /** The entries that its author saw, and that it replaces. */
  readonly seen: readonly EntryId[];
  /** The text that its author saw, where the write is one. */
  readonly base?: string | undefined;
  readonly cause: HeldTable["cause"];
  /** Contains nothing of the value. */
  readonly reason: Reason;
  /** SHA-256 of a followed file's bytes, in hex. */
  readonly hash?: string | undefined;
  /**
   * Writes with the same number are tried together, the lowest number first; undefined: never
   * again.
   */
  readonly retryBatch?: number | undefined;
  /** False once another write is shown in its place, or its file has another text. */
  readonly shown?: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly writtenAt: number;
}

/** A held write as it is stored. */
export interface HeldItem extends HeldWrite {
  /** Grows with each newly held write. */
  readonly rowId: number;
  /** The id that people use for it. */
  readonly id: string;
  readonly shown: boolean;
  /** A person wants it in the document, unchanged. */
  readonly allowed: boolean;
}

/**
 * The id of the held write of a place: eight characters of base32 of SHA-256 over the place. The
 * account is no part of it, so that what moves to another remote keeps its id; of a key of `user`
 * or `global` two remotes may each hold a write, with one id.
 */
export function heldId({ kind, document, key, apart }: Omit<HeldPlace, "account">): string {
  const place = JSON.stringify([kind, document, key, ...(apart === undefined ? [] : [apart])]);
  return base32(createHash("sha256").update(place).digest()).slice(0, ID_LENGTH);
}

/** Holds a write, replacing what was held for its place. Durable with its transaction. */
export async function putHeld(db: Db, write: HeldWrite): Promise<void> {
  const { kind, account, document, key, apart = NOT_APART, cause } = write;
  const values = {
    value: write.value ?? null,
    base: write.base ?? null,
    seen: entryIdsText(write.seen),
    cause,
    reason: reasonText(write.reason),
    hash: write.hash ?? null,
    turn: write.retryBatch ?? null,
    shown: write.shown === false ? 0 : 1,
    allowed: 0,
    written_at: write.writtenAt,
  };
  await db
    .insertInto("held")
    .values({ kind, account, document, key, apart, ...values })
    .onConflict((conflict) =>
      conflict.columns(["account", "document", "kind", "key", "apart"]).doUpdateSet(values),
    )
    .execute();
  // The row goes with the next save; whose lines these are is known for good.
  const texts = ownTextsOf({ ...write, value: write.value ?? "" });
  for (const text of texts) await notePersonalText(db, text);
}

/**
 * A memory, its file, a project's text or metadata has a held value no more. The value gets a place
 * of its own, and is not tried again. What a person has decided about it stands.
 */
export async function hideHeld(db: Db, item: HeldItem, hash: string): Promise<void> {
  const same = item.apart === hash ? undefined : await findHeld(db, { ...item, apart: hash });
  if (same?.allowed) {
    await dropHeld(db, item);
    return;
  }
  if (same) await dropHeld(db, same);
  await db
    .updateTable("held")
    .set({ shown: 0, apart: hash, turn: null })
    .where("id", "=", item.rowId)
    .execute();
}

/**
 * All that is held of a memory, of metadata or of a project's text, in the order in which it was
 * written. Saves of files that are gone are held as the text, too.
 */
export async function listHeldOf(
  db: Db,
  { account, document, kind, key }: Omit<HeldPlace, "apart">,
): Promise<HeldItem[]> {
  const all = await listHeld(db, { account, document });
  return all.filter((item) => item.kind === kind && (kind === "text" || item.key === key));
}

/** What is held of something and shown in its place: what was written last. */
export async function findShownHeld(
  db: Db,
  place: Omit<HeldPlace, "apart">,
): Promise<HeldItem | undefined> {
  return (await listHeldOf(db, place)).findLast(({ shown }) => shown);
}

/** Drops what is held of a document. What is held of a file belongs to the file. */
export async function dropHeldOf(db: Db, document: string): Promise<void> {
  await db
    .deleteFrom("held")
    .where("document", "=", document)
    .where("kind", "!=", "file")
    .execute();
}

export async function findHeld(db: Db, place: HeldPlace): Promise<HeldItem | undefined> {
  const { account, document, kind, key, apart = NOT_APART } = place;
  const [row] = await findByPlace(db, { account, document, kind, key, apart });
  return row && toItem(row);
}

/** What is held, of one document or of all, in the order in which it was written. */
export async function listHeld(db: Db, of?: HeldDocument): Promise<HeldItem[]> {
  const rows = await db
    .selectFrom("held")
    .selectAll()
    .where((where) => where.and(of ? { account: of.account, document: of.document } : {}))
    .orderBy("written_at")
    .orderBy("id")
    .execute();
  return rows.map(toItem);
}

/** How many writes of a project are held, whatever it is bound to. */
export async function countHeld(db: Db, project: ProjectId): Promise<number> {
  const row = await db
    .selectFrom("held")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("document", "=", project)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** False: nothing was held there. */
export async function dropHeld(
  db: Db,
  { kind, account, document, key, apart = NOT_APART }: HeldPlace,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("held")
    .where("account", "=", account)
    .where("kind", "=", kind)
    .where("document", "=", document)
    .where("key", "=", key)
    .where("apart", "=", apart)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The document part of a held write's place, for an open document. */
export function placeOf({ address }: OpenDocument): HeldDocument {
  return { account: address.owner, document: address.name };
}

/** A project was bound to another account. What is held of it goes along. */
export async function giveHeldTo(db: Db, project: ProjectId, account: AccountId): Promise<void> {
  await db.updateTable("held").set({ account }).where("document", "=", project).execute();
}

/**
 * Marks a held write as wanted by a person; the daemon then writes it. False: it is no longer held,
 * or another write is held for its place, about which nobody has decided.
 */
export async function allowHeld(db: Db, item: HeldItem): Promise<boolean> {
  if (!(await isStillHeld(db, item))) return false;
  await db.updateTable("held").set({ allowed: 1 }).where("id", "=", item.rowId).execute();
  return true;
}

/**
 * Deletes it. False: it is no longer held, or another write is held for its place. That one stays.
 */
export async function dropJust(db: Db, item: HeldItem): Promise<boolean> {
  return (await isStillHeld(db, item)) && (await dropHeld(db, item));
}

/** A place keeps its row when another write is held there, so the row's content is compared. */
async function isStillHeld(db: Db, item: HeldItem): Promise<boolean> {
  const held = await findHeld(db, item);
  return held?.writtenAt === item.writtenAt && held.value === item.value;
}

const findByPlace = compiled(
  (
    db: Db,
    given: {
      readonly account: AccountId;
      readonly document: string;
      readonly kind: HeldTable["kind"];
      readonly key: string;
      readonly apart: string;
    },
  ) =>
    db
      .selectFrom("held")
      .selectAll()
      .where("account", "=", given.account)
      .where("document", "=", given.document)
      .where("kind", "=", given.kind)
      .where("key", "=", given.key)
      .where("apart", "=", given.apart),
);

function toItem(row: Selectable<HeldTable>): HeldItem {
  const { kind, account, document, key, cause } = row;
  const apart = row.apart === NOT_APART ? undefined : row.apart;
  return {
    rowId: row.id,
    id: heldId({ kind, document, key, apart }),
    kind,
    account,
    document,
    key,
    apart,
    value: row.value ?? undefined,
    base: row.base ?? undefined,
    seen: parseEntryIds(row.seen),
    cause,
    reason: parseReason(row.reason),
    hash: row.hash ?? undefined,
    retryBatch: row.turn ?? undefined,
    shown: row.shown === 1,
    allowed: row.allowed === 1,
    writtenAt: row.written_at,
  };
}
