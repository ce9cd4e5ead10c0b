import { join } from "node:path";
import { type Entry, type EntryId, sameId } from "../../../shared/replica/document/entry-index.ts";
import { listRevisions } from "../../../shared/replica/history/revisions.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { narrowTables } from "../../../shared/sqlite/narrow-tables.ts";
import { forgetTakenOut } from "../../files/arrivals/told-lines.ts";
import { whyMemoryHeld } from "../../held/judge.ts";
import { putHeld } from "../../home/held-store.ts";
import {
  deletionsOfFile,
  findMemoryFile,
  leaveDeletedFile,
  listHeldFiles,
  type MemoryFile,
  NEVER_SHOWN,
  putMemoryFile,
} from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import { isBegunAnew } from "./begun-anew.ts";
import type { BroughtText } from "./folder-in-git.ts";
import {
  dropCopies,
  dropCopy,
  dropLeft,
  endHeld,
  heldPlaceOf,
  leftTexts,
  ownerOf,
} from "./held-memories.ts";
import { isNamedIn, isSameHint } from "./index-lines.ts";
import { leaveHeldText } from "./left-held.ts";
import { keyOfName } from "./memory-names.ts";
import { isMendedLine } from "./mended-line.ts";
import type { MemoryText } from "./read-memory-folder.ts";
import { meaningOfGitText } from "./take-git-text.ts";
import { mergeOwnIndex, takeOutLinesOf } from "./take-index-edit.ts";
import { type MemoryEdit, takeMemoryEdit, undoesUnseen } from "./take-memory-edit.ts";
import { uniteLeft } from "./unite-left.ts";
import { areShown } from "./written-since.ts";

type Context = WriteContext<DaemonTables>;

/** A file of a memory folder, and what a look found in its place. */
export interface SeenMemoryFile {
  readonly folder: string;
  readonly format: FolderFormat;
  readonly name: string;
  /** Undefined: nothing, or no text any more. */
  readonly file: MemoryText | undefined;
  /** Most files of the folder are gone: what is in it now was begun anew. */
  readonly isBegunAnew: boolean;
  /** See `MemoryEdit`. */
  readonly unseen?: MemoryEdit["unseen"];
  readonly seenBefore?: MemoryEdit["seenBefore"];
  /** What git says of it; undefined: it does not track it. */
  readonly git?: SeenByGit | undefined;
}

/** What git says of a tracked file. */
export interface SeenByGit {
  /** See `MemoryFile`. */
  readonly tracked: string;
  /** It is missing, and git has taken it away. */
  readonly isTakenAway?: boolean | undefined;
  /** It is as committed; see `FolderInGit`. */
  readonly committed?: { readonly brought: BroughtText | undefined } | undefined;
}

/**
 * Takes what a look found of one file into the document. A file that is missing deletes nothing:
 * somebody is asked. So it is where the memory is gone and the file is there.
 */
export async function takeMemoryFile(
  context: Context,
  open: OpenDocument,
  seen: SeenMemoryFile,
): Promise<void> {
  const { db } = context;
  const { folder, format, name, file, git } = seen;
  const written = await findMemoryFile(db, folder, name);
  // Its lines were new, whatever became of the file.
  if (written && name === format.index) {
    await mergeOwnIndex(context, open, { key: keyOfName(format, name), seen: written.seen });
  }
  const known = await settled(context, open, seen);
  if (known?.held !== undefined) await leaveFormer(context, open, { seen, known });
  if (!file) {
    if (known) await takeMissing(context, open, { folder, format, known, git });
    return;
  }
  const deletions = known ? [] : deletedSince(open, seen);
  if (deletions.length > 0) {
    const shown = { name, hash: file.hash, text: file.content, seen: deletions };
    await putMemoryFile(db, folder, { ...shown, asked: "deleted", tracked: git?.tracked });
    return;
  }
  if (known && known.hash === file.hash) {
    await takeUnchanged(context, open, { folder, format, known, git });
    return;
  }
  const isAnew = seen.isBegunAnew || known?.asked === "missing";
  const taken = await takeChanged(context, open, { ...seen, file, known, isAnew });
  if (!taken) return;
  await putMemoryFile(db, folder, { ...taken, tracked: git?.tracked });
  const key = keyOfName(format, name);
  if (taken.held === undefined) await endHeld(context, open, { key, file });
}

/**
 * The deletions of a memory that were made after its file was saved. Nobody knows what such a file
 * showed: its home was lost, or it was put here before anybody looked. It may be what was deleted,
 * and so may one with a later time, as of a copy; see `MemoryEdit`.
 */
function deletedSince({ document }: OpenDocument, { format, name, file }: SeenMemoryFile) {
  const key = keyOfName(format, name);
  if (!file || document.memories.get(key).length > 0) return [];
  const deletions = document.deletionsOf(key);
  const isLater = deletions.some(({ updated_at }) => updated_at >= file.savedAt);
  return isLater ? deletions.map(({ id }) => id) : [];
}

export function deletionsIn({ document }: OpenDocument, key: string): EntryId[] {
  return document.deletionsOf(key).map(({ id }) => id);
}

/** The file no longer has the text that is held of it. */
async function leaveFormer(
  { db }: Context,
  open: OpenDocument,
  { seen, known }: { readonly seen: SeenMemoryFile; readonly known: MemoryFile },
): Promise<void> {
  const { folder, format, name, file, git } = seen;
  const { held, text: base } = known;
  // On another branch it may be there.
  const isAway = file === undefined && git?.isTakenAway === true;
  if (held === undefined || held === file?.hash || isAway) return;
  const place = heldPlaceOf(open, keyOfName(format, name), held);
  const having = await listHeldFiles(db, { owner: ownerOf(open), hash: held });
  const others = having.filter((each) => each.folder !== folder || each.name !== name);
  // A project whose folder was renamed has two, with the same files.
  if (others.some((each) => each.kind === format.kind && each.name === name)) return;
  if (others.length > 0 && (await dropCopy(db, place))) return;
  await leaveHeldText(db, place, { base, saved: file?.content });
  await uniteLeft(db, await leftTexts(db, open, place.key));
}

interface KnownFile extends Pick<SeenMemoryFile, "format" | "git"> {
  readonly folder: string;
  readonly known: MemoryFile;
}

/** The file as it is known, after what a person has decided about it. */
async function settled(
  context: Context,
  open: OpenDocument,
  { folder, format, name, file }: SeenMemoryFile,
): Promise<MemoryFile | undefined> {
  const { db } = context;
  const known = await findMemoryFile(db, folder, name);
  if (!known?.settled) return known;
  const { asked, settled: by, ...rest } = known;
  // To be written again; see below.
  if (asked === undefined && file === undefined) return undefined;
  const isAsAsked = (asked === "missing") === (file === undefined);
  if (isAsAsked && asked === "missing") {
    const key = keyOfName(format, name);
    const standing = open.document.memories.get(key).map(({ id }) => id);
    // What somebody has written since stays, and so do a conflict about it and what is held here.
    if (by === "delete" && areShown(standing, known.seen)) {
      open.deleteMemory({ key, now: context.now, seen: known.seen });
      await dropLeft(context, open, key);
    }
    await context.flush(open);
    if (by === "delete") {
      await takeOutLinesOf(context, open, { folder, format, name });
      await leaveDeletedFile(db, folder, { name, deletions: deletionsIn(open, key) });
    } else {
      await putMemoryFile(db, folder, { name, ...NEVER_SHOWN, settled: by });
      // With the file its line comes back into the index, by the same command.
      const index = format.index === undefined ? undefined : join(folder, format.index);
      if (index) await forgetTakenOut(db, index, (line) => isNamedIn(line, name));
    }
    return undefined;
  }
  // A file whose memory was deleted is removed by whoever writes files.
  if (isAsAsked && by === "delete") return known;
  await putMemoryFile(db, folder, rest);
  if (!isAsAsked || !file || asked === undefined) return rest;
  const shown = await takeMemoryEdit(context, open, {
    folder,
    format,
    name,
    base: undefined,
    file,
  });
  return { ...rest, ...shown };
}

async function takeMissing(
  context: Context,
  open: OpenDocument,
  { folder, format, known, git }: KnownFile,
): Promise<void> {
  const { db } = context;
  const { document } = open;
  const entries = document.memories.get(keyOfName(format, known.name));
  const isGone = entries.length === 0;
  if (!isGone && git?.isTakenAway) {
    // On another branch it may be there. Nobody is asked about what git does.
    const left = { ...known, asked: undefined, settled: undefined, tracked: git.tracked };
    if (!isSameFile(left, known)) await putMemoryFile(db, folder, left);
  } else if (isGone || known.hash === NEVER_SHOWN.hash) {
    // Somebody elsewhere has answered what is asked here.
    if (known.asked === "missing")
      await takeOutLinesOf(context, open, { folder, format, ...known });
    const isShown = isGone && known.hash !== NEVER_SHOWN.hash;
    const deletions = isShown ? deletionsIn(open, keyOfName(format, known.name)) : [];
    await leaveDeletedFile(db, folder, { name: known.name, deletions });
  } else {
    const seen = shownBeside(entries, known.seen);
    const missing = { ...known, asked: "missing", seen, held: undefined } as const;
    if (!isSameFile(missing, known)) await putMemoryFile(db, folder, missing);
  }
}

/**
 * What somebody decides about who decides about a missing file: with what it showed all that stands
 * beside that, as a conflict. What somebody has written over it is another version, which nobody
 * here has seen.
 */
function shownBeside(entries: readonly Entry[], seen: readonly EntryId[]): readonly EntryId[] {
  const ids = entries.map(({ id }) => id);
  const stands = (id: EntryId) => ids.some((each) => sameId(each, id));
  return seen.length > 0 && seen.every(stands) ? ids : seen;
}

async function takeUnchanged(
  context: Context,
  open: OpenDocument,
  { folder, format, known, git }: KnownFile,
): Promise<void> {
  const { name, text, seen } = known;
  const key = keyOfName(format, name);
  const entries = open.document.memories.get(key);
  const [current] = entries;
  // An index that was made here for what came is no memory yet.
  const asked = current || seen.length === 0 ? undefined : ("deleted" as const);
  const isShown = current?.value === text;
  const ids = isShown ? idsOf(entries, text) : seen;
  const now: MemoryFile = {
    ...known,
    asked,
    seen: ids,
    held: undefined,
    next: undefined,
    tracked: git?.tracked,
    isGits: isShown ? undefined : known.isGits,
  };
  if (!current && known.settled) return;
  if (!isSameFile(now, known)) await putMemoryFile(context.db, folder, now);
}

/** Several machines may have written the same. Who sees the text has seen what each wrote. */
function idsOf(entries: readonly Entry[], text: string): EntryId[] {
  return entries.flatMap(({ value, id }) => (value === text ? [id] : []));
}

function isSameFile(one: MemoryFile, other: MemoryFile): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Undefined: the file is as it was held before. */
async function takeChanged(
  context: Context,
  open: OpenDocument,
  seen: ChangedFile,
): Promise<MemoryFile | undefined> {
  const { folder, format, name, file, known, unseen, seenBefore } = seen;
  const { content, hash } = file;
  const key = keyOfName(format, name);
  const arrivedAt = known?.arrivedAt;
  if (known?.next?.hash === hash) return { name, arrivedAt, ...known.next };
  const entries = open.document.memories.get(key);
  const [current] = entries;
  if (current?.value === content) {
    return { name, arrivedAt, hash, text: content, seen: idsOf(entries, content) };
  }
  if (known?.held === hash) {
    // A person has allowed it meanwhile, and what others wrote counts.
    const seen = idsOf(entries, content);
    return seen.length > 0 ? { name, arrivedAt, hash, text: content, seen } : undefined;
  }
  const { db, now: writtenAt } = context;
  const asked = { name, key, file, known, brought: seen.git?.committed?.brought };
  const ofGit = seen.git?.committed && (await meaningOfGitText(context, open, asked));
  if (ofGit?.kind === "beside") return ofGit.shown;
  const already = entries.map(({ value }) => String(value));
  const why = await whyMemoryHeld(db, open, { memory: { key, value: content }, already });
  if (why) {
    const isStale = undoesUnseen({ file, base: known, unseen });
    const over = isStale ? (seenBefore ?? []) : (known?.seen ?? []);
    const place = heldPlaceOf(open, key, hash);
    await putHeld(db, { ...place, value: content, seen: over, writtenAt, ...why });
    await dropCopies(db, place);
    return { ...(known ?? { name, ...NEVER_SHOWN }), next: undefined, held: hash };
  }
  const base = ofGit ? ofGit.base : baseOf(seen);
  const of = { folder, format, name };
  const isMet = known === undefined && !(await isAnother(context, open, { ...of, key, file }));
  const edit = { ...of, base, file, unseen, seenBefore, isMet };
  return { name, arrivedAt, ...(await takeMemoryEdit(context, open, edit)) };
}

/** Whether a file is another one than that which was here, and which went with its memory. */
async function isAnother(
  { db }: Context,
  open: OpenDocument,
  {
    folder,
    name,
    key,
    file,
  }: Pick<ChangedFile, "folder" | "name" | "file"> & { readonly key: string },
): Promise<boolean> {
  const known = await deletionsOfFile(db, folder, name);
  if (!areShown(deletionsIn(open, key), known) || known.length === 0) return false;
  const texts = await listRevisions(narrowTables(db), open.id, { kind: "memory", key });
  return isBegunAnew(
    file.content,
    texts.map(({ value }) => value),
  );
}

interface ChangedFile
  extends Pick<SeenMemoryFile, "folder" | "format" | "name" | "unseen" | "seenBefore" | "git"> {
  readonly file: MemoryText;
  readonly known: MemoryFile | undefined;
  readonly isAnew: boolean;
}

/** Who writes a file anew has not seen what it had, and deletes nothing of that. */
function baseOf({ format, name, file, known, isAnew }: ChangedFile): MemoryFile | undefined {
  const isEdit = known !== undefined && known.hash !== NEVER_SHOWN.hash && !known.isGits;
  if (!isEdit || isAnew) return undefined;
  return name === format.index && isOther(known.text, file.content) ? undefined : known;
}

/** Whether an index has nothing of what it had: somebody may have lost it, and begun another. */
function isOther(former: string, content: string): boolean {
  const lines = linesOf(former);
  const own = linesOf(content);
  const isThere = (known: string) => own.some((line) => isSameHint(known, line));
  const isMended = (known: string) => own.some((line) => isMendedLine(known, line));
  return lines.length > 0 && !lines.some(isThere) && !lines.every(isMended);
}

/** Headings are the same in every index. */
function linesOf(index: string): string[] {
  return plainLines(index).filter((line) => line.trim() !== "" && !line.startsWith("#"));
}
