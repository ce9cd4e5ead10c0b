import type { Kysely } from "kysely";
import * as Y from "yjs";
import type { AccountId } from "../../shared/ids.ts";
import { listTextConflicts } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { ReplicaDocument, TEXT_FORM_KEY } from "../../shared/replica/document/document.ts";
import type { Entry } from "../../shared/replica/document/entry-index.ts";
import {
  MADE_OF_PREFIX,
  REMOVED_PREFIX,
  TEXT_CONFLICT_PREFIX,
} from "../../shared/replica/document/own-metadata.ts";
import { isWriterKey } from "../../shared/replica/log/machines.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { isPublicKey } from "../../shared/replica/store/rows.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { hashOf } from "../disk/read-file.ts";
import { forgetFollowed, readFollowed } from "../files/state/follow-store.ts";
import { BEFORE_DELETIONS } from "../held/apply-held.ts";
import { entryReason, metadataReason, textReason, type WhyHeld } from "../held/judge.ts";
import { findHeld, placeOf, putHeld } from "../home/held-store.ts";
import { listLinks } from "../home/links.ts";
import { forgetOtherServices } from "../home/positions.ts";
import { EMBEDDED, UNKNOWN_SERVICE } from "../home/remote.ts";
import type { DaemonTables } from "../home/tables.ts";

type Context = WriteContext<DaemonTables>;
type Db = Kysely<DaemonTables>;

/** Nothing is written under this client id. */
const NOBODY = 0;

/** What of a document must not leave. */
interface Private {
  /** Of memories and of metadata. */
  readonly entries: ReadonlyMap<Entry, WhyHeld>;
  readonly text: WhyHeld | undefined;
  /** Versions of lines of the text, by their conflicts. */
  readonly versions: ReadonlyMap<string, { readonly value: string; readonly why: WhyHeld }[]>;
}

/**
 * Holds what of a document must not enter one, as if all of it were written now: a service gets it
 * for the first time. What was private by no rule when it was written may be so by now, and what
 * the document has already was for others, or for nobody. The rest stays in the document, written
 * anew: a deletion of what is held would delete it wherever these entries came from.
 */
export async function withholdPrivate(context: Context, open: OpenDocument): Promise<void> {
  const found = await findPrivate(context, open);
  const { entries, text, versions } = found;
  if (entries.size + versions.size === 0 && !text) return;
  const former = open.document;
  const nothing = new ReplicaDocument([], NOBODY);
  const rebuilt = await context.rebuild(open, Y.encodeStateAsUpdate(nothing.ydoc));
  const { document } = rebuilt;
  if (!text) document.setContent(former.content(), context.now);
  const isLeft = (entry: Entry) => !entries.has(entry);
  for (const key of former.memories.keys()) {
    writeEntries(document, "memories", former.memories.get(key).filter(isLeft));
  }
  const isHidden = hiddenIn(entries);
  for (const key of former.metadata.keys()) {
    if (isWriterKey(key) || key === TEXT_FORM_KEY || versions.has(key) || isHidden(key)) continue;
    writeEntries(document, "metadata", former.metadata.get(key).filter(isLeft));
  }
  await context.flush(rebuilt);
  await holdAll(context, rebuilt, { former, found });
}

/**
 * An account is synced with another service from now on, which the environment names: its documents
 * have a first contact, and what must not come there is held.
 */
export async function turnToService(
  context: Context,
  account: AccountId,
  service: string,
): Promise<void> {
  const { db } = context;
  const isOther = await forgetOtherServices(db, account, service);
  if (!isOther || [EMBEDDED, UNKNOWN_SERVICE].includes(service)) return;
  const documents = await db
    .selectFrom("documents")
    .select("name")
    .where("owner", "=", account)
    .orderBy("id")
    .execute();
  for (const { name } of documents) {
    await withholdPrivate(context, await context.open({ owner: account, name }));
  }
}

async function findPrivate({ db, pause }: Context, open: OpenDocument): Promise<Private> {
  const { document, address } = open;
  const place = { document: address.name, already: [] };
  const entries = new Map<Entry, WhyHeld>();
  const versions = new Map<string, { value: string; why: WhyHeld }[]>();
  for (const key of document.memories.keys()) {
    for (const entry of document.memories.get(key)) {
      const why = asHeld(await entryReason(db, { key, value: String(entry.value) }, place));
      if (why) entries.set(entry, why);
    }
    await pause();
  }
  for (const key of document.metadata.keys()) {
    if (!isPublicKey(key)) continue;
    for (const entry of document.metadata.get(key)) {
      const why = asHeld(await metadataReason(db, { key, value: entry.value }, place));
      if (why) entries.set(entry, why);
    }
  }
  for (const { id, versions: both } of listTextConflicts(document)) {
    const key = TEXT_CONFLICT_PREFIX + id;
    // It has the lines around its versions as well.
    const value = document.metadata.get(key)[0]?.value ?? null;
    const why = asHeld(await metadataReason(db, { key: "", value }, place));
    if (!why) continue;
    versions.set(
      key,
      both.map(({ text }) => ({ value: text, why })),
    );
  }
  const text = asHeld(await textReason(db, document.content(), place));
  return { entries, text, versions };
}

function asHeld(reason: WhyHeld["reason"] | undefined): WhyHeld | undefined {
  return reason && { cause: "private", reason };
}

/** Tells which of the program's own metadata name a memory whose very name must not leave. */
function hiddenIn(held: ReadonlyMap<Entry, WhyHeld>): (metadataKey: string) => boolean {
  const hidden = new Set<string>();
  for (const [{ key }, { reason }] of held) {
    if ("inKey" in reason && reason.inKey) hidden.add(key);
  }
  const named = [REMOVED_PREFIX, MADE_OF_PREFIX];
  return (key) => named.some((each) => key.startsWith(each) && hidden.has(key.slice(each.length)));
}

/** With their times. Of equally late entries the one written last wins: the first of the list. */
function writeEntries(
  document: ReplicaDocument,
  kind: "memories" | "metadata",
  entries: readonly Entry[],
): void {
  for (const { key, value, created_at, updated_at } of [...entries].reverse()) {
    document.setEntry(kind, key, { value, now: created_at, seen: [], isBeforeDeletion: true });
    if (updated_at === created_at) continue;
    const [begun] = document[kind].get(key).filter((each) => each.created_at === created_at);
    const seen = begun ? [begun.id] : [];
    document.setEntry(kind, key, { value, now: updated_at, seen, isBeforeDeletion: true });
  }
}

async function holdAll(
  context: Context,
  open: OpenDocument,
  { former, found }: { readonly former: ReplicaDocument; readonly found: Private },
): Promise<void> {
  const { db, now } = context;
  for (const key of former.memories.keys()) {
    for (const [nth, entry] of former.memories.get(key).entries()) {
      const why = found.entries.get(entry);
      if (why) await holdEntry(db, open, { entry, why, isLatest: nth === 0 });
    }
  }
  for (const key of former.metadata.keys()) {
    for (const entry of former.metadata.get(key)) {
      const why = found.entries.get(entry);
      if (why) await holdMetadata(db, open, { entry, why });
    }
  }
  for (const { value, why } of [...found.versions.values()].flat()) {
    const place = { ...placeOf(open), kind: "text", key: hashOf(value) } as const;
    await putHeld(db, {
      ...place,
      value,
      base: "",
      seen: [],
      shown: false,
      writtenAt: now,
      ...why,
    });
  }
  if (found.text) await holdText(context, open, { value: former.content(), why: found.text });
}

/**
 * Holds a value of a memory. What is held of the key is shown as before. Whoever wrote the value
 * has not seen what was deleted there.
 */
export async function holdEntry(
  db: Db,
  open: OpenDocument,
  {
    entry: { key, value: stored, updated_at: writtenAt },
    why,
    isLatest,
  }: { readonly entry: Entry; readonly why: WhyHeld; readonly isLatest: boolean },
): Promise<void> {
  const value = String(stored);
  const place = { ...placeOf(open), kind: "memory", key } as const;
  const shown = isLatest && !(await findHeld(db, place));
  const apart = shown ? undefined : hashOf(value);
  await putHeld(db, { ...place, apart, value, seen: BEFORE_DELETIONS, shown, writtenAt, ...why });
}

/** The latest first: it is the one that is shown, unless something was held before. */
async function holdMetadata(
  db: Db,
  open: OpenDocument,
  { entry, why }: { readonly entry: Entry; readonly why: WhyHeld },
): Promise<void> {
  const { key, updated_at: writtenAt } = entry;
  const place = { ...placeOf(open), kind: "metadata", key } as const;
  const value = JSON.stringify(entry.value);
  const isTaken = (await findHeld(db, place)) !== undefined;
  const apart = isTaken ? { apart: hashOf(value), shown: false } : {};
  await putHeld(db, { ...place, ...apart, value, seen: [], writtenAt, ...why });
}

/** Of a linked folder's file it is the file's: it is judged again at the next look at the file. */
async function holdText(
  { db, now }: Context,
  open: OpenDocument,
  { value, why }: { readonly value: string; readonly why: WhyHeld },
): Promise<void> {
  const hash = hashOf(value);
  const write = { value, base: "", seen: [], writtenAt: now, ...why };
  let isFiles = false;
  let isEdited = false;
  for (const { dir, projectId } of await listLinks(db)) {
    if (projectId !== open.address.name) continue;
    const isSame = (await readFollowed(db, dir))?.hash === hash;
    const held = await findHeld(db, { ...placeOf(open), kind: "file", key: dir });
    await forgetFollowed(db, dir);
    // What is held of the file was an edit of the text that nobody at the service has seen.
    if (held) await putHeld(db, { ...held, base: "" });
    else if (isSame)
      await putHeld(db, { ...placeOf(open), ...write, kind: "file", key: dir, hash });
    isFiles ||= isSame && !held;
    isEdited ||= held !== undefined;
  }
  if (isFiles) return;
  const place = { ...placeOf(open), kind: "text", key: "" } as const;
  const other = await findHeld(db, place);
  if (other) await putHeld(db, { ...other, base: "" });
  const apart = other || isEdited ? { apart: hash, shown: false } : {};
  await putHeld(db, { ...place, ...apart, ...write });
}
