import type { Kysely } from "kysely";
import type {
  NewTextConflict,
  TextConflictRecord,
} from "../../../shared/replica/conflicts/text-conflict-record.ts";
import { listRevisions } from "../../../shared/replica/history/revisions.ts";
import type { ReplicaTables } from "../../../shared/replica/log/tables.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { commonLines, diffLines, hasWord } from "../../../shared/replica/text/line-diff.ts";
import type { RemovedText } from "../../../shared/replica/text/removed-text.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import { plainLines, splitForm, withoutMark } from "../../../shared/replica/text/text-form.ts";
import { narrowTables } from "../../../shared/sqlite/narrow-tables.ts";
import { isKnownCommit } from "../../git/known-commits.ts";
import { removedSince } from "../../home/outgoing.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { Arrival } from "../arrivals/arrivals.ts";
import { authors } from "../arrivals/bringers.ts";
import { type FileState, fileText } from "../lines/file-state.ts";
import { indicesFrom, linesThatStay } from "../lines/line-runs.ts";
import { saysOthers } from "../lines/others-lines.ts";
import { joinedText, placedRuns } from "../lines/placed-runs.ts";
import { SpanSet } from "../lines/span-set.ts";
import { type CapturedLine, contentLines, joinLines, linesOf } from "../lines/text-lines.ts";
import { type Aside, findAside, type OthersChanges } from "../saves/aside-base.ts";
import { cameBack, carriedBack, differences } from "../saves/come-back.ts";
import { meetFile } from "../saves/meet-file.ts";
import { ownSpans } from "../saves/own-spans.ts";
import { record, type TakenSave, takeEdit, unconflicted } from "../saves/take-edit.ts";
import { type FileContent, knownBase, takeSave } from "../state/file-edit.ts";
import type { Sight } from "../state/follow-facts.ts";
import { pulledBase } from "./pulled-base.ts";
import { findSettled, type SettledInGit } from "./settled-in-git.ts";

type Context = WriteContext<DaemonTables>;

const NOTHING: ReadonlySet<string> = new Set();

/** The text that a save of a tracked file is an edit of. */
export interface EditBase {
  readonly base: FileState;
  /** Conflicts about removed lines that such a save brings back. */
  readonly undone: readonly NewTextConflict[];
  /** What the save settles of what git had set aside. */
  readonly settled: SettledInGit | undefined;
}

/** The base of an edit in which git may have had a part. */
export async function baseOfEdit(
  { db }: Context,
  open: OpenDocument,
  {
    sight,
    known,
    unseen,
    setAside,
  }: {
    readonly sight: Sight;
    readonly known: FileState;
    readonly unseen: readonly Arrival[];
    readonly setAside: readonly TextConflictRecord[];
  },
): Promise<EditBase> {
  const { document } = open;
  const { file, past } = sight;
  const aside = await asideOf(db, open, { sight, known });
  const last = aside?.base ?? known.base;
  const settled =
    sight.shown &&
    findSettled(open, { base: knownBase(open, last), shown: sight.shown, aside: setAside });
  const own = settled?.base ?? last;
  const linesIn = (content: string) => splitForm(content, known.form).lines;
  // Commits that other machines have read were made from those machines' texts, too.
  const told = (past?.told ?? []).map((text) => document.alignText(linesIn(String(text))));
  if (file.kind !== "text") return { base: { ...known, base: own }, undone: [], settled };
  const { before, committed } = sight;
  if (told.length === 0) {
    const undone =
      before === undefined || committed === undefined
        ? []
        : carriedBack(open, file, { known: fileText(known), before, committed });
    return { base: { ...known, base: own }, undone, settled };
  }
  const removed = without(await linesRemoved(db, open.id), returnedBy(aside, file));
  const left = { own, parted: (past?.parted ?? []).map((text) => linesIn(String(text))) };
  const from = told.map((version) => withoutLeftOut(withoutLines(version, removed), left));
  const pulled = pulledBase({ from: [...from, own], lines: linesIn(file.content) });
  // What git has put back by itself nobody has saved.
  const base = sight.madeBy === "others" ? pulled : withoutTaken(pulled, unseen);
  return {
    base: { ...known, base },
    undone: undoneRemovals(open, file, { versions: told, removed }),
    settled,
  };
}

/**
 * Lines that this machine removed, that others' commits still have, and that are in the file again.
 * Either git undid the removal or an editor did. Nobody can tell whether that is intended, and
 * whether it also applies to somebody who deleted them since. The lines return, and a conflict is
 * recorded.
 */
function undoneRemovals(
  open: OpenDocument,
  file: FileContent,
  {
    versions,
    removed,
  }: { readonly versions: readonly CapturedText[]; readonly removed: ReadonlySet<string> },
): NewTextConflict[] {
  if (removed.size === 0) return [];
  const committed = new Set(versions.flatMap(({ text }) => contentLines(text)));
  const { come } = differences(open, file);
  return cameBack(
    open,
    file,
    come((line) => removed.has(withoutBreak(line)) && committed.has(line)),
  );
}

/** The texts of lines that this machine removed, as far back as its log goes. */
async function linesRemoved(db: Context["db"], documentId: number): Promise<Set<string>> {
  return linesOfPieces(await removedSince(db, documentId, 0));
}

function linesOfPieces(pieces: readonly RemovedText[]): Set<string> {
  return new Set(pieces.flatMap(({ text }) => text.split("\n").map(withoutMark)).filter(hasWord));
}

/** A version without those of these lines that the document does not have. */
function withoutLines(version: CapturedText, said: ReadonlySet<string>): CapturedText {
  const lines = linesOf(version);
  const isUnknown = (at: number) =>
    lines[at]?.spans.every(({ client }) => client === null) === true;
  const out = new Set<number>();
  for (const [at, { text }] of lines.entries()) {
    if (!isUnknown(at) || !said.has(withoutBreak(text))) continue;
    out.add(at);
    // Blank lines come and go with the lines that they separate.
    for (const step of [-1, 1]) {
      for (let i = at + step; isUnknown(i) && lines[i]?.text.trim() === ""; i += step) out.add(i);
    }
  }
  return joinLines(lines.filter((_, at) => !out.has(at)));
}

/**
 * A version without the lines of the document that the file as it was read had left out of what its
 * history and the version's part from. What becomes of these was decided when that was read: git
 * only leaves them out again, and nobody has deleted what has stayed for a conflict or a choice.
 */
function withoutLeftOut(
  version: CapturedText,
  { own, parted }: { readonly own: CapturedText; readonly parted: readonly string[] },
): CapturedText {
  const had = new Set(parted.flatMap(plainLines));
  const read = new SpanSet(own.spans);
  const isLeftOut = ({ spans, text }: CapturedLine) =>
    had.has(withoutBreak(text)) &&
    spans.some(({ client }) => client !== null) &&
    !read.hasAny(spans);
  return joinLines(linesOf(version).filter((line) => !isLeftOut(line)));
}

function withoutBreak(line: string): string {
  return withoutMark(line).replace(/\n$/, "");
}

/**
 * `undoesNothing`: the file is taken as a version that others know, so that also what this machine
 * had written, and git has discarded, stays in the document.
 */
async function asideOf(
  db: Context["db"],
  open: OpenDocument,
  {
    sight: { file, leftBehind },
    known,
    undoesNothing = false,
  }: { readonly sight: Sight; readonly known: FileState; readonly undoesNothing?: boolean },
): Promise<Aside | undefined> {
  if (!leftBehind || file.kind !== "text") return undefined;
  const base = knownBase(open, known.base);
  const committed = contentLines(leftBehind.committed);
  const others = leftBehind.isDiscarded ? await othersIn(db, open, { base, committed }) : undefined;
  return findAside({
    known: base,
    committed,
    kept: leftBehind.kept.map(({ text, before }) => ({
      lines: contentLines(text),
      before: before.map(contentLines),
    })),
    lines: splitForm(file.content, known.form).lines,
    others: others && undoesNothing ? { ...others, hasWritten: () => true } : others,
  });
}

/** What of a file's changes other machines had made; see `ownSpans`. */
async function othersIn(
  db: Context["db"],
  open: OpenDocument,
  { base, committed }: { readonly base: CapturedText; readonly committed: readonly string[] },
): Promise<OthersChanges> {
  const lines = linesOf(base);
  const known = lines.map(({ text }) => withoutMark(text));
  const removed = await removedSince(db, open.id, 0);
  const gone = linesOfPieces(removed);
  const isOwn = await ownSpans(db, open);
  const says = saysOthers(removed, {
    isOwn: ({ client, clock, text }) => isOwn({ client, clock, length: text.length }),
    committed,
    known,
  });
  return {
    hasWritten: (at) => !(lines[at]?.spans ?? []).every(isOwn) || says(known[at] ?? ""),
    hasDeleted: (line) => !gone.has(withoutBreak(line)),
  };
}

/**
 * Takes a file from another history than the one that was read last. What was committed where that
 * history began is a version by others; only the changes since then are an edit. `unseen`: what
 * whoever saved them may not have seen.
 */
export async function takeGitVersion(
  context: Context,
  open: OpenDocument,
  {
    sight,
    file,
    known,
    unseen,
  }: {
    readonly sight: Sight;
    readonly file: FileContent;
    readonly known: FileState | undefined;
    readonly unseen: readonly Arrival[];
  },
): Promise<TakenSave> {
  const { committed, past } = sight;
  if (committed === undefined) return await meetFile(context, open, file);
  const isOther = past?.relation === "elsewhere" || past?.relation === "anew";
  const isNew = past?.relation === "elsewhere" && !isTold(open, past.changes);
  const missing = isNew ? await missingOf(context, open, committed) : [];
  const { form, lines } = splitForm(file.content, open.document.textForm());
  const aligned = open.document.alignText(splitForm(committed, form).lines);
  const isOnward = past?.relation === "onward";
  // What this machine removed from an older commit's file was not removed from this one.
  const took = isOnward ? await linesRemoved(context.db, open.id) : NOTHING;
  const aside = known && (await asideOf(context.db, open, { sight, known }));
  const removed = without(took, returnedBy(aside, file));
  const version = withoutLines(aligned, removed);
  const undone = undoneRemovals(open, file, { versions: [aligned], removed });
  const seen = known ? [knownBase(open, known.base)] : [];
  // Of a file that was never read, others may have read several lines of work.
  const beside = (known ? [] : (past?.told ?? [])).map((text) =>
    open.document.alignText(splitForm(String(text), form).lines),
  );
  const base = pulledBase({ from: [version, ...beside], alsoSeen: seen, lines });
  const from: FileState = { hash: "", base, form };
  const taken =
    unseen.length === 0 || file.content === committed
      ? unconflicted(await takeSave(context, open, { base: from, file }))
      : await takeEdit(context, open, {
          known: { ...from, base: withoutTaken(base, unseen) },
          file,
          unseen,
        });
  const kind = isOther ? "renewed" : past?.relation === "back" ? "set-aside" : undefined;
  const lacking =
    kind && known ? keptOf(context, open, { known, version: committed, file, kind }) : [];
  const back = kind === "set-aside" && known ? linesBack(known, file, committed) : [];
  const conflicts = [...missing, ...lacking, ...keptOut(open, file, back), ...undone];
  const told = await record(context, open, { conflicts });
  const setAside = conflicts.filter((each) => each.kind === "set-aside");
  return { ...taken, conflicts: [...taken.conflicts, ...told], aside: setAside };
}

/** Without what others have deleted and a commit still has: a save that has it may be stale. */
function withoutTaken(version: CapturedText, unseen: readonly Arrival[]): CapturedText {
  const taken = unseen.flatMap((each) => each.taken.map(withoutBreak));
  return withoutLines(version, new Set(taken.filter(hasWord)));
}

/** The texts of lines whose deletion git keeps elsewhere. */
function returnedBy(aside: Aside | undefined, { content }: FileContent): ReadonlySet<string> {
  const lines = contentLines(content);
  return new Set(aside?.returned.map((at) => withoutBreak(lines[at] ?? "")));
}

function without(all: ReadonlySet<string>, some: ReadonlySet<string>): ReadonlySet<string> {
  return some.size === 0 ? all : new Set([...all].filter((each) => !some.has(each)));
}

function isTold({ document }: OpenDocument, [last]: readonly string[]): boolean {
  return isKnownCommit(document, last);
}

/**
 * Conflicts about what git put into a stash or on another branch: lines stay in the document, and
 * deleted ones out of it.
 */
export async function keptAside(
  context: Context,
  open: OpenDocument,
  {
    sight,
    file,
    known,
    isVersion,
  }: {
    readonly sight: Sight;
    readonly file: FileContent;
    readonly known: FileState;
    readonly isVersion: boolean;
  },
): Promise<NewTextConflict[]> {
  // Of a version from elsewhere `takeGitVersion` itself tells what the file lacks.
  const undoesNothing = isVersion && sight.past?.relation === "onward";
  const aside = await asideOf(context.db, open, { sight, known, undoesNothing });
  if (!aside) return [];
  const taken = kept(context, open, { known, file, indices: aside.taken, kind: "set-aside" });
  return [...taken, ...keptOut(open, file, aside.returned)];
}

/** Deleted lines that git put back into the file, by their indices there. */
function keptOut(
  { document, author }: OpenDocument,
  { content, savedAt }: FileContent,
  returned: readonly number[],
): NewTextConflict[] {
  const lines = contentLines(content);
  const standing = linesThatStay(lines, contentLines(document.content()));
  const out = returned.filter((at) => !hasWord(lines[at] ?? "") || !standing.has(at));
  const places = placedRuns(out, lines, new Set());
  if (!places.some(({ text }) => hasWord(text))) return [];
  const versions = [
    { text: "", machine: undefined, isStanding: true },
    { text: joinedText(places), ...author, at: Math.round(savedAt), places },
  ] as const;
  return [{ kind: "set-aside", versions }];
}

/** The file's lines that are a version's and that it lacked, with nothing in their place. */
function linesBack(known: FileState, { content }: FileContent, version: string): number[] {
  const [before, after] = [contentLines(known.base.text), contentLines(content)];
  const committed = new Map(commonLines(after, contentLines(version)));
  return diffLines(before, after).flatMap(({ at, removed, from, added }) => {
    const isReplaced = before.slice(at, at + removed).some(hasWord);
    return isReplaced ? [] : indicesFrom(from, added).filter((each) => committed.has(each));
  });
}

/** Lines that the file had, that are not in the version it is an edit of, and that it lacks now. */
function keptOf(
  context: Context,
  open: OpenDocument,
  { version, ...lines }: Omit<KeptLines, "indices"> & { readonly version: string },
): NewTextConflict[] {
  const { known, file } = lines;
  const texts = linesOf(known.base).map(({ text }) => withoutMark(text));
  const [of, has] = [version, file.content].map((text) => {
    return new Map(commonLines(texts, contentLines(text)));
  });
  const indices = texts.flatMap((_, at) => (of?.has(at) || has?.has(at) ? [] : [at]));
  return kept(context, open, { ...lines, indices });
}

/** Lines of the known text that the file lacks and the document has. */
interface KeptLines {
  readonly known: FileState;
  readonly file: FileContent;
  readonly indices: readonly number[];
  readonly kind: "renewed" | "set-aside";
}

function kept(
  { db }: Context,
  open: OpenDocument,
  { known, file, indices, kind }: KeptLines,
): NewTextConflict[] {
  const live = new SpanSet(open.document.captureText().spans);
  const before = linesOf(knownBase(open, known.base));
  const stays = indices.filter((at) => live.hasAny(before[at]?.spans ?? []));
  const texts = before.map(({ text }) => withoutMark(text));
  const places = placedRuns(stays, texts, new Set());
  if (!places.some(({ text }) => hasWord(text))) return [];
  const instead = insteadOf(stays, texts, contentLines(file.content));
  // Of what git set aside, the machine that is named is the one where it did; see `settleAside`.
  const by =
    kind === "renewed"
      ? authors(
          db,
          open,
          stays.flatMap((at) => before[at]?.spans ?? []),
        )
      : undefined;
  const versions = [
    { text: joinedText(places), machine: by, places, isStanding: true },
    { text: joinedText(instead), ...open.author, at: Math.round(file.savedAt), places: instead },
  ] as const;
  return [{ kind, versions }];
}

/**
 * What a file has in the place of lines that it lacks. Whoever wants the file's version wants
 * these, too: without the mended line and without the one that it was made from, both would be
 * gone.
 */
function insteadOf(lacking: readonly number[], texts: readonly string[], file: readonly string[]) {
  const isLacking = new Set(lacking);
  const own = diffLines(texts, file).flatMap(({ at, removed, from, added }) => {
    const isThere = indicesFrom(at, removed).some((each) => isLacking.has(each));
    return isThere ? indicesFrom(from, added) : [];
  });
  return placedRuns(own, file, new Set());
}

/** Lines that git brought and that the document has never had, as far as this machine knows. */
async function missingOf(
  { db, now }: Context,
  open: OpenDocument,
  committed: string,
): Promise<NewTextConflict[]> {
  const known = await linesEverIn(narrowTables(db), open);
  const lines = contentLines(committed);
  const missing = lines.flatMap((line, at) => (hasWord(line) && !known.has(line) ? [at] : []));
  if (missing.length === 0) return [];
  const places = placedRuns(missing, lines, new Set());
  const versions = [
    { text: joinedText(places), ...open.author, at: now, places },
    { text: "", machine: undefined },
  ] as const;
  return [{ kind: "elsewhere", versions }];
}

/** The lines that a document has or had, as far as this machine knows. */
async function linesEverIn(db: Kysely<ReplicaTables>, { id, document }: OpenDocument) {
  const former = await listRevisions(db, id, { kind: "text", key: "" });
  const texts = [document.content(), ...former.map(({ value }) => value)];
  return new Set(texts.flatMap(contentLines));
}
