import type { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { linesWithout, withoutLast } from "../../files/arrivals/unseen-lines.ts";
import type { MemoryFile } from "../../home/memory-files.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import { isNamedIn, mergeIndexes } from "./index-lines.ts";
import { nameOfKey } from "./memory-names.ts";

/** Topics whose lines stay in the memory of an index, and out of its file on this machine. */
export interface MissingTopics {
  readonly missing: readonly string[];
  /** The other topics of the project. */
  readonly standing: readonly string[];
}

/** What is known of a folder's files. */
interface KnownFolder {
  readonly format: FolderFormat;
  readonly known: ReadonlyMap<string, MemoryFile>;
}

/**
 * The topics that somebody is asked about, as their files are missing here, and that this index
 * does not name. Whoever removes a topic takes its line out as well: whether that is meant for all
 * machines is one question, and it is open.
 */
export function missingTopics(
  document: ReplicaDocument,
  { format, known, shown }: KnownFolder & { readonly shown: string },
): MissingTopics {
  const isMissing = (name: string) => known.get(name)?.asked === "missing";
  const topics = topicsOf(document, format);
  return {
    missing: topics.filter((name) => isMissing(name) && !isNamedIn(shown, name)),
    standing: topics.filter((name) => !isMissing(name)),
  };
}

/** The topics that stand in a project. */
export function topicsOf({ memories }: ReplicaDocument, format: FolderFormat): string[] {
  const standing = [...memories.keys()].filter((key) => memories.get(key).length > 0);
  const names = standing.flatMap((key) => nameOfKey(format, key) ?? []);
  return names.filter((name) => name !== format.index);
}

/** The lines of an index that name one of these topics, and none that nobody is asked about. */
function linesAbout(text: string, { missing, standing }: MissingTopics): string[] {
  if (missing.length === 0) return [];
  return plainLines(text).filter((line) => {
    const isNamed = (name: string) => isNamedIn(line, name);
    return missing.some(isNamed) && !standing.some(isNamed);
  });
}

/** The index as its file on this machine has it: without the lines of topics that are missing. */
export function withoutMissing(
  document: ReplicaDocument,
  { format, known }: KnownFolder,
  index: string,
): string {
  const shown = shownIndex(known, format);
  return withoutLinesAbout(index, missingTopics(document, { format, known, shown }));
}

/** The index without the lines about topics. */
export function withoutLinesAbout(index: string, topics: MissingTopics): string {
  const lines = linesAbout(index, topics);
  return lines.length === 0 ? index : withoutLast(index, lines);
}

/** A save of an index with their lines, where the memory had them; undefined: it had none. */
export function withMissing(
  { memory, saved }: { readonly memory: string; readonly saved: string },
  topics: MissingTopics,
): string | undefined {
  const lines = linesWithout(linesAbout(memory, topics), plainLines(saved));
  if (lines.length === 0) return undefined;
  return mergeIndexes({ base: withoutLast(memory, lines), mine: saved, theirs: memory });
}

/** What an index's file on this machine has, as far as is known. */
export function shownIndex(
  known: KnownFolder["known"],
  { index }: Pick<FolderFormat, "index">,
): string {
  const file = index === undefined ? undefined : known.get(index);
  return file === undefined || file.asked === "missing" ? "" : file.text;
}

/** The index comes last: what its edit means depends on which topics are missing. */
export function topicsFirst(names: ReadonlySet<string>, { index }: FolderFormat): string[] {
  const topics = [...names].filter((name) => name !== index);
  return index !== undefined && names.has(index) ? [...topics, index] : topics;
}
