import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readInbox } from "../../daemon/inbox/inbox.ts";
import { dismissesConflict } from "../../daemon/inbox/overlay.ts";
import { readLocalText } from "../../daemon/reading/local-text.ts";
import { base32 } from "../../shared/ids.ts";
import { parseJson } from "../../shared/json.ts";
import { withoutCovered } from "../../shared/replica/conflicts/covered-conflict.ts";
import { isOver } from "../../shared/replica/conflicts/over-conflict.ts";
import {
  type PlacedLines,
  parseTextConflict,
  type TextConflictKind,
  type TextConflictRecord,
  type TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { isGoneFromPlaces } from "../../shared/replica/conflicts/whole-place.ts";
import { type EntryId, sameId } from "../../shared/replica/document/entry-index.ts";
import { TEXT_CONFLICT_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import {
  holdsAnyLine,
  holdsEachLine,
  holdsLines,
} from "../../shared/replica/text/standing-lines.ts";
import { shownForm } from "../../shared/replica/text/text-form.ts";
import { findVersion } from "./find-version.ts";
import { type LocalDocument, listLocalDocuments } from "./local-documents.ts";
import { type LosingVersion, readContested, type UndoneDeletion } from "./losing-versions.ts";
import { type MovedMemory, MoveFinder } from "./moved-memories.ts";

type Db = Kysely<DaemonTables>;

const ID_LENGTH = 8;

/** A memory that was written on two machines at once: the value that lost, and the one that won. */
export interface MemoryConflict {
  readonly kind: "memory";
  /** The same on every machine. */
  readonly id: string;
  readonly document: LocalDocument;
  readonly losing: LosingVersion;
}

/** A memory that one machine deleted while another one wrote it. It stands. */
export interface DeletionConflict {
  readonly kind: "deletion";
  readonly id: string;
  readonly document: LocalDocument;
  readonly deletion: UndoneDeletion;
  /** Other places with a memory of this key. A memory that was moved may be in two places. */
  readonly others: readonly string[];
}

/** A memory that one machine moved, while another one deleted it or moved it elsewhere. */
export interface MoveConflict {
  readonly kind: "move";
  readonly id: string;
  /** The document that it left. */
  readonly document: LocalDocument;
  readonly moved: MovedMemory;
  /**
   * Deletions by which the machines answered the same question differently; they are settled with
   * it.
   */
  readonly covered: readonly DeletionConflict[];
}

/** A place in a project's text that two machines changed differently. */
export interface TextConflict {
  readonly kind: "text";
  readonly id: string;
  readonly document: LocalDocument;
  readonly foundAt: number;
  readonly record: TextConflictRecord;
  readonly versions: readonly PlacedVersion[];
  /** The current text. */
  readonly content: string;
  /** The last row of the document's log that it includes, if that is known. */
  readonly seenSeq: number | undefined;
  /** Conflicts that say nothing beyond this one, and are settled with it. */
  readonly covered: readonly TextConflictRecord[];
  /** Other conflicts of the text that later writes have settled. They may come back with lines. */
  readonly over: readonly TextConflictRecord[];
}

/** A version, and whether the text contains it as it was written, or only some of its lines. */
export interface PlacedVersion extends TextVersion {
  readonly inText: boolean;
  readonly inPart: boolean;
}

export type LocalConflict = MemoryConflict | DeletionConflict | MoveConflict | TextConflict;

/** The conflicts of the documents that `isMeant` accepts, of all if left out; newest first. */
export async function listConflicts(
  db: Db,
  isMeant: (document: LocalDocument) => boolean = () => true,
): Promise<LocalConflict[]> {
  const found: LocalConflict[] = [];
  const documents = await listLocalDocuments(db);
  const moves = new MoveFinder(db, documents);
  for (const document of documents.filter(isMeant)) {
    const { losing: losers, deletions } = await readContested(db, document);
    for (const losing of losers) {
      const id = memoryConflictId(document.name, losing.key, losing.value);
      found.push({ kind: "memory", id, document, losing });
    }
    for (const deletion of deletions) {
      const { key, entries, deletions: told } = deletion;
      const id = memoryConflictId(document.name, key, [...entries, ...told]);
      const others = await otherPlaces(db, documents, { document, key });
      found.push({ kind: "deletion", id, document, deletion, others });
    }
    for (const moved of await moves.list(document)) {
      const id = memoryConflictId(document.name, moved.key, moved.deletions);
      found.push({ kind: "move", id, document, moved, covered: [] });
    }
    if (document.layer === "project") found.push(...(await textConflicts(db, document)));
  }
  return withoutChoices(found).sort((one, other) => conflictTime(other) - conflictTime(one));
}

/**
 * Leaves out deletions that only show that two machines answered the question of a move
 * differently.
 */
function withoutChoices(found: readonly LocalConflict[]): LocalConflict[] {
  const deletions = found.filter((each) => each.kind === "deletion");
  const covered = new Set<LocalConflict>();
  const all = found.map((conflict) => {
    if (conflict.kind !== "move") return conflict;
    const { key, choices } = conflict.moved;
    const own = deletions.filter(({ deletion }) => {
      const isChoice = (id: EntryId) => choices.some((each) => sameId(each, id));
      return deletion.key === key && deletion.deletions.every(isChoice);
    });
    for (const each of own) covered.add(each);
    return { ...conflict, covered: own };
  });
  return all.filter((each) => !covered.has(each));
}

/**
 * When the conflict came about: the losing value was written, the memory was deleted or moved, or
 * the two versions met.
 */
export function conflictTime(conflict: LocalConflict): number {
  if (conflict.kind === "move") return Math.max(...conflict.moved.outcomes.map(({ at }) => at));
  if (conflict.kind === "deletion") return conflict.deletion.deletedAt;
  return conflict.kind === "memory" ? conflict.losing.writtenAt : conflict.foundAt;
}

/** The key of the memory that a conflict is about; undefined where it is about a text. */
export function keyOf(conflict: LocalConflict): string | undefined {
  if (conflict.kind === "text") return undefined;
  if (conflict.kind === "move") return conflict.moved.key;
  return (conflict.kind === "memory" ? conflict.losing : conflict.deletion).key;
}

/** The titles of the places beside `document`, without other projects', that have this memory. */
async function otherPlaces(
  db: Db,
  documents: readonly LocalDocument[],
  { document, key }: { readonly document: LocalDocument; readonly key: string },
): Promise<string[]> {
  const beside = documents.filter(({ id, account, layer }) => {
    const isOther = id !== document.id && account === document.account;
    return isOther && (document.layer !== "project" || layer !== "project");
  });
  const rows = await db
    .selectFrom("memories")
    .select("document_id")
    .where("key", "=", key)
    .where(
      "document_id",
      "in",
      beside.map(({ id }) => id),
    )
    .execute();
  const having = new Set(rows.map((row) => row.document_id));
  return beside.filter(({ id }) => having.has(id)).map(({ title }) => title);
}

/** An id made of what is contested (`what`), so that what is shown under an id never changes. */
function memoryConflictId(
  document: string,
  key: string,
  what: string | readonly EntryId[],
): string {
  const told = typeof what === "string" ? what : what.map(({ client, clock }) => [client, clock]);
  const digest = createHash("sha256")
    .update(JSON.stringify([document, key, told]))
    .digest();
  return base32(digest).slice(0, ID_LENGTH);
}

async function textConflicts(db: Db, document: LocalDocument): Promise<TextConflict[]> {
  const records = await readRecords(db, document);
  if (records.length === 0) return [];
  const { value: content, seenSeq } = (await readLocalText(db, document.name)) ?? { value: "" };
  const over = records.filter((record) => isOver(record, content));
  const open = records.filter((record) => !over.includes(record));
  return withoutCovered(open, content).map(({ record, covered }) => ({
    kind: "text",
    id: record.id,
    document,
    foundAt: record.foundAt,
    record,
    versions: placedVersions(record, content),
    content,
    seenSeq,
    covered,
    over,
  }));
}

/** A version without lines is in the text if the other one's lines are not. */
export function placedVersions(
  { kind, versions }: TextConflictRecord,
  content: string,
): PlacedVersion[] {
  const standing = versions.map((version, at) => {
    const other = versions[1 - at] ?? version;
    if (kind === "format") return version.text === JSON.stringify(shownForm(content));
    return version.text !== "" && isStandingIn(kind, content, { version, other });
  });
  const inPart = versions.map((version, at) => {
    const other = versions[1 - at] ?? version;
    if (version.text === "") return false;
    // Of a version of these kinds any line that is left is enough to be asked about.
    if (standing[at]) return KEPT_KINDS.includes(kind) && !holdsEachLine(content, version.text);
    return isGoneFromPlaces(content, version, other) === false;
  });
  return versions.map((version, at): PlacedVersion => {
    const [isThere, isPartly] = [standing[at] ?? false, inPart[at] ?? false];
    if (kind === "moved") {
      return { ...version, inText: isThere && version.isStanding, inPart: false };
    }
    const isWithout = !standing[1 - at] && !inPart[1 - at];
    return { ...version, inText: version.text === "" ? isWithout : isThere, inPart: isPartly };
  });
}

/** Whether a version stands, by its place if that is recognised, else by its lines. */
function isStandingIn(
  kind: TextConflictKind,
  content: string,
  { version, other }: { readonly version: TextVersion; readonly other: TextVersion },
): boolean {
  const isAnyEnough = KEPT_KINDS.includes(kind);
  const known = FOUND_BY_PLACE.has(kind) ? findVersion(content, version, other) : undefined;
  if (!known) return (isAnyEnough ? holdsAnyLine : holdsLines)(content, version.text);
  const isSaid = ({ text }: PlacedLines) => text.trim() !== "";
  if (isAnyEnough) return known.found.some(({ place }) => isSaid(place));
  return !known.missing.some(isSaid);
}

/**
 * When a conflict of these kinds was recorded, every version with lines was in the text, perhaps in
 * several places; where a version says `isStanding`, that one alone.
 */
const KEPT_KINDS: readonly TextConflictKind[] = ["unseen", "moved", "renewed", "set-aside"];

/** For these a version is what is at its place; an equal line elsewhere does not count. */
const FOUND_BY_PLACE: ReadonlySet<TextConflictKind> = new Set(["both", "unseen", "twice"]);

async function readRecords(db: Db, { id, name }: LocalDocument): Promise<TextConflictRecord[]> {
  const rows = await db
    .selectFrom("metadata")
    .select(["key", "value"])
    .where("document_id", "=", id)
    .where("key", "like", `${TEXT_CONFLICT_PREFIX}%`)
    .orderBy("key")
    .execute();
  const waiting = await readInbox(db, name);
  return rows.flatMap(({ key, value }) => {
    const record = parseTextConflict(key.slice(TEXT_CONFLICT_PREFIX.length), parseJson(value));
    return record && !dismissesConflict(waiting, record.id) ? [record] : [];
  });
}
