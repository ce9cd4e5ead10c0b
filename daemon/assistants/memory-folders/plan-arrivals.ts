import type { Reason } from "../../../shared/reasons.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { ABSENT_HASH, hashOf } from "../../disk/read-file.ts";
import type { MemoryFile, StandingMemory } from "../../home/memory-files.ts";
import { isReadWhole } from "./index-lines.ts";
import { foldedName, INDEX_NAME, isMemoryName, nameOfKey } from "./memory-names.ts";
import type { MemoryRead } from "./read-memory-folder.ts";

/** A memory that is to be written into its file. */
export interface MemoryArrival {
  readonly name: string;
  readonly next: StandingMemory;
  /** Hash of the bytes that it replaces, or `ABSENT_HASH`. */
  readonly expectedHash: string;
}

/** Why a memory is not written into its file, or a file not read. */
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
  const waiting = [...document.memories.keys()]
    .flatMap((key) => {
      const name = nameOfKey(key);
      const [current] = document.memories.get(key);
      if (name === undefined || typeof current?.value !== "string") return [];
      return [{ name, text: current.value, seen: [current.id] }];
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const taken = new Map([...folder.files.keys()].map((name) => [foldedName(name), name]));
  const isPurged = isPurgedFolder(folder);
  for (const { name, text, seen } of waiting) {
    const file = folder.files.get(name);
    const known = folder.known.get(name);
    const isAskedFor = known?.settled === "restore";
    if (!isWanted({ file, known, text }) || (isPurged && !isAskedFor)) continue;
    const why = whyNot({ name, text, file, known, taken });
    if (why) {
      notes.push({ name, why });
      continue;
    }
    taken.set(foldedName(name), name);
    const expectedHash = file?.kind === "text" ? file.hash : ABSENT_HASH;
    arrivals.push({ name, next: { hash: hashOf(text), text, seen }, expectedHash });
  }
  return { arrivals, notes };
}

/** Somebody has emptied the folder. Nothing is put into it before they say what they meant. */
function isPurgedFolder({ files, known }: TakenFolder): boolean {
  return files.size === 0 && [...known.values()].some(({ asked }) => asked === "missing");
}

interface Place {
  readonly file: MemoryRead | undefined;
  readonly known: MemoryFile | undefined;
  readonly text: string;
}

/** Whether the memory is another one than the file's, and nothing else has to come first. */
function isWanted({ file, known, text }: Place): boolean {
  if (text.trim() === "" || known?.asked) return false;
  const isAskedFor = known?.settled === "restore";
  if (!file) return known === undefined || isAskedFor;
  if (file.kind === "problem") return false;
  // Somebody has emptied it, and has asked for its text again.
  if (isAskedFor && file.content.trim() === "") return true;
  const isTaken = known?.hash === file.hash;
  return isTaken && known.text !== text;
}

/** Undefined: it may be written. */
function whyNot({
  name,
  text,
  known,
  taken,
}: Place & {
  readonly name: string;
  readonly taken: ReadonlyMap<string, string>;
}): Reason | undefined {
  if (!isMemoryName(name) || text.includes("\0")) return { code: "memory-name" };
  const other = taken.get(foldedName(name));
  if (other !== undefined && other !== name) return { code: "memory-clash", other };
  if (name !== INDEX_NAME || isReadWhole(text)) return undefined;
  const isLongHere = known !== undefined && !isReadWhole(known.text);
  return isLongHere ? undefined : { code: "memory-index-long" };
}
