import type { Reason } from "../../../shared/reasons.ts";
import type { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { type EntryId, sameId } from "../../../shared/replica/document/entry-index.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { ABSENT_HASH, hashOf } from "../../disk/read-file.ts";
import { checkedOutEndings } from "../../git/git-endings.ts";
import { isNeverFilled, type MemoryFile, type StandingMemory } from "../../home/memory-files.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import { isReadWhole, withLinesFor } from "./index-lines.ts";
import { FILES_MAX } from "./list-memory-files.ts";
import { isMemoryName, keyOfName, nameOfKey, TakenNames } from "./memory-names.ts";
import { withoutMissing } from "./missing-topics.ts";
import type { MemoryRead } from "./read-memory-folder.ts";
import { isWithGitEndings } from "./shown-bytes.ts";

const MEMORY_FOLDER_FULL: Reason = { code: "memory-folder-full" };

/** A memory that is to be written into its file. */
export interface MemoryArrival {
  readonly name: string;
  readonly next: StandingMemory;
  /** What is written: the text, with the endings that git gives to this file. */
  readonly content: string;
  /** Hash of the bytes that it replaces, or `ABSENT_HASH`. */
  readonly expectedHash: string;
  /** Somebody has asked for just this file. */
  readonly isAskedFor: boolean;
}

/** Why a memory is not written into its file, or a file not read, here or on other systems. */
export interface MemoryNote {
  readonly name: string;
  readonly why: Reason;
}

/** What there is to do in a folder. */
export interface ArrivalPlan {
  readonly arrivals: readonly MemoryArrival[];
  readonly notes: readonly MemoryNote[];
}

/** A folder as the last look found it, after what it found was taken. */
export interface TakenFolder {
  readonly format: FolderFormat;
  /** Whether a file of this name may be written here at all. */
  readonly isOpen: (name: string) => boolean;
  readonly files: ReadonlyMap<string, MemoryRead>;
  readonly known: ReadonlyMap<string, MemoryFile>;
}

/**
 * The memories that differ from their files, or have none. A file is written over only as it was
 * when its text was taken into the document, where that text is kept in the history. An index has a
 * line for each file that came from elsewhere, in its file alone until its author has had the time
 * to name it himself; see `addIndexLines`. It has none for a topic that somebody has removed here
 * with its line, and is asked about.
 */
export function planArrivals({ document }: OpenDocument, folder: TakenFolder): ArrivalPlan {
  const { format, isOpen } = folder;
  const { index } = format;
  const plan = new PlanInMaking(folder);
  const waiting = memoriesIn(document, format);
  const ofIndex = waiting.find(({ name }) => name === index);
  for (const each of waiting) if (each !== ofIndex && isOpen(each.name)) plan.add(each);
  if (index === undefined || !isOpen(index)) return plan;
  const ofMemory = ofIndex && withoutMissing(document, folder, ofIndex.text);
  const text = withLinesFor(ofMemory, unnamedYet(folder, plan.arrivals));
  if (text !== undefined) plan.add({ name: index, text, seen: ofIndex?.seen ?? [] });
  return plan;
}

/** A memory that may have to be written into its file. */
interface Waiting {
  readonly name: string;
  readonly text: string;
  readonly seen: readonly EntryId[];
}

/** The memories that have a name in the folder, by their names. */
function memoriesIn(document: ReplicaDocument, format: FolderFormat): Waiting[] {
  return [...document.memories.keys()]
    .flatMap((key) => {
      const name = nameOfKey(format, key);
      const [current] = document.memories.get(key);
      if (name === undefined || typeof current?.value !== "string") return [];
      return [{ name, text: current.value, seen: [current.id] }];
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** What is planned so far; each memory that comes takes its name, and its room in the folder. */
class PlanInMaking implements ArrivalPlan {
  readonly arrivals: MemoryArrival[] = [];
  readonly notes: MemoryNote[] = [];
  readonly #folder: TakenFolder;
  readonly #taken: TakenNames;
  readonly #isPurged: boolean;
  /** For how many files more. */
  #room: number;

  constructor(folder: TakenFolder) {
    const { files, format } = folder;
    this.#folder = folder;
    this.#taken = new TakenNames(files.keys());
    this.#isPurged = isPurgedFolder(folder);
    // A place is kept for the index, without which an assistant finds none of them.
    const isIndexMissing = format.index !== undefined && !files.has(format.index);
    this.#room = FILES_MAX - files.size - (isIndexMissing ? 1 : 0);
  }

  add({ name, text, seen }: Waiting): void {
    const { format, files, known: knownFiles } = this.#folder;
    const file = files.get(name);
    const known = knownFiles.get(name);
    const isAskedFor = known?.settled === "restore";
    const place = { format, name, text, file, known };
    if (!isWanted(place, seen) || (this.#isPurged && !isAskedFor)) return;
    const isNew = file === undefined && name !== format.index;
    const isFull = isNew && this.#room <= 0;
    const why = whyNot(place, this.#taken) ?? (isFull ? MEMORY_FOLDER_FULL : undefined);
    if (why) {
      this.notes.push({ name, why });
      return;
    }
    this.#taken.take(name);
    if (isNew) this.#room -= 1;
    const expectedHash = file?.kind === "text" ? file.hash : ABSENT_HASH;
    const content = known && isWithGitEndings(known) ? checkedOutEndings(text) : text;
    const next = { hash: hashOf(content), text, seen };
    this.arrivals.push({ name, next, content, expectedHash, isAskedFor });
  }
}

/** Whether a file came from elsewhere and needs a line; one that is asked about may be gone. */
export function awaitsLine({ arrivedAt, asked }: MemoryFile): boolean {
  return arrivedAt !== undefined && asked === undefined;
}

/** The files that came from elsewhere and may still be named in the index by their author. */
function unnamedYet(
  { known, isOpen }: TakenFolder,
  arrivals: readonly MemoryArrival[],
): { readonly name: string; readonly text: string }[] {
  const come = [...known.values()].filter((file) => awaitsLine(file) && isOpen(file.name));
  const coming = arrivals.filter(
    ({ name, isAskedFor }) => isAskedFor || isNeverFilled(known.get(name)),
  );
  const all = [...come, ...coming.map(({ name, next }) => ({ name, text: next.text }))];
  return all.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Somebody has emptied the folder. Nothing is put into it before they say what they meant. */
function isPurgedFolder({ files, known }: TakenFolder): boolean {
  return files.size === 0 && [...known.values()].some(({ asked }) => asked === "missing");
}

interface Place {
  readonly format: FolderFormat;
  readonly name: string;
  readonly file: MemoryRead | undefined;
  readonly known: MemoryFile | undefined;
  readonly text: string;
}

/** Whether the memory is another one than the file's, and nothing else has to come first. */
function isWanted({ file, known, text }: Place, seen: readonly EntryId[]): boolean {
  if (text.trim() === "" || known?.asked) return false;
  const isAskedFor = known?.settled === "restore";
  if (!file) return known === undefined || isAskedFor;
  if (file.kind === "problem") return false;
  // Somebody has emptied it, and has asked for its text again, or it was empty from the first.
  if (file.content.trim() === "" && known && (isAskedFor || isNeverFilled(known))) return true;
  const isTaken = known?.hash === file.hash;
  return isTaken && known.text !== text && !(known.isGits && isAllAmong(seen, known.seen));
}

function isAllAmong(ids: readonly EntryId[], others: readonly EntryId[]): boolean {
  return ids.every((id) => others.some((other) => sameId(id, other)));
}

/** Undefined: it may be written. */
function whyNot({ format, name, text, file, known }: Place, taken: TakenNames): Reason | undefined {
  if (!isMemoryName(format, name) || text.includes("\0")) {
    return file ? { code: "memory-name" } : { code: "memory-key", key: keyOfName(format, name) };
  }
  // A file that is there beside the other one goes on to be written.
  const other = file ? undefined : taken.clashOf(name);
  if (other !== undefined) return { code: "memory-clash", other };
  if (name !== format.index || isReadWhole(text)) return undefined;
  const isLongHere = known !== undefined && !isReadWhole(known.text);
  return isLongHere ? undefined : { code: "memory-index-long" };
}
