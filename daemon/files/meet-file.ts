import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { hasWord } from "../../shared/replica/text/line-diff.ts";
import type { DaemonTables } from "../home/tables.ts";
import { authors } from "./bringers.ts";
import { cameBack, differences } from "./come-back.ts";
import { type FileContent, takeFirst } from "./file-edit.ts";
import type { FileState } from "./file-state.ts";
import { noteShown } from "./note-arrival.ts";
import { joinedText } from "./placed-runs.ts";
import { record, type TakenSave } from "./take-edit.ts";
import type { LateOptions } from "./take-late-save.ts";
import { contentLines } from "./text-lines.ts";

type Context = WriteContext<DaemonTables>;

/**
 * The first meeting: the text of both stays. A conflict is recorded where one has what the other
 * lacks, because a section may be in the text twice.
 */
export async function meetFile(
  context: Context,
  open: OpenDocument,
  file: FileContent,
): Promise<TakenSave> {
  const { come, ...kept } = differences(open, file);
  const state = takeFirst(context, open, file);
  const conflicts = come(hasWord).length > 0 ? await tellKept(context, open, { file, kept }) : [];
  return { state, conflicts, moved: [] };
}

/**
 * Takes a file that was created again. What the document has beyond it stays. Lines of it that
 * others have deleted since return. A conflict is recorded for both.
 */
export async function renewFile(
  context: Context,
  open: OpenDocument,
  {
    known,
    file,
    options,
  }: { readonly known: FileState; readonly file: FileContent; readonly options: LateOptions },
): Promise<TakenSave> {
  const { come, ...kept } = differences(open, file);
  const before = new Set(contentLines(known.base.text));
  const back = come((line) => before.has(line));
  const state = takeFirst(context, open, file);
  // These lines of others may come from one of our commands, or were copied from elsewhere.
  await noteShown(context, open, { from: known, to: state, options });
  const told = await tellKept(context, open, { file, kept });
  const conflicts = cameBack(open, file, back);
  return {
    state,
    conflicts: [...told, ...(await record(context, open, { conflicts }))],
    moved: [],
  };
}

type Kept = Omit<ReturnType<typeof differences>, "come">;

async function tellKept(
  context: Context,
  open: OpenDocument,
  {
    file: { savedAt },
    kept: { kept, keptSpans },
  }: { readonly file: FileContent; readonly kept: Kept },
): Promise<string[]> {
  if (!kept.some(({ text }) => hasWord(text))) return [];
  const machine = authors(context.db, open, keptSpans);
  const versions = [
    { text: joinedText(kept), machine, places: kept },
    { text: "", machine: open.writer.machine, at: Math.round(savedAt) },
  ] as const;
  return await record(context, open, { conflicts: [{ kind: "renewed", versions }] });
}
