import { isObject } from "../../../shared/json.ts";
import type { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import type { Entry, EntryId } from "../../../shared/replica/document/entry-index.ts";
import { MADE_OF_PREFIX } from "../../../shared/replica/document/own-metadata.ts";
import { listRevisions } from "../../../shared/replica/history/revisions.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { hashOf } from "../../disk/read-file.ts";
import type { StandingMemory } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";

type Db = WriteContext<DaemonTables>["db"];

/** A version that is common to two is found so many versions back. */
const ANCESTORS_MAX = 16;
const HASH_CHARS = 16;
/** More of lines that met is not noted: metadata has a limit. */
const MET_MAX = 80;

/**
 * What a version of an index was made of, for merges: entries do not say what they replaced. It is
 * metadata of the project, a losing version's beside the winner's, as the versions are.
 */
interface MadeOf {
  /** The entry that it is about. */
  readonly of: string;
  /** The versions that it was made of, the nearest first; see `ancestor`. */
  readonly from: readonly string[];
  /** It is an older version that stands beside the others, and goes into no merge. */
  readonly isAside: boolean;
  /**
   * Lines that were written in the place of one line, by their hashes: who deletes a memory leaves
   * no word of it here.
   */
  readonly met: readonly MetLines[];
}

/** Two lines that two sides wrote in the place of one, and when they met. */
export interface MetLines {
  readonly lines: readonly [string, string];
  readonly at: number;
}

/** A version that is in the document, and what it was made of. */
export interface MadeVersion {
  readonly key: string;
  readonly id: EntryId;
  readonly from: readonly string[];
  readonly isAside?: boolean | undefined;
  readonly met?: readonly MetLines[] | undefined;
}

/** The versions of an index that are to be one, the one that counts first. */
export function standingIndexes(document: ReplicaDocument, key: string): readonly Entry[] {
  const aside = new Set(
    recordsOf(document, key).flatMap(({ of, isAside }) => (isAside ? [of] : [])),
  );
  return document.memories.get(key).filter(({ id }) => !aside.has(nameOf(id)));
}

/** A version and all that it was made of, the nearest first, as far as it is known. */
export function lineageOf(document: ReplicaDocument, { key, id, value }: Entry): string[] {
  return [ancestor(id, String(value)), ...madeOf(document, key, id)];
}

/** The same of what a file shows. Others may have replaced its entries. */
export function lineageShown(
  document: ReplicaDocument,
  key: string,
  { seen, text }: StandingMemory,
): string[] {
  const lines = seen.map((id) => [ancestor(id, text), ...madeOf(document, key, id)]);
  return lines.reduce(inTurn, []);
}

/** Lines of a text that two sides wrote in the place of one, by the versions that have them. */
export function metIn(
  document: ReplicaDocument,
  {
    key,
    text,
    ids,
  }: { readonly key: string; readonly text: string; readonly ids: readonly EntryId[] },
): MetLines[] {
  const stands = new Map(plainLines(text).map((line) => [shortHash(line), line]));
  const names = new Set(ids.map(nameOf));
  const all = recordsOf(document, key).flatMap(({ of, met }) => (names.has(of) ? met : []));
  const standing = all.flatMap(({ lines: [one, other], at }): MetLines[] => {
    const [line, its] = [stands.get(one), stands.get(other)];
    return line === undefined || its === undefined ? [] : [{ lines: [line, its], at }];
  });
  return [...new Map(standing.map((each) => [JSON.stringify(each.lines), each])).values()];
}

/** Both, the nearest first. */
export function inTurn(one: readonly string[], other: readonly string[]): string[] {
  const length = Math.max(one.length, other.length);
  const all = Array.from({ length }, (_, at) => [one[at], other[at]]).flat();
  return [...new Set(all.flatMap((each) => each ?? []))];
}

/** Notes what a version was made of, and forgets that of versions that are gone. */
export function noteMadeOf(
  document: ReplicaDocument,
  { key, id, from, isAside = false, met = [] }: MadeVersion,
  now: number,
): void {
  const recordKey = MADE_OF_PREFIX + key;
  const stands = new Set(document.memories.get(key).map((entry) => nameOf(entry.id)));
  const records = document.metadata.get(recordKey);
  const gone = records.filter(({ value }) => !stands.has(parse(value)?.of ?? ""));
  const told = met
    .slice(0, MET_MAX)
    .map(({ lines: [line, other], at }) => [shortHash(line), shortHash(other), at]);
  const value = {
    of: nameOf(id),
    from: from.slice(0, ANCESTORS_MAX),
    ...(isAside && { is_aside: true }),
    ...(told.length > 0 && { met: told }),
  };
  const seen = gone.map((entry) => entry.id);
  document.setEntry("metadata", recordKey, { value, now, seen });
}

/**
 * The nearest text that two versions were made of. Undefined where it is not known: taking another
 * one for it, what one side never saw would be taken for deleted.
 */
export async function findCommon(
  db: Db,
  { id: documentId, document }: OpenDocument,
  { key, one, other }: { readonly key: string; readonly one: string[]; readonly other: string[] },
): Promise<string | undefined> {
  const ranks = new Map(other.map((each, rank) => [each, rank]));
  const common = one.flatMap((each, rank) => {
    const far = ranks.get(each);
    return far === undefined ? [] : [{ each, far: rank + far }];
  });
  common.sort((left, right) => left.far - right.far || (left.each < right.each ? -1 : 1));
  if (common.length === 0) return undefined;
  // Who had seen a version that stands beside would have replaced it.
  if (common.some(({ each }) => each === one[0] || each === other[0])) return undefined;
  const former = await listRevisions(db, documentId, { kind: "memory", key });
  const standing = document.memories.get(key).map(({ value }) => String(value));
  const texts = new Map([...former.map(({ value }) => value), ...standing].map(byHash));
  const [nearest] = common.flatMap(({ each }) => texts.get(each.split(" ")[1] ?? "") ?? []);
  return nearest;
}

function byHash(text: string): readonly [string, string] {
  return [shortHash(text), text];
}

/** A version by its entry and its text, which the history has without the entry. */
function ancestor(id: EntryId, text: string): string {
  return `${nameOf(id)} ${shortHash(text)}`;
}

function shortHash(text: string): string {
  return hashOf(text).slice(0, HASH_CHARS);
}

function nameOf({ client, clock }: EntryId): string {
  return `${client}.${clock}`;
}

function madeOf(document: ReplicaDocument, key: string, id: EntryId): readonly string[] {
  return recordsOf(document, key).find(({ of }) => of === nameOf(id))?.from ?? [];
}

function recordsOf(document: ReplicaDocument, key: string): MadeOf[] {
  return document.metadata.get(MADE_OF_PREFIX + key).flatMap(({ value }) => parse(value) ?? []);
}

function parseMet(value: unknown): MetLines[] {
  const [one, other, at]: readonly unknown[] = Array.isArray(value) ? value : [];
  const isMet = typeof one === "string" && typeof other === "string" && typeof at === "number";
  return isMet ? [{ lines: [one, other], at }] : [];
}

/** Any program may have written it. */
function parse(value: unknown): MadeOf | undefined {
  if (!isObject(value) || typeof value.of !== "string" || !Array.isArray(value.from)) {
    return undefined;
  }
  const from = value.from.filter((each) => typeof each === "string");
  const met = Array.isArray(value.met) ? value.met.flatMap(parseMet) : [];
  return { of: value.of, from, isAside: value.is_aside === true, met };
}
