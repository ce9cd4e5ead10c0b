import type { Kysely, Selectable } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { parseJson, parseStored } from "../../shared/json.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import type { EntryId } from "../../shared/replica/document/entry-index.ts";
import { type MovedTo, movedToOf } from "../../shared/replica/document/memory-deletion.ts";
import type { Allows } from "../held/judge.ts";
import { entryIdsText, parseEntryIds } from "../home/entry-ids.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import type { DaemonTables, InboxTable } from "../home/tables.ts";
import type { WholeText } from "../home/text-write.ts";

type Db = Kysely<DaemonTables>;

interface InboxItem {
  /** A project's id, `user/<user id>` or `global`. */
  readonly document: string;
  /**
   * The account of a `user` or `global` document; left out for the home's first account. A
   * project's account is found by its id when the write is applied.
   */
  readonly account?: AccountId | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly writtenAt: number;
}

/** Sets or deletes a memory. */
export interface MemoryWrite extends InboxItem, Allows {
  readonly kind: "memory";
  readonly key: string;
  /** Undefined deletes the key. */
  readonly value: string | undefined;
  /** The entries that its author saw, and that it replaces. */
  readonly seen: readonly EntryId[];
  /** It is deleted because it was moved. */
  readonly movedTo?: MovedTo | undefined;
}

/**
 * Dismisses what lost against the value of a memory: other values, and deletions. The value itself,
 * if it is named, is written anew.
 */
export interface LosersDismissal extends InboxItem {
  readonly kind: "losers";
  readonly key: string;
  readonly seen: readonly EntryId[];
}

/** Replaces a project's text. */
export interface TextWrite extends InboxItem, WholeText {
  readonly kind: "text";
  /** The last row of the document's log when its author read `base`, if that is known. */
  readonly seenSeq?: number | undefined;
}

/** Dismisses a conflict of a project's text, by its id. */
export interface TextConflictDismissal extends InboxItem {
  readonly kind: "text-conflict";
  readonly id: string;
}

/** A write that was made without a daemon. It is durable, and waits for the next daemon. */
export type InboxWrite = MemoryWrite | LosersDismissal | TextWrite | TextConflictDismissal;

/** Appends a write to those that wait. Durable with its transaction's commit. */
export async function appendToInbox(db: Db, write: InboxWrite): Promise<void> {
  const { document, account = LOCAL_ACCOUNT, writtenAt } = write;
  const kind = write.kind === "memory" && write.movedTo ? "move" : write.kind;
  await db
    .insertInto("inbox")
    .values({ kind, document, account, written_at: writtenAt, ...columnsOf(write) })
    .execute();
}

/** What `allow_secret` is made of. */
const [SECRETS, PERSONAL] = [1, 2];

function columnsOf(write: InboxWrite) {
  switch (write.kind) {
    case "memory":
      return {
        key: write.key,
        value: write.movedTo ? JSON.stringify(write.movedTo) : (write.value ?? null),
        seen: entryIdsText(write.seen),
        base: null,
        allow_secret: (write.allowSecret ? SECRETS : 0) + (write.allowPersonal ? PERSONAL : 0),
      };
    case "losers":
      return { key: write.key, value: null, seen: entryIdsText(write.seen), base: null };
    case "text":
      return { key: "", value: write.value, seen: seqText(write.seenSeq), base: write.base };
    case "text-conflict":
      return { key: write.id, value: null, seen: "[]", base: null };
  }
}

/** The writes that wait for a document, oldest first; `account` as in a write. */
export async function readInbox(
  db: Db,
  document: string,
  account: AccountId = LOCAL_ACCOUNT,
): Promise<InboxWrite[]> {
  const rows = await db
    .selectFrom("inbox")
    .selectAll()
    .where("document", "=", document)
    .$if(projectOf(document) === undefined, (query) => query.where("account", "=", account))
    .orderBy("id")
    .execute();
  return rows.map(toWrite);
}

/** All writes that wait, oldest first. */
export async function readWholeInbox(db: Db): Promise<InboxWrite[]> {
  const rows = await db.selectFrom("inbox").selectAll().orderBy("id").execute();
  return rows.map(toWrite);
}

function toWrite(row: Selectable<InboxTable>): InboxWrite {
  const { document, account, key, written_at: writtenAt } = row;
  const item = { document, account, writtenAt };
  switch (row.kind) {
    case "memory":
      return {
        kind: "memory",
        ...item,
        key,
        value: row.value ?? undefined,
        seen: parseEntryIds(row.seen),
        allowSecret: (row.allow_secret & SECRETS) !== 0,
        allowPersonal: (row.allow_secret & PERSONAL) !== 0,
      };
    case "move":
      return {
        kind: "memory",
        ...item,
        key,
        value: undefined,
        seen: parseEntryIds(row.seen),
        movedTo: movedToOf({ value: parseJson(row.value ?? "{}") }),
      };
    case "losers":
      return { kind: "losers", ...item, key, seen: parseEntryIds(row.seen) };
    case "text":
      return {
        kind: "text",
        ...item,
        base: row.base ?? "",
        value: row.value ?? "",
        seenSeq: parseSeq(row.seen),
      };
    case "text-conflict":
      return { kind: "text-conflict", ...item, id: key };
  }
}

/** What the author of a text saw is kept as JSON `[seq]`, or `[]`. */
function seqText(seq: number | undefined): string {
  return JSON.stringify(seq === undefined ? [] : [seq]);
}

function parseSeq(text: string): number | undefined {
  const [seq] = parseStored<number[]>(text);
  return seq;
}
