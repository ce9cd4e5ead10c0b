import { projectOf } from "../../../shared/replica/document/address.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { dropHeld, type HeldItem, listHeld, listHeldOf, placeOf } from "../../home/held-store.ts";
import {
  listHeldFiles,
  type MemoryFile,
  type MemoryOwner,
  NEVER_SHOWN,
} from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { dropRegained, findHeldText, type HeldTextPlace } from "./left-held.ts";
import { keyOfName, nameOfKey } from "./memory-names.ts";
import type { MemoryNote, TakenFolder } from "./plan-arrivals.ts";
import type { MemoryText } from "./read-memory-folder.ts";

type Context = Pick<WriteContext<DaemonTables>, "db">;

/** The place of a held text of a memory's file. */
export function heldPlaceOf(open: OpenDocument, key: string, hash: string): HeldTextPlace {
  return { kind: "memory", ...placeOf(open), key, apart: hash };
}

/** Whose files have the memories of a document. */
export function ownerOf({ address: { name } }: DocumentNamed): MemoryOwner {
  return projectOf(name) ?? "user";
}

interface DocumentNamed {
  readonly address: { readonly name: string };
}

/**
 * A file's text is in the document. That one is held no more, nor is one that a file has lost if
 * all of it but its secrets is there again.
 */
export async function endHeld(
  { db }: Context,
  open: OpenDocument,
  { key, file }: { readonly key: string; readonly file: MemoryText },
): Promise<void> {
  await dropHeld(db, heldPlaceOf(open, key, file.hash));
  await dropRegained(db, await leftTexts(db, open, key), file.content);
}

/** Drops what is held of a missing file, and of all that it was before. */
export async function dropLeft({ db }: Context, open: OpenDocument, key: string): Promise<void> {
  for (const item of await leftTexts(db, open, key)) await dropHeld(db, item);
}

/**
 * Drops what is held of a file that has lost its text, where the same text is held of another file,
 * as after a renaming. False: it is held of no other.
 */
export async function dropCopy(db: Context["db"], place: HeldTextPlace): Promise<boolean> {
  return (await copiesOf(db, place)).length > 0 && (await dropHeld(db, place));
}

/** A file's text is held now. Drops what is held of the same text and in no other file. */
export async function dropCopies(db: Context["db"], place: HeldTextPlace): Promise<void> {
  for (const item of await withoutFiles(db, await copiesOf(db, place))) await dropHeld(db, item);
}

/** The same text under other keys of a document. */
async function copiesOf(db: Context["db"], place: HeldTextPlace): Promise<HeldItem[]> {
  return (await listHeld(db, place)).filter(({ kind, key, apart }) => {
    return kind === "memory" && apart === place.apart && key !== place.key;
  });
}

/** Held texts of a memory that no file has. */
export async function leftTexts(
  db: Context["db"],
  open: OpenDocument,
  key: string,
): Promise<HeldItem[]> {
  return await withoutFiles(db, await listHeldOf(db, { kind: "memory", ...placeOf(open), key }));
}

async function withoutFiles(db: Context["db"], all: readonly HeldItem[]): Promise<HeldItem[]> {
  const left: HeldItem[] = [];
  for (const item of all) {
    const { apart, document: name, shown } = item;
    if (apart === undefined || shown) continue;
    const owner = ownerOf({ address: { name } });
    if ((await listHeldFiles(db, { owner, hash: apart })).length === 0) left.push(item);
  }
  return left;
}

/** Files whose held text is gone from them, or keeps out what others wrote. */
export async function notesHeld(
  { db }: Context,
  open: OpenDocument,
  { format, files, known }: Pick<TakenFolder, "format" | "files" | "known">,
): Promise<MemoryNote[]> {
  const held = (await listHeld(db, placeOf(open))).filter(({ kind }) => kind === "memory");
  const notes = (await withoutFiles(db, held)).flatMap(({ id, key }): MemoryNote[] => {
    const name = nameOfKey(format, key);
    return name === undefined ? [] : [{ name, why: { code: "memory-held-gone", id } }];
  });
  for (const each of known.values()) {
    const { name, held: hash, asked } = each;
    const file = files.get(name);
    if (hash === undefined || asked || file?.kind !== "text" || file.hash !== hash) continue;
    const key = keyOfName(format, name);
    const item = await findHeldText(db, heldPlaceOf(open, key, hash));
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
