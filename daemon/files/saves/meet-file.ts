import type {
  NewTextConflict,
  NewVersion,
  PlacedLines,
} from "../../../shared/replica/conflicts/text-conflict-record.ts";
import { BEGUN_KEY } from "../../../shared/replica/document/own-metadata.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { hasWord } from "../../../shared/replica/text/line-diff.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { authors } from "../arrivals/bringers.ts";
import type { FileState } from "../lines/file-state.ts";
import { isBlank } from "../lines/line-runs.ts";
import { joinedText } from "../lines/placed-runs.ts";
import { contentLines } from "../lines/text-lines.ts";
import { type FileContent, takeFirst } from "../state/file-edit.ts";
import { differences } from "./come-back.ts";
import { noteShown } from "./note-arrival.ts";
import { removalOf } from "./removal.ts";
import { record, type TakenSave } from "./take-edit.ts";
import type { LateOptions } from "./take-late-save.ts";

type Context = WriteContext<DaemonTables>;

/** Who has a text, and since when, as far as that is known. */
type TextAuthor = Pick<NewVersion, "machine" | "home" | "at">;

/** A text that is met; of this machine where `by` is left out. */
type MetText = FileContent & { readonly by?: TextAuthor };

/**
 * The first meeting: the text of both stays. What either has alone is a conflict as soon as the
 * file has any: it may be new, or older than a deletion. Whoever begins a
 * deleted project anew is not asked about its text.
 */
export async function meetFile(
  context: Context,
  open: OpenDocument,
  { by, ...file }: MetText,
): Promise<TakenSave> {
  const sides = differences(open, file);
  const { document } = open;
  const isTold = !isBegunHere(open) && document.everHadText() && sides.come(hasWord).length > 0;
  const told = isTold
    ? await conflictOf(context, open, { ...sides, by: by ?? byMachine(open, file) })
    : [];
  const state = takeFirst(context, open, file);
  return { state, conflicts: await record(context, open, { conflicts: told }), moved: [] };
}

/** Whether this is the first file that is met since somebody began the project anew here. */
function isBegunHere({ document, author }: OpenDocument): boolean {
  const [begun] = document.metadata.get(BEGUN_KEY);
  if (begun === undefined || begun.value !== author.home) return false;
  document.deleteEntry("metadata", BEGUN_KEY);
  return isBlank(document.content());
}

/**
 * Takes a file that was created again. What the document has beyond it stays, and so does what it
 * has beyond the document, as lines of it that others have deleted since. A conflict tells both.
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
  const by = byMachine(open, file);
  const told = await conflictOf(context, open, { ...differences(open, file), by });
  const state = takeFirst(context, open, file);
  // These lines of others may come from one of our commands, or were copied from elsewhere.
  await noteShown(context, open, { from: known, to: state, options });
  return { state, conflicts: await record(context, open, { conflicts: told }), moved: [] };
}

function byMachine({ author }: OpenDocument, { savedAt }: FileContent): TextAuthor {
  return { ...author, at: Math.round(savedAt) };
}

type Sides = ReturnType<typeof differences> & { readonly by: TextAuthor };

/**
 * The conflict about all that either side has alone. Each version is what one has and the other
 * lacks, so whoever chooses it has just that text. To be asked before the file is taken.
 */
async function conflictOf(
  { db }: Context,
  open: OpenDocument,
  { by, kept, keptSpans, come }: Sides,
): Promise<NewTextConflict[]> {
  const [standing, brought] = [withWords(kept), withWords(come(() => true))];
  if (standing.length + brought.length === 0) return [];
  const text = joinedText(brought);
  const removed = await removalOf(db, open, contentLines(text).filter(hasWord));
  const isKnown = removed.machine !== undefined || removed.at !== undefined;
  const theirs =
    standing.length > 0
      ? { machine: authors(db, open, keptSpans), ...(isKnown && { removed }) }
      : removed;
  const versions = [
    { ...theirs, text: joinedText(standing), places: standing },
    { ...by, text, places: brought },
  ] as const;
  return [{ kind: "renewed", versions }];
}

/** Blank lines alone are no version of anything. */
function withWords(places: readonly PlacedLines[]): PlacedLines[] {
  return places.filter(({ text }) => hasWord(text));
}
