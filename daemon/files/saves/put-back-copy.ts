import type { Kysely } from "kysely";
import { listRevisions, type Revision } from "../../../shared/replica/history/revisions.ts";
import type { ReplicaTables } from "../../../shared/replica/log/tables.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { storedTextMachine } from "../../../shared/replica/store/rows.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { diffLines, hasWord, type LineHunk } from "../../../shared/replica/text/line-diff.ts";
import { withoutMark } from "../../../shared/replica/text/text-form.ts";
import { narrowTables } from "../../../shared/sqlite/narrow-tables.ts";
import { removedSince } from "../../home/outgoing.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { type Arrival, UNSEEN_MS } from "../arrivals/arrivals.ts";
import { authors } from "../arrivals/bringers.ts";
import { type FileState, fileText } from "../lines/file-state.ts";
import { indicesFrom } from "../lines/line-runs.ts";
import { SpanSet } from "../lines/span-set.ts";
import { contentLines, linesOf } from "../lines/text-lines.ts";
import { type FileContent, knownBase } from "../state/file-edit.ts";
import type { Sight } from "../state/follow-facts.ts";
import { readToldSave } from "../state/save-history.ts";
import { ownSpans } from "./own-spans.ts";

type Context = WriteContext<DaemonTables>;

/** After this time a file that was missing is one that somebody made anew. */
const GONE_MS = 1000;

/** No change of that id is stored. */
const NOT_STORED = -1;

interface PutBackSave {
  readonly dir: string;
  /** What the file had. */
  readonly known: FileState;
  readonly file: FileContent;
  /** What is in doubt in any case. */
  readonly unseen: readonly Arrival[];
  /** Undefined for a file that has lost its name. */
  readonly sight?: Sight;
  /** For how long there was no text before this one. */
  readonly goneMs?: number | undefined;
}

/**
 * What others have changed since the earlier version that a save is, byte for byte: somebody may
 * have put an old copy in the file's place, which undoes that unread. Who takes out or brings back
 * something at one place alone has more likely edited the file, unless it was gone. Who undoes his
 * own edits means it, and so does who saves once more what he was told of a minute ago.
 */
export async function findPutBackCopy(
  context: Context,
  open: OpenDocument,
  save: PutBackSave,
): Promise<Arrival[]> {
  const { dir, known, file, sight, goneMs = 0 } = save;
  const { content } = file;
  const isOther = content !== fileText(known) && content !== open.document.content();
  if (!isOther || !hasWord(content) || (sight && isDecidedByGit(sight))) return [];
  const told = await readToldSave(context.db, open.id, { dir, content });
  const isMeant = told !== undefined && context.now - told >= UNSEEN_MS;
  const isAlone = goneMs >= GONE_MS || (told !== undefined && !isMeant);
  const placesMin = isAlone ? 1 : 2;
  const shown = linesOf(knownBase(open, known.base));
  const former = shown.map(({ text }) => withoutMark(text));
  const hunks = diffLines(former, contentLines(content));
  // Most saves change one place, and a history may have a hundred versions.
  if (hunks.length < placesMin) return [];
  const history = await historyOf(context, open);
  const version = history.find(content);
  if (!version) return [];
  const since = isMeant ? history.after(told) : version;
  return await undoneOf(context, open, { ...save, since, placesMin, shown, hunks });
}

/** Whether git's history says what a text is: there an earlier one means nothing. */
function isDecidedByGit({ standing, file, ...git }: Sight): boolean {
  if (standing.kind !== "tracked") return false;
  const { committed, leftBehind, madeBy, past } = git;
  const isCommitted = file.kind === "text" && file.content === committed;
  const isMoved = past !== undefined && past.relation !== "same";
  return isCommitted || isMoved || madeBy !== undefined || leftBehind?.isDiscarded === true;
}

/** A save that is an earlier version. */
interface FormerSave extends PutBackSave {
  readonly since: Since;
  readonly placesMin: number;
  /** The lines that the file had. */
  readonly shown: ReturnType<typeof linesOf>;
  /** How they differ from those of the save. */
  readonly hunks: readonly LineHunk[];
}

/** What a save undoes of others' changes since then, if that is at as many places. */
async function undoneOf(
  context: Context,
  open: OpenDocument,
  { file, unseen, since, placesMin, shown, hunks }: FormerSave,
): Promise<Arrival[]> {
  const saved = contentLines(file.content);
  const isOwn = await ownSpans(context.db, open);
  const hasRead = new Set(contentLines(since.read));
  const takenAway = await othersRemovals(context, open, since);
  const undone = hunks.map(({ at, removed, from, added }) => {
    const lines = indicesFrom(at, removed).flatMap((each) => shown[each] ?? []);
    const theirs = lines.filter(({ text, spans }) => {
      return !hasRead.has(withoutMark(text)) && !spans.every(isOwn);
    });
    const back = saved.slice(from, from + added).filter((line) => takenAway.has(line));
    return { theirs, back, isAny: theirs.some(({ text }) => hasWord(text)) || back.some(hasWord) };
  });
  if (undone.filter(({ isAny }) => isAny).length < placesMin) return [];
  const spans = undone.flatMap(({ theirs }) => theirs.flatMap((line) => line.spans));
  const doubted = new SpanSet(unseen.flatMap(({ brought }) => brought));
  const toldTaken = new Set(unseen.flatMap((each) => each.taken));
  const brought = new SpanSet(spans.filter((span) => !isOwn(span))).without(doubted).spans();
  const taken = undone.flatMap(({ back }) => back.filter((line) => !toldTaken.has(line)));
  if (brought.length + taken.length === 0) return [];
  const by = new Set(taken.flatMap((line) => takenAway.get(line) ?? []));
  const machine = authors(context.db, open, brought) ?? ([...by].sort().join(", ") || undefined);
  const { at } = since;
  return [{ id: NOT_STORED, at, machine, brought, taken, moved: [], former: undefined }];
}

/** A text of the document, and who wrote it. */
type Step = Pick<Revision, "value" | "machine">;

/** A text, the time until which it stood, and what the document had after that. */
interface Since {
  readonly at: number;
  readonly read: string;
  readonly later: readonly Step[];
}

interface History {
  /** The latest version that was this text. */
  readonly find: (content: string) => Since | undefined;
  /** What the document had right after that time. */
  readonly after: (time: number) => Since;
}

/**
 * Of the document's versions alone: what a save lacked that never was one, others may have written
 * before it.
 */
async function historyOf({ db }: Context, open: OpenDocument): Promise<History> {
  const replica: Kysely<ReplicaTables> = narrowTables(db);
  const texts = await listRevisions(replica, open.id, { kind: "text", key: "" });
  const machine = storedTextMachine(replica, open.id);
  const current = { value: open.document.content(), machine };
  const from = (nth: number): Step[] => [...texts.slice(0, Math.max(0, nth)).reverse(), current];
  return {
    find: (content) => {
      const nth = texts.findIndex(({ value }) => value === content);
      const text = texts[nth];
      return text && { at: text.replacedAt, read: content, later: from(nth) };
    },
    after: (time) => {
      const nth = texts.findIndex(({ replacedAt }) => replacedAt <= time);
      const [first = current, ...later] = from(nth === -1 ? texts.length : nth);
      return { at: time, read: first.value, later };
    },
  };
}

/** The lines that others took away last, and which machine that was, as far as that is known. */
async function othersRemovals(
  { db }: Context,
  open: OpenDocument,
  { read, later }: Since,
): Promise<ReadonlyMap<string, string | undefined>> {
  const by = new Map<string, string | undefined>();
  let former = contentLines(read);
  for (const { value, machine } of later) {
    const lines = contentLines(value);
    const stands = new Set(lines);
    for (const line of lines) by.delete(line);
    for (const line of former) if (!stands.has(line)) by.set(line, machine);
    former = lines;
  }
  // Two machines may have one name.
  const removed = await removedSince(db, open.id, 0);
  const own = new Set(removed.flatMap(({ text }) => text.split("\n").map(withoutMark)));
  const isOwn = (line: string, machine: string | undefined) =>
    machine === open.writer.machine && own.has(line.replace(/\n$/, ""));
  return new Map([...by].filter(([line, machine]) => !isOwn(line, machine)));
}
