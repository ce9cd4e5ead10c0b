// Two sides of a text that have met: tells what a merge of lines could not do for both.
// The other files here each find one kind; docs/design/merging.md has them.

import type { Kysely } from "kysely";
import * as Y from "yjs";
import { narrowTables } from "../../sqlite/narrow-tables.ts";
import { isSamePair, twoByTwo } from "../conflicts/rival-versions.ts";
import { findSharedVersions, listOpenConflicts } from "../conflicts/shared-version.ts";
import {
  listTextConflicts,
  type NewTextConflict,
  recordTextConflict,
  type TextConflictKind,
  type TextConflictRecord,
} from "../conflicts/text-conflict-record.ts";
import { TEXT_FORM_KEY } from "../document/document.ts";
import { historyTime } from "../history/history-clock.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { OpenDocument } from "../store/open-document.ts";
import type { WriteContext } from "../store/write-context.ts";
import type { IdRanges } from "../text/id-ranges.ts";
import { hasWord } from "../text/line-diff.ts";
import type { RemovedText } from "../text/removed-text.ts";
import { textRuns } from "../text/text.ts";
import { plainLines, readForm } from "../text/text-form.ts";
import { findCarriedLines } from "./carried-lines.ts";
import { type CrossedDeletion, findCrossedDeletions } from "./crossed-deletions.ts";
import { closeDoubledGaps } from "./doubled-gaps.ts";
import {
  type CleanUp,
  type CleanUpFacts,
  type MetTexts,
  type MetVersion,
  type PutLine,
  removeDoubles,
} from "./doubles.ts";
import { type Followed, findFollowedMoves, makeMoves } from "./followed-moves.ts";
import {
  apartConflict,
  authorOf,
  bothConflict,
  carriedConflict,
  crossedConflict,
  keptConflict,
  keptVersion,
  missingConflict,
  rivalConflict,
  twiceConflict,
} from "./found-conflicts.ts";
import { findKeptEdits, isSaid, type KeptEdit, type MetSides, saidBy } from "./kept-edits.ts";
import { KnownBeside } from "./known-beside.ts";
import type { MovedLines } from "./moved-lines.ts";
import { findNeighbourEdits } from "./neighbour-edits.ts";
import { findNewSections } from "./new-sections.ts";
import { findOwnSections } from "./own-sections.ts";
import { findPassedMoves } from "./passed-moves.ts";
import { namedWriters, withPut, writerNamer } from "./put-lines.ts";
import { findRivalHeadings } from "./rival-headings.ts";
import { findSharedMoves } from "./shared-moves.ts";
import { readSideLines, type SideLine, type TextOfSides } from "./side-lines.ts";
import { isToldWhole, wholeVersions } from "./whole-versions.ts";

/** What a clean-up did, and told. */
export interface CleanedText extends Pick<CleanUp, "met" | "put"> {
  /** Ids of the conflicts that were recorded. */
  readonly conflicts: readonly string[];
}

/**
 * Removes one copy of the lines that both sides wrote. Where the sides changed one place
 * differently, what both wrote stays, and a conflict is recorded. To be called in the transaction
 * in which the two met.
 */
export async function cleanUpText<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  {
    mine,
    theirs,
    texts,
    readLines,
    ended,
    ...facts
  }: Pick<MetSides, "mine" | "theirs" | "texts"> & MetFacts,
): Promise<CleanedText> {
  const { document } = open;
  const closeGaps = () => {
    if (texts) document.change("local", () => closeDoubledGaps(document.text, texts));
  };
  if (mine.size === 0 || theirs.size === 0) {
    closeGaps();
    return { met: [], put: [], conflicts: [] };
  }
  const { met, put, conflicts } = document.change("local", () =>
    removeDoubles(document.text, mine, { theirs, cleanUpFacts: facts }),
  );
  closeGaps();
  const known = conflicts.length > 0 ? openBesides(document, ended) : [];
  const found = sameOnce(conflicts).flatMap((conflict) => {
    return twoByTwo(bothConflict(context, open, conflict), known);
  });
  const whole = inWhole(open, found, { known, readLines, ended });
  return { met, put, conflicts: await recordConflicts(context, open, whole) };
}

/** What is known of two sides that meet. */
interface MetFacts extends CleanUpFacts {
  /**
   * The lines of all three texts as they are at the time of the call; none where they are not
   * known.
   */
  readonly readLines: ReadLines;
  /**
   * Ids of the conflicts that a side ended without the other's text; what they said is told anew.
   */
  readonly ended?: ReadonlySet<string> | undefined;
}

type ReadLines = () => readonly SideLine[];

/** The conflicts that nothing has settled yet, and no side has ended unheard. */
function openBesides(
  document: OpenDocument["document"],
  ended: ReadonlySet<string> = new Set(),
): TextConflictRecord[] {
  return listOpenConflicts(document).filter(({ id }) => !ended.has(id));
}

/**
 * The conflicts that are not told yet, each version with all that its side had at the place. Lines
 * that are or were in a conflict belong to neither side alone, even if the conflict ended when the
 * two met. Of one that a side has ended unheard it is known what each side wanted of them.
 */
function inWhole(
  { document }: OpenDocument,
  found: readonly NewTextConflict[],
  {
    known,
    readLines,
    ended = new Set(),
  }: Pick<MetFacts, "readLines" | "ended"> & { readonly known: readonly TextConflictRecord[] },
): NewTextConflict[] {
  const content = document.content();
  const untold = found.filter((conflict) => !isToldWhole(conflict, known, content));
  if (untold.length === 0) return [];
  const told = listTextConflicts(document).filter(({ id, kind }) => {
    return PLACING.includes(kind) && !ended.has(id);
  });
  const texts = told.flatMap(({ versions }) => versions.map(({ text }) => text));
  return wholeVersions(untold, readLines(), new Set(texts.flatMap(plainLines)));
}

/**
 * Puts what one side wrote where it belongs after what the other did: into a section that was moved
 * (`findFollowedMoves`), beside one that was renamed (`findNewSections`), and to the other name of
 * one that was moved (`findRivalHeadings`), which is a conflict. So is what one side deleted and
 * the other perhaps moved (`findCrossedDeletions`), and what both did (`findSharedMoves`). To be
 * called before the clean-up, in its transaction. `disagreed`: the conflicts that were open before.
 * Returns where in the text lines begin that are no version of what stands beside them, and the ids
 * of the new conflicts.
 */
export async function followSections<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  { disagreed, lines: known, ...sides }: FollowedSides,
): Promise<FollowedText> {
  const { document } = open;
  const { mine, theirs, deleted } = sides;
  if (deleted.both.size + deleted.mine.size + deleted.theirs.size === 0) {
    return { apart: new Set(), conflicts: [] };
  }
  const lines = known ?? readSideLines(document.text, sides);
  const disputed = new Set(disputedIn(disagreed));
  const crossed = findCrossedDeletions(lines, disputed);
  if (mine.size === 0 || theirs.size === 0) {
    return {
      apart: new Set(),
      conflicts: await recordConflicts(context, open, untold(open, crossed)),
    };
  }
  const { sections, rivals } = apartIn(lines, disputed);
  const moves = [
    ...findFollowedMoves(lines, disputed),
    ...[...sections, ...rivals].flatMap(({ lines: own, at }) =>
      at === undefined ? [] : [{ lines: own, replaced: [], at }],
    ),
  ];
  const placed = new Set(moves.flatMap((move) => move.lines));
  const isFree = ({ lines: own }: Pick<Followed, "lines">) => !own.some((each) => placed.has(each));
  moves.push(...findOwnSections(lines, disputed).filter(isFree));
  const shared = findSharedMoves(lines, disputed).filter(({ back }) => !back || isFree(back));
  moves.push(...shared.flatMap(({ back }) => back ?? []));
  const carried = findCarriedLines(lines, moves);
  const found = [
    ...rivals.map((each) => rivalConflict(context, open, { ...each, all: lines })),
    ...carried.edits.map((edit) => keptConflict(context, open, edit)),
    ...(carried.twice ? [twiceConflict(context, open, carried.twice)] : []),
    ...[...shared.map(({ apart }) => apart), ...findPassedMoves(lines, disputed)].map((apart) =>
      apartConflict(context, open, apart),
    ),
  ];
  document.change("local", () => makeMoves(document.text, moves));
  found.push(...untold(open, crossed));
  const conflicts = await recordConflicts(context, open, found);
  const after = moves.length === 0 ? lines : readSideLines(document.text, sides);
  return { apart: apartStarts(after, disputed), conflicts };
}

/** The notices of deletions of which no conflict says all, as one may that came from others. */
function untold(open: OpenDocument, crossed: readonly CrossedDeletion[]): NewTextConflict[] {
  if (crossed.length === 0) return [];
  const said = new Set(disputedIn(listOpenConflicts(open.document)));
  const isTold = ({ text }: CrossedDeletion) =>
    plainLines(text).every((line) => said.has(line) || !hasWord(line));
  return crossed.flatMap((each) => (isTold(each) ? [] : crossedConflict(open, each)));
}

/** The lines of conflicts. */
function disputedIn(records: readonly TextConflictRecord[]): string[] {
  return records.flatMap(({ versions }) => versions.flatMap(({ text }) => plainLines(text)));
}

/**
 * Where in the visible text lines begin that are no version of what stands beside them. `disputed`:
 * the lines of open conflicts.
 */
export function apartStarts(
  lines: readonly SideLine[],
  disputed: ReadonlySet<string> = new Set(),
): ReadonlySet<number> {
  const { sections, rivals } = apartIn(lines, disputed);
  const names = rivals.flatMap(({ lines: own, rival }) => [{ lines: own }, { lines: rival }]);
  return new Set([...sections, ...names].flatMap((each) => each.lines.map(({ from }) => from)));
}

function apartIn(lines: readonly SideLine[], disputed: ReadonlySet<string>) {
  const isOpen = ({ text }: SideLine) => disputed.has(text.replace(/\n$/, ""));
  const sections = findNewSections(lines).filter((each) => !each.lines.some(isOpen));
  const placed = new Set(sections.flatMap((each) => each.lines));
  const beside = findNeighbourEdits(lines, disputed).filter((each) => {
    return !each.lines.some((line) => placed.has(line));
  });
  return { sections: [...sections, ...beside], rivals: findRivalHeadings(lines, disputed) };
}

/** What was put where it belongs, and told. */
interface FollowedText {
  readonly apart: ReadonlySet<number>;
  readonly conflicts: readonly string[];
}

/** What two sides did, the lines of all three texts if they were read, and what is in dispute. */
interface FollowedSides extends TextOfSides {
  readonly lines?: readonly SideLine[] | undefined;
  readonly disagreed: readonly TextConflictRecord[];
}

/**
 * Makes one conflict of all places that were changed in the same way, so that one choice settles
 * all of them.
 */
function sameOnce(conflicts: readonly MetTexts[]): MetTexts[] {
  const known = new Map<string, MetTexts>();
  for (const conflict of conflicts) {
    const key = JSON.stringify([conflict.mine.text, conflict.theirs.text]);
    const first = known.get(key);
    const joined = first && {
      ...first,
      mine: joinVersions(first.mine, conflict.mine),
      theirs: joinVersions(first.theirs, conflict.theirs),
    };
    known.set(key, joined ?? conflict);
  }
  return [...known.values()];
}

function joinVersions(one: MetVersion, other: MetVersion): MetVersion {
  return { text: one.text + other.text, places: [...one.places, ...other.places] };
}

/** The kinds that say where lines should stand. */
const PLACING: readonly TextConflictKind[] = ["both", "unseen", "moved", "twice"];

/**
 * Records a conflict for each place where something stands that one side wrote while the other
 * deleted what was there; see `findKeptEdits`. Not if it is in a conflict already, because what the
 * other side put there may have come earlier. Records one more for what both moved to two places.
 * To be called after the clean-up, in the same transaction. Returns the ids.
 */
export async function tellKeptEdits<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  {
    sides: met,
    put,
    moved,
    readLines,
    ended,
  }: Pick<MetFacts, "readLines" | "ended"> & {
    readonly sides: MetSides;
    readonly put: readonly PutLine[];
    readonly moved: MovedLines | undefined;
  },
): Promise<string[]> {
  const { text } = open.document;
  const sides = withPut(met, put);
  const found = findKeptEdits(text, sides, moved);
  const { edits, twice, rivals, apart, strayed, missing } = namedWriters(text, found, put);
  const count = edits.length + apart.length + strayed.length + missing.length;
  if (count === 0 && !twice && !rivals) return [];
  const known = knownOfText(open, ended);
  const all = conflictsOfKept(context, open, { edits, sides, known });
  if (twice) all.push(twiceConflict(context, open, twice));
  if (rivals) all.push(carriedConflict(context, open, rivals));
  const ofPlaces = known.filter(({ kind }) => PLACING.includes(kind));
  const disputed = saidBy(ofPlaces.flatMap(({ versions }) => versions));
  const untold = strayed.filter(({ standing }) => !isSaid(standing, disputed));
  all.push(...[...apart, ...untold].map((each) => apartConflict(context, open, each)));
  const untoldMissing = missing.filter((edit) => !isSaid(edit, disputed));
  all.push(...untoldMissing.map((edit) => missingConflict(context, open, edit)));
  const whole = inWhole(open, all, { known, readLines, ended });
  return await recordConflicts(context, open, whole);
}

function knownOfText(
  { document }: OpenDocument,
  ended?: ReadonlySet<string>,
): TextConflictRecord[] {
  return openBesides(document, ended).filter(({ kind }) => kind !== "deletion");
}

/**
 * The conflicts of edits that are not told yet, each with what the other side has there instead.
 */
function conflictsOfKept<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  { edits, sides, known }: KeptBeside,
): NewTextConflict[] {
  const beside = new KnownBeside(open, sides, known);
  return edits.flatMap((each): NewTextConflict[] => {
    const edit = beside.placed(each);
    const kept = keptVersion(context, open, [edit]);
    const rivals = beside.rivalsOf(edit);
    const pairs = rivals.map((rival) => ({ kind: "both", versions: [kept, rival] }) as const);
    if (rivals.length > 0) return pairs.filter((pair) => !known.some((is) => isSamePair(is, pair)));
    return beside.isTold(edit) ? [] : [keptConflict(context, open, edit)];
  });
}

interface KeptBeside {
  readonly edits: readonly KeptEdit[];
  readonly sides: Pick<MetSides, "mine" | "theirs">;
  readonly known: readonly TextConflictRecord[];
}

/**
 * Records a conflict for lines of theirs that were deleted here; see `findTakenBack`. To be called
 * last of all that records conflicts of such lines, in the transaction in which they came.
 */
export async function tellTakenBack<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  { edits: found, sides, put }: Omit<KeptBeside, "known"> & Pick<CleanedText, "put">,
): Promise<void> {
  if (found.length === 0) return;
  const known = knownOfText(open);
  const edits = found.map(writerNamer(open.document.text, put));
  await recordConflicts(context, open, conflictsOfKept(context, open, { edits, sides, known }));
}

/**
 * Records a conflict of what two machines put in the place of lines that both keep; see
 * `findSharedVersions`. To be called in the transaction in which they met, after all that records
 * conflicts of it. `before`: what `listOpenConflicts` returned before they met. Returns the ids.
 */
export async function tellSharedVersions<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
  before: readonly TextConflictRecord[],
): Promise<string[]> {
  if (before.length === 0) return [];
  const found = findSharedVersions(before, listOpenConflicts(open.document));
  return await recordConflicts(context, open, found);
}

/**
 * Two machines may give the text different forms at once. Only one form can stand, and the other
 * becomes a conflict. To be called in the transaction in which they met. Returns the conflict's id.
 *
 * All machines that meet them do so at once. So which form stands hangs on what the forms are, and
 * where all are the same nothing is written: else they would settle each other's settling for ever.
 */
export async function tellForms<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  open: OpenDocument,
): Promise<string[]> {
  const { document } = open;
  const entries = document.metadata.get(TEXT_FORM_KEY);
  if (entries.length < 2) return [];
  const replica: Kysely<ReplicaTables> = narrowTables(context.db);
  const versions = entries.map(({ value, id: { client } }) => {
    const form = readForm(value);
    return { form, text: JSON.stringify(form), ...authorOf(replica, open, client) };
  });
  const [stands, ...others] = versions.sort((one, other) => (one.text < other.text ? -1 : 1));
  const lost = others.find(({ text }) => text !== stands?.text);
  if (!stands || !lost) return [];
  const value = { ...stands.form };
  document.setEntry("metadata", TEXT_FORM_KEY, { value, now: context.now, settles: true });
  return await recordConflicts(context, open, [{ kind: "format", versions: [stands, lost] }]);
}

/** Records conflicts, and returns their ids. */
export async function recordConflicts<Tables extends ReplicaTables>(
  { db, now }: WriteContext<Tables>,
  { document }: OpenDocument,
  found: readonly NewTextConflict[],
): Promise<string[]> {
  if (found.length === 0) return [];
  const time = await historyTime(narrowTables(db), now);
  return found.map((conflict) => recordTextConflict(document, conflict, { now, time }));
}

/**
 * Moves the conflicts that 0.1.0 kept in a table of its own, for one machine, into their documents,
 * where every machine sees them.
 */
export async function moveKeptConflicts<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
): Promise<void> {
  const db: Kysely<ReplicaTables> = narrowTables(context.db);
  const rows = await db
    .selectFrom("text_conflicts")
    .innerJoin("documents", "documents.id", "text_conflicts.document_id")
    .select(["owner", "name", "mine", "theirs", "found_at"])
    .orderBy("text_conflicts.id")
    .execute();
  for (const { owner, name, mine, theirs, found_at: foundAt } of rows) {
    const { document } = await context.open({ owner, name });
    const versions = [
      { text: mine, machine: undefined },
      { text: theirs, machine: undefined },
    ] as const;
    recordTextConflict(document, { kind: "both", versions }, { now: foundAt });
  }
  if (rows.length > 0) await db.deleteFrom("text_conflicts").execute();
}

/** How far each client's clock had come: what a document had at some moment. */
export type IntegratedClocks = ReadonlyMap<number, number>;

/** What a document has integrated, changes that are not flushed yet included. */
export function integratedClocks({ document }: OpenDocument): IntegratedClocks {
  return Y.decodeStateVector(Y.encodeStateVector(document.ydoc));
}

/** The ids of the text's characters that are deleted. */
export function deletedText({ document }: OpenDocument): IdRanges {
  const ranges = new Map<number, [number, number][]>();
  for (const { client, clock, length, text } of textRuns(document.text)) {
    if (text !== undefined) continue;
    const known = ranges.get(client) ?? [];
    known.push([clock, clock + length]);
    ranges.set(client, known);
  }
  for (const known of ranges.values()) known.sort(([one], [other]) => one - other);
  return ranges;
}

/** The characters in an update (v1), without those that were integrated before. */
export function textIn(update: Uint8Array, integrated?: IntegratedClocks): RemovedText[] {
  const pieces: RemovedText[] = [];
  for (const struct of Y.decodeUpdate(update).structs) {
    if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentString)) continue;
    const { client, clock } = struct.id;
    const known = Math.max(0, (integrated?.get(client) ?? 0) - clock);
    const text = struct.content.str.slice(known);
    if (text !== "") pieces.push({ client, clock: clock + known, text });
  }
  return pieces;
}

/** The ids of these characters. */
export function textRangesOf(update: Uint8Array, integrated?: IntegratedClocks): IdRanges {
  const ranges = new Map<number, [number, number][]>();
  for (const { client, clock, text } of textIn(update, integrated)) {
    const known = ranges.get(client) ?? [];
    known.push([clock, clock + text.length]);
    ranges.set(client, known);
  }
  return ranges;
}
