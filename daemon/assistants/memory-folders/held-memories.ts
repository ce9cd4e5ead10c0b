import { projectOf } from "../../../shared/replica/document/address.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { hashOf } from "../../disk/read-file.ts";
import { UNSEEN_MS } from "../../files/arrivals.ts";
import { linesWithout } from "../../files/unseen-lines.ts";
import { linesOfSecrets } from "../../held/judge.ts";
import {
  dropHeld,
  type HeldItem,
  type HeldPlace,
  listHeld,
  listHeldOf,
  placeOf,
  putHeld,
} from "../../home/held-store.ts";
import { hasHeldFile, type MemoryFile, NEVER_SHOWN } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { isMendOf } from "./index-lines.ts";
import { keyOfName, nameOfKey } from "./memory-names.ts";
import type { MemoryNote, TakenFolder } from "./plan-arrivals.ts";
import type { MemoryText } from "./read-memory-folder.ts";

type Context = Pick<WriteContext<DaemonTables>, "db">;

/** The place of a held text of a memory's file. */
export function heldPlaceOf(open: OpenDocument, key: string, hash: string): HeldPlace {
  return { kind: "memory", ...placeOf(open), key, apart: hash };
}

/** What is held of a file with this hash. Former versions gave it no place of its own. */
async function findHeldText(
  { db }: Context,
  open: OpenDocument,
  { key, held }: { readonly key: string; readonly held: string },
): Promise<HeldItem | undefined> {
  const all = await listHeldOf(db, { ...placeOf(open), key });
  const isOf = ({ apart, value }: HeldItem) => (apart ?? hashOf(value ?? "")) === held;
  return all.find(isOf);
}

/** A file that had a held text, and has another one or none. */
interface LeftText {
  readonly key: string;
  /** Its hash. */
  readonly held: string;
  /** What the file showed before. */
  readonly base: string;
  /** What it has now. */
  readonly file: MemoryText | undefined;
  readonly isIndex: boolean;
}

/**
 * What is held of a file is in no history. So where the file has it no more, it stays, and somebody
 * is told, unless the file's text says that its author has taken the secret out of it.
 */
export async function leaveHeld(
  context: Context,
  open: OpenDocument,
  { key, held, ...left }: LeftText,
): Promise<void> {
  const { db } = context;
  const item = await findHeldText(context, open, { key, held });
  if (!item) return;
  if (!(await isMended(db, item, left))) {
    await putHeld(db, { ...item, apart: held, shown: false });
    if (item.apart !== undefined) return;
  }
  await dropHeld(db, item);
}

/**
 * Whether a save over a held text has all other lines that this one brought. Where it has but some
 * of them its author has read it, and took out the others: an index, which several sessions write,
 * as far as it had them for a minute.
 */
async function isMended(
  db: Context["db"],
  held: HeldItem,
  { base, file, isIndex }: Omit<LeftText, "key" | "held">,
): Promise<boolean> {
  if (!file) return false;
  const brought = linesWithout(await linesBesideSecrets(db, held), plainLines(base));
  const saved = plainLines(file.content);
  const fresh = linesWithout(saved, plainLines(base));
  const lacking = linesWithout(brought, saved).filter((line) => {
    return !fresh.some((each) => isMendOf(line, each));
  });
  const isSeen = !isIndex || file.savedAt - held.writtenAt >= UNSEEN_MS;
  return lacking.length === 0 || (isSeen && lacking.length < brought.length);
}

async function linesBesideSecrets(
  db: Context["db"],
  { key, value = "" }: HeldItem,
): Promise<string[]> {
  const secret = await linesOfSecrets(db, { key, value });
  return plainLines(value).filter((line, at) => line.trim() !== "" && !secret.has(at + 1));
}

/**
 * A file's text is in the document. That one is held no more, nor is one that a file has lost if
 * all lines of it but those with secrets are there again.
 */
export async function endHeld(
  context: Context,
  open: OpenDocument,
  { key, file }: { readonly key: string; readonly file: MemoryText },
): Promise<void> {
  const { db } = context;
  await dropHeld(db, heldPlaceOf(open, key, file.hash));
  for (const item of await leftTexts(context, open, key)) {
    const lines = await linesBesideSecrets(db, item);
    const isThere = linesWithout(lines, plainLines(file.content)).length === 0;
    if (lines.length > 0 && isThere) await dropHeld(db, item);
  }
}

/** Drops what is held of a missing file, and of all that it was before. */
export async function dropLeft(context: Context, open: OpenDocument, key: string): Promise<void> {
  for (const item of await leftTexts(context, open, key)) await dropHeld(context.db, item);
}

/** Held texts of a memory that no file has. */
async function leftTexts(context: Context, open: OpenDocument, key: string): Promise<HeldItem[]> {
  const all = await listHeldOf(context.db, { ...placeOf(open), key });
  return await withoutFiles(context, all);
}

async function withoutFiles({ db }: Context, all: readonly HeldItem[]): Promise<HeldItem[]> {
  const left: HeldItem[] = [];
  for (const item of all) {
    const { apart, document, shown } = item;
    if (apart === undefined || shown) continue;
    const owner = projectOf(document) ?? "user";
    if (!(await hasHeldFile(db, { owner, hash: apart }))) left.push(item);
  }
  return left;
}

/** Files whose held text is gone from them, or keeps out what others wrote. */
export async function notesHeld(
  context: Context,
  open: OpenDocument,
  { format, files, known }: Pick<TakenFolder, "format" | "files" | "known">,
): Promise<MemoryNote[]> {
  const held = (await listHeld(context.db, placeOf(open))).filter(({ kind }) => kind === "memory");
  const notes = (await withoutFiles(context, held)).flatMap(({ id, key }): MemoryNote[] => {
    const name = nameOfKey(format, key);
    return name === undefined ? [] : [{ name, why: { code: "memory-held-gone", id } }];
  });
  for (const each of known.values()) {
    const { name, held: hash, asked } = each;
    const file = files.get(name);
    if (hash === undefined || asked || file?.kind !== "text" || file.hash !== hash) continue;
    const key = keyOfName(format, name);
    const item = await findHeldText(context, open, { key, held: hash });
    if (item && isWrittenSince(open, key, each)) {
      notes.push({ name, why: { code: "memory-held-others", id: item.id } });
    }
  }
  return notes;
}

function isWrittenSince({ document }: OpenDocument, key: string, { hash, text }: MemoryFile) {
  const [current] = document.memories.get(key);
  return hash === NEVER_SHOWN.hash ? current !== undefined : current?.value !== text;
}
