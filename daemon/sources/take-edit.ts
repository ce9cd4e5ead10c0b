import type { ReplicaDocument } from "../../shared/replica/document.ts";
import { historyTime } from "../../shared/replica/history-clock.ts";
import type { OpenDocument } from "../../shared/replica/open-document.ts";
import type { CapturedText } from "../../shared/replica/text.ts";
import {
  listTextConflicts,
  type NewTextConflict,
  recordTextConflict,
} from "../../shared/replica/text-conflict-record.ts";
import { splitForm, type TextForm } from "../../shared/replica/text-form.ts";
import type { ReplicaTables } from "../../shared/replica/tables.ts";
import type { WriteContext } from "../../shared/replica/write-context.ts";
import type { Kysely } from "kysely";
import type { DaemonTables } from "../tables.ts";
import type { Arrival } from "./arrivals.ts";
import { applyEdit, type FileContent, knownBase } from "./file-edit.ts";
import type { FileState } from "./file-state.ts";
import { plainEdit, planSave, type SavePlan } from "./plan-save.ts";
import { linesOf, splitLines, type CapturedLine, joinLines, without } from "./text-lines.ts";

type Context = WriteContext<DaemonTables>;

/** What taking a save came to. */
export interface TakenSave {
  readonly state: FileState;
  /** Ids of the conflicts that were recorded. */
  readonly conflicts: readonly string[];
  /** Lines of others that the save has moved: they are as new in the file as they were. */
  readonly moved: readonly MovedLine[];
}

/** What a save is judged by besides; see `SaveFacts`. */
export interface EditOptions {
  readonly unseen: readonly Arrival[];
  readonly isPulled?: boolean;
}

/** A line of the document that stands for one that came into the file with an arrival. */
export interface MovedLine {
  readonly arrival: Arrival;
  readonly spans: CapturedLine["spans"];
}

/**
 * Takes a save as an edit from `known`, the text that the file had last. What it undoes of the
 * changes that its author may not have seen stays on both sides, and is recorded; see `planSave`.
 */
export async function takeEdit(
  context: Context,
  open: OpenDocument,
  known: FileState,
  file: FileContent,
  { unseen, isPulled = false }: EditOptions,
): Promise<TakenSave> {
  const { document, writer } = open;
  const { form, lines } = splitForm(file.content);
  const { machine } = writer;
  const savedAt = Math.round(file.savedAt);
  const base = knownBase(open, known.base);
  const isSure = unseen.length === 0 && !isPulled;
  const facts = { base, lines, unseen, machine, savedAt, isPulled };
  const plan = isSure
    ? plainEdit(base, lines)
    : planSave({ ...facts, live: document.captureText() });
  const edit = await applyEdit(context, open, plan.base, plan.lines);
  document.setTextForm(changedForm(document.textForm(), known.form, form), context.now);
  const found = [...plan.conflicts, ...formatConflict(known.form, form, unseen, machine, savedAt)];
  const saved = isSure ? [] : withLeftOut(edit.base, lines, plan);
  return {
    state: { hash: file.hash, base: isSure ? edit.base : joinLines(saved), form },
    conflicts: [...edit.conflicts, ...(await record(context, open, found))],
    moved: [...plan.moved].map(([at, arrival]) => {
      return { arrival, spans: without(saved[at]?.spans ?? [], arrival.brought) };
    }),
  };
}

/** Records conflicts in the document, and gives their ids. */
export async function record(
  { db, now }: Context,
  { document }: OpenDocument,
  conflicts: readonly NewTextConflict[],
): Promise<string[]> {
  if (conflicts.length === 0) return [];
  const time = await historyTime(db as unknown as Kysely<ReplicaTables>, now);
  return conflicts.map((conflict) => {
    return findSame(document, conflict) ?? recordTextConflict(document, conflict, now, time);
  });
}

/** A program that saves again and again without reading leaves out the same lines each time. */
function findSame(document: ReplicaDocument, conflict: NewTextConflict): string | undefined {
  const [theirs] = conflict.versions;
  if (conflict.kind !== "unseen" || theirs.text === "") return undefined;
  const behind = theirs.places?.[0]?.behind;
  return listTextConflicts(document).find(({ kind, versions }) => {
    const isSame = versions.some(({ text, places }) => {
      return text === theirs.text && places[0]?.behind === behind;
    });
    return kind === "unseen" && isSame;
  })?.id;
}

/** The saved lines, of which the document has those that were left out elsewhere or not at all. */
function withLeftOut(edited: CapturedText, lines: string, { leftOut }: SavePlan): CapturedLine[] {
  const rest = linesOf(edited)[Symbol.iterator]();
  return splitLines(lines).map((text, at) => {
    const spans = [{ client: null, clock: 0, length: text.length }];
    return leftOut.has(at) ? { text, spans } : (rest.next().value ?? { text, spans });
  });
}

/** The document's form with what the save changed of the file's: each part by itself. */
function changedForm(document: TextForm, known: TextForm, saved: TextForm): TextForm {
  return {
    bom: saved.bom === known.bom ? document.bom : saved.bom,
    eol: saved.eol === known.eol ? document.eol : saved.eol,
    final_newline:
      saved.final_newline === known.final_newline ? document.final_newline : saved.final_newline,
  };
}

/** Only one way of writing a text down can stand: the save's does, and what it undid is told. */
function formatConflict(
  known: TextForm,
  form: TextForm,
  unseen: readonly Arrival[],
  machine: string | undefined,
  savedAt: number,
): NewTextConflict[] {
  const by = unseen.findLast(({ former }) => former && isUndone(former, known, form));
  if (!by) return [];
  const versions = [
    { text: JSON.stringify(known), machine: by.machine, at: by.at },
    { text: JSON.stringify(form), machine, at: savedAt },
  ] as const;
  return [{ kind: "format", versions }];
}

/** Whether a save gives back a part of the form that others had changed. */
function isUndone(former: TextForm, known: TextForm, saved: TextForm): boolean {
  const parts = ["bom", "eol", "final_newline"] as const;
  return parts.some((part) => former[part] !== known[part] && saved[part] === former[part]);
}
