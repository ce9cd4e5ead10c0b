import { isOver } from "../../../shared/replica/conflicts/over-conflict.ts";
import { listOpenConflicts } from "../../../shared/replica/conflicts/shared-version.ts";
import {
  forgetTextConflict,
  listTextConflicts,
  type NewTextConflict,
  recordTextConflict,
  renewTextConflict,
  type TextConflictRecord,
} from "../../../shared/replica/conflicts/text-conflict-record.ts";
import type { Author } from "../../../shared/replica/document/author.ts";
import type { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { historyTime } from "../../../shared/replica/history/history-clock.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { namesSamePlace } from "../../../shared/replica/text/neighbour-lines.ts";
import {
  holdsAnyLine,
  holdsEachLine,
  holdsLines,
} from "../../../shared/replica/text/standing-lines.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import {
  type ShownForm,
  shownForm,
  splitForm,
  type TextForm,
} from "../../../shared/replica/text/text-form.ts";
import { narrowTables } from "../../../shared/sqlite/narrow-tables.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { Arrival } from "../arrivals/arrivals.ts";
import { type FileState, fileText } from "../lines/file-state.ts";
import { without } from "../lines/span-set.ts";
import { type CapturedLine, joinLines, linesOf, splitLines } from "../lines/text-lines.ts";
import { applyEdit, type FileContent, knownBase } from "../state/file-edit.ts";
import { besideAside } from "./beside-aside.ts";
import { plainEdit, planSave, type SavePlan } from "./plan-save.ts";
import { takenAgain } from "./taken-again.ts";

type Context = WriteContext<DaemonTables>;

/** The result of taking a save. */
export interface TakenSave {
  readonly state: FileState;
  /** Ids of the conflicts that were recorded. */
  readonly conflicts: readonly string[];
  /** Lines of others that the save moved. They stay as new in the file as they were. */
  readonly moved: readonly MovedLine[];
  /** The conflicts about what git has set aside. */
  readonly aside?: readonly NewTextConflict[];
}

export function unconflicted(state: FileState): TakenSave {
  return { state, conflicts: [], moved: [] };
}

/** Further facts about a save; see `SaveFacts`. */
export interface EditOptions {
  readonly unseen: readonly Arrival[];
  readonly isPulled?: boolean;
  /** The lines that git has shown between its marks, to whoever saved this. */
  readonly read?: ReadonlySet<string>;
  /** Conflicts that the caller has found already. */
  readonly besides?: readonly NewTextConflict[];
  /** The open conflicts about what git has set aside in the file. */
  readonly aside?: readonly TextConflictRecord[];
}

/** A line of the document that continues one that came into the file with an arrival. */
export interface MovedLine {
  readonly arrival: Arrival;
  readonly spans: CapturedLine["spans"];
}

/**
 * Applies a save as an edit of `known`, the text that the file had last. Where it undoes changes
 * that its author may not have seen, the text of both sides stays and a conflict is recorded; see
 * `planSave`.
 */
export async function takeEdit(
  context: Context,
  open: OpenDocument,
  {
    known,
    file,
    unseen,
    isPulled = false,
    read = new Set(),
    besides = [],
    aside = [],
  }: { readonly known: FileState; readonly file: FileContent } & EditOptions,
): Promise<TakenSave> {
  const { document, author } = open;
  const { form, lines: saved } = splitForm(file.content, known.form);
  const savedAt = Math.round(file.savedAt);
  const shown = knownBase(open, known.base);
  const { base, lines, added } = besideAside(open, { base: shown, lines: saved, aside });
  const isSure = unseen.length === 0 && !isPulled;
  const facts = { base, lines, unseen, author, savedAt, isPulled };
  const plan = isSure
    ? plainEdit(base, lines)
    : planSave({ ...facts, live: document.captureText() });
  const former = document.captureText();
  const before = document.content();
  document.setTextForm(changedForm(document.textForm(), known.form, form), context.now);
  const disagreed = listOpenConflicts(document);
  // Recorded before the edit, which finds the same places but does not know whose they are.
  const told = await record(context, open, {
    conflicts: [
      ...plan.conflicts,
      ...formatConflict(known, file, { unseen, author }),
      ...besides.filter((each) => !isToldBy(plan.conflicts, each)),
    ],
    saved: file.content,
  });
  const change = { seen: plan.base, lines: plan.lines, hunks: plan.hunks, shown: base };
  const edit = await applyEdit(context, open, { ...change, disagreed, former });
  const again = takenAgain({
    open: disagreed,
    before,
    after: document.content(),
    by: author,
    savedAt,
  });
  const isRead = ({ versions: [gone] }: NewTextConflict) =>
    holdsEachLine([...read].join("\n"), gone.text);
  const insisted = await record(context, open, {
    conflicts: again.filter((each) => !isRead(each)),
  });
  const all = isSure ? linesOf(edit.base) : withLeftOut(edit.base, lines, plan);
  const own = joinLines(all.filter((_, at) => !added.has(at)));
  return {
    state: { hash: file.hash, base: own, form },
    conflicts: [...new Set([...edit.conflicts, ...told, ...insisted])],
    moved: [...plan.moved].map(([at, arrival]) => {
      return { arrival, spans: without(all[at]?.spans ?? [], arrival.brought) };
    }),
  };
}

/** Whether all lines of a conflict are in one of these, at the same place. */
function isToldBy(told: readonly NewTextConflict[], { versions }: NewTextConflict): boolean {
  const all = told.flatMap((each) => each.versions);
  return versions.every(({ text, places: [place] = [] }) => {
    return all.some((version) => {
      const behind = version.places?.[0]?.behind ?? "";
      const isThere = text === "" || namesSamePlace(behind, place?.behind ?? "");
      return isThere && holdsLines(version.text, text);
    });
  });
}

/**
 * Records conflicts in the document and returns their ids. `saved`: the saved text that they are
 * about.
 */
export async function record(
  { db, now }: Context,
  { document }: OpenDocument,
  {
    conflicts,
    saved,
  }: { readonly conflicts: readonly NewTextConflict[]; readonly saved?: string | undefined },
): Promise<string[]> {
  if (conflicts.length === 0) return [];
  const time = await historyTime(narrowTables(db), now);
  return conflicts.map((conflict) => {
    const same = findSame(document, conflict);
    if (same && stillTells(same, conflict, saved)) {
      renewTextConflict(document, same.id, now);
      return same.id;
    }
    if (same) forgetTextConflict(document, same.id);
    return recordTextConflict(document, conflict, { now, time });
  });
}

/**
 * The same conflict from an earlier save. A program that saves repeatedly without reading leaves
 * out the same lines each time.
 */
function findSame(
  document: ReplicaDocument,
  conflict: NewTextConflict,
): TextConflictRecord | undefined {
  const [theirs] = conflict.versions;
  if (conflict.kind !== "unseen" || theirs.text === "") return undefined;
  const behind = theirs.places?.[0]?.behind;
  const content = document.content();
  return listTextConflicts(document).find((known) => {
    const isSame = known.versions.some(({ text, places }) => {
      return text === theirs.text && places[0]?.behind === behind;
    });
    return known.kind === "unseen" && isSame && !isOver(known, content);
  });
}

/** Whether the other texts of a known conflict are in this save, too. */
function stillTells(
  { versions }: TextConflictRecord,
  { versions: [theirs] }: NewTextConflict,
  saved = "",
): boolean {
  return versions.every(({ text }) => {
    return text === "" || text === theirs.text || holdsAnyLine(saved, text);
  });
}

/** The saved lines. Lines that were left out have no characters of the document here. */
function withLeftOut(edited: CapturedText, lines: string, { leftOut }: SavePlan): CapturedLine[] {
  const rest = linesOf(edited)[Symbol.iterator]();
  return splitLines(lines).map((text, at) => {
    const spans = [{ client: null, clock: 0, length: text.length }];
    return leftOut.has(at) ? { text, spans } : (rest.next().value ?? { text, spans });
  });
}

/** The document's text format with the parts that the save changed. Each part counts by itself. */
function changedForm(document: TextForm, known: TextForm, saved: TextForm): TextForm {
  return {
    bom: saved.bom === known.bom ? document.bom : saved.bom,
    eol: saved.eol === known.eol ? document.eol : saved.eol,
    final_newline:
      saved.final_newline === known.final_newline ? document.final_newline : saved.final_newline,
  };
}

/** A text can have only one format. The save's is taken, and what it undid is recorded. */
function formatConflict(
  known: FileState,
  { content, savedAt }: FileContent,
  { unseen, author }: { readonly unseen: readonly Arrival[]; readonly author: Author },
): NewTextConflict[] {
  if (!unseen.some(({ former }) => former)) return [];
  const [was, is] = [shownForm(fileText(known)), shownForm(content)];
  const by = unseen.findLast(({ former }) => former && isUndone(former, was, is));
  if (!by) return [];
  const versions = [
    { text: JSON.stringify(was), machine: by.machine, at: by.at },
    { text: JSON.stringify(is), ...author, at: Math.round(savedAt) },
  ] as const;
  return [{ kind: "format", versions }];
}

/** Whether a save restores a part of the format that others had changed. */
function isUndone(former: ShownForm, known: ShownForm, saved: ShownForm): boolean {
  const parts = ["bom", "eol", "final_newline"] as const;
  return parts.some((part) => former[part] !== known[part] && saved[part] === former[part]);
}
