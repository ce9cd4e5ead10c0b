import type { Reason } from "../../../shared/reasons.ts";
import { type EntryId, sameId } from "../../../shared/replica/document/entry-index.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { ABSENT_HASH, hashOf } from "../../disk/read-file.ts";
import { checkedOutEndings } from "../../git/git-endings.ts";
import type { MemoryFile, StandingMemory } from "../../home/memory-files.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import { isReadWhole } from "./index-lines.ts";
import { isMemoryName, nameOfKey, TakenNames } from "./memory-names.ts";
import type { MemoryRead } from "./read-memory-folder.ts";
import { isWithGitEndings } from "./shown-bytes.ts";

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
  readonly files: ReadonlyMap<string, MemoryRead>;
  readonly known: ReadonlyMap<string, MemoryFile>;
}

/**
 * The memories that differ from their files, or have none. A file is written over only as it was
 * when its text was taken into the document, where that text is kept in the history.
 */
export function planArrivals({ document }: OpenDocument, folder: TakenFolder): ArrivalPlan {
  const arrivals: MemoryArrival[] = [];
  const notes: MemoryNote[] = [];
  const { format } = folder;
  const waiting = [...document.memories.keys()]
    .flatMap((key) => {
      const name = nameOfKey(format, key);
      const [current] = document.memories.get(key);
      if (name === undefined || typeof current?.value !== "string") return [];
      return [{ name, text: current.value, seen: [current.id] }];
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const taken = new TakenNames(folder.files.keys());
  const isPurged = isPurgedFolder(folder);
  for (const { name, text, seen } of waiting) {
    const file = folder.files.get(name);
    const known = folder.known.get(name);
    const isAskedFor = known?.settled === "restore";
    const place = { format, name, text, file, known };
    if (!isWanted(place, seen) || (isPurged && !isAskedFor)) continue;
    const why = whyNot(place, taken);
    if (why) {
      notes.push({ name, why });
      continue;
    }
    taken.take(name);
    const expectedHash = file?.kind === "text" ? file.hash : ABSENT_HASH;
    const content = known && isWithGitEndings(known) ? checkedOutEndings(text) : text;
    const next = { hash: hashOf(content), text, seen };
    arrivals.push({ name, next, content, expectedHash, isAskedFor });
  }
  return { arrivals, notes };
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
  // Somebody has emptied it, and has asked for its text again.
  if (isAskedFor && file.content.trim() === "") return true;
  const isTaken = known?.hash === file.hash;
  return isTaken && known.text !== text && !(known.isGits && isAllAmong(seen, known.seen));
}

function isAllAmong(ids: readonly EntryId[], others: readonly EntryId[]): boolean {
  return ids.every((id) => others.some((other) => sameId(id, other)));
}

/** Undefined: it may be written. */
function whyNot({ format, name, text, file, known }: Place, taken: TakenNames): Reason | undefined {
  if (!isMemoryName(format, name) || text.includes("\0")) return { code: "memory-name" };
  // A file that is there beside the other one goes on to be written.
  const other = file ? undefined : taken.clashOf(name);
  if (other !== undefined) return { code: "memory-clash", other };
  if (name !== format.index || isReadWhole(text)) return undefined;
  const isLongHere = known !== undefined && !isReadWhole(known.text);
  return isLongHere ? undefined : { code: "memory-index-long" };
}
