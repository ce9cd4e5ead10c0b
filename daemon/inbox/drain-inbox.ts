import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { settleTextConflict } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import type { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { EntryId } from "../../shared/replica/document/entry-index.ts";
import { dismissLosers } from "../../shared/replica/document/memory-deletion.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { type Allows, allowPrivateOf, whyMemoryHeld } from "../held/judge.ts";
import { placeOf, putHeld } from "../home/held-store.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import { findBinding } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { replaceHeld } from "../overwritten/replace-held.ts";
import { applyAllowed } from "./apply-allowed.ts";
import { applyTexts } from "./apply-texts.ts";
import {
  type InboxWrite,
  type LosersDismissal,
  type MemoryWrite,
  readWholeInbox,
  type TextWrite,
} from "./inbox.ts";

type Db = Kysely<DaemonTables>;

/** What the inbox contained. */
export interface Drained {
  /** How many writes there were. */
  readonly writes: number;
  /** A secret was declared harmless. Followed files may contain it, too. */
  readonly allows: boolean;
}

/**
 * Applies the waiting writes, in order and in one transaction. Each write replaces exactly what its
 * author saw: the entries that it names, and what earlier writes of the inbox made of its key. A
 * write that must not enter its document is held; one that a person has allowed enters. A project
 * that the home does not have yet is bound to `usual`.
 */
export async function drainInbox(
  store: ReplicaStore<DaemonTables>,
  usual: AccountId = LOCAL_ACCOUNT,
): Promise<Drained> {
  return await store.write((context) => applyInbox(context, usual));
}

/**
 * The same inside of another write, which changes something that the inbox writes were made for.
 */
export async function applyInbox(
  context: WriteContext<DaemonTables>,
  usual: AccountId,
): Promise<Drained> {
  const writes = await readWholeInbox(context.db);
  const made = new Map<string, EntryId[]>();
  for (let at = 0; at < writes.length; ) {
    const write = writes[at] as InboxWrite;
    const settled = settledFrom(writes, at);
    const texts = textsFrom(writes, at + settled.length);
    if (write.kind !== "text" && texts.length === 0) {
      await applyWrite(context, write, { usual, made });
      at++;
    } else {
      const open = await openFor(context, write, usual);
      await applyTexts(context, open, { writes: texts, settled });
      at += settled.length + texts.length;
    }
  }
  if (writes.length > 0) await context.db.deleteFrom("inbox").execute();
  const isAllowed = await applyAllowed(context);
  const allows = writes.some((write) => write.kind === "memory" && isAllowing(write));
  return { writes: writes.length, allows: allows || isAllowed };
}

/** The conflicts that the command settles whose text comes behind them; none where none comes. */
function settledFrom(writes: readonly InboxWrite[], at: number): string[] {
  const { document, writtenAt } = writes[at] as InboxWrite;
  const isOfIt = (write: InboxWrite | undefined) =>
    write?.document === document && write.writtenAt === writtenAt;
  const ids: string[] = [];
  for (const write of writes.slice(at)) {
    if (!isOfIt(write) || (write.kind !== "text-conflict" && write.kind !== "text")) return [];
    if (write.kind === "text") return ids;
    ids.push(write.id);
  }
  return [];
}

/** The texts of one document from `at` on that follow each other. */
function textsFrom(writes: readonly InboxWrite[], at: number): TextWrite[] {
  const texts: TextWrite[] = [];
  for (const write of writes.slice(at)) {
    const last = texts.at(-1);
    if (write.kind !== "text") break;
    if (last && (write.document !== last.document || write.base !== last.value)) break;
    texts.push(write);
  }
  return texts;
}

async function openFor(context: WriteContext<DaemonTables>, write: InboxWrite, usual: AccountId) {
  return await context.open(await addressOf(context.db, write, usual));
}

/** Writes for a project that was bound to another remote meanwhile go along with it. */
async function addressOf(db: Db, { document, account }: InboxWrite, usual: AccountId) {
  const project = projectOf(document);
  if (project === undefined) return { owner: account ?? LOCAL_ACCOUNT, name: document };
  return { owner: (await findBinding(db, project)) ?? usual, name: document };
}

/** `made`: the entries that earlier writes made, by document and key. */
async function applyWrite(
  context: WriteContext<DaemonTables>,
  write: Exclude<InboxWrite, TextWrite>,
  { usual, made }: { readonly usual: AccountId; readonly made: Map<string, EntryId[]> },
): Promise<void> {
  const open = await openFor(context, write, usual);
  const { document } = open;
  switch (write.kind) {
    case "memory":
      await applyMemory(context, open, { write, made });
      break;
    case "losers":
      applyDismissal(open, { write, made });
      break;
    case "text-conflict":
      settleTextConflict(document, write.id, context.now);
  }
  // So each write is a version of its own in the history.
  await context.flush(open);
}

function isAllowing({ allowSecret, allowPersonal }: Allows): boolean {
  return allowSecret === true || allowPersonal === true;
}

async function applyMemory(
  { db }: WriteContext<DaemonTables>,
  open: OpenDocument,
  { write, made }: { readonly write: MemoryWrite; readonly made: Map<string, EntryId[]> },
): Promise<void> {
  const { document } = open;
  const { key, value, writtenAt } = write;
  const place = placeIn(open, write);
  const held = { kind: "memory", ...placeOf(open), key } as const;
  const seen = [...write.seen, ...(made.get(place) ?? [])];
  const current = document.memories.get(key).map((entry) => String(entry.value));
  const replace = () => replaceHeld(db, held, { base: current[0], value });
  if (value !== undefined) {
    if (isAllowing(write)) {
      await allowPrivateOf(db, { ...held, value }, { now: writtenAt, allows: write });
    }
    const memory = { key, value };
    const why = await whyMemoryHeld(db, open, { memory, already: current });
    if (why) {
      await replace();
      await putHeld(db, { ...held, value, seen, writtenAt, ...why });
      return;
    }
  }
  await replace();
  if (value === undefined) {
    open.deleteMemory({ key, now: writtenAt, seen, movedTo: write.movedTo });
  } else document.setEntry("memories", key, { value, now: writtenAt, seen });
  made.set(place, entriesMade(document, key));
}

/** What the dismissal makes of the key is kept, as later writes of the inbox have seen it. */
function applyDismissal(
  open: OpenDocument,
  { write, made }: { readonly write: LosersDismissal; readonly made: Map<string, EntryId[]> },
): void {
  const { key, seen, writtenAt: now } = write;
  const isWritten = dismissLosers(open.document, { key, now, seen });
  if (isWritten) made.set(placeIn(open, write), entriesMade(open.document, key));
}

function placeIn({ address }: OpenDocument, write: MemoryWrite | LosersDismissal): string {
  return JSON.stringify([address.owner, write.document, write.key]);
}

/** What this process has made of a memory: values, and records of deletions. */
function entriesMade(document: ReplicaDocument, key: string): EntryId[] {
  const all = [...document.memories.get(key), ...document.deletionsOf(key)];
  return all.map(({ id }) => id).filter(({ client }) => client === document.ydoc.clientID);
}
