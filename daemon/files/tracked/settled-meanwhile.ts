import type {
  NewTextConflict,
  TextConflictRecord,
  TextVersion,
} from "../../../shared/replica/conflicts/text-conflict-record.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { diffLines, hasWord } from "../../../shared/replica/text/line-diff.ts";
import { holdsLines } from "../../../shared/replica/text/standing-lines.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import { withoutMark } from "../../../shared/replica/text/text-form.ts";
import { linesBehind } from "../lines/document-lines.ts";
import { indicesFrom } from "../lines/line-runs.ts";
import { joinedText, placedRuns } from "../lines/placed-runs.ts";
import { SpanSet } from "../lines/span-set.ts";
import {
  type CapturedLine,
  contentLines,
  joinLines,
  linesOf,
  splitLines,
} from "../lines/text-lines.ts";
import type { FileContent } from "../state/file-edit.ts";

/** A save that changed what git had put into its file, once a command has settled that. */
export interface SettledMeanwhile {
  readonly base: CapturedText;
  readonly conflicts: readonly NewTextConflict[];
}

/**
 * What git put in the place of lines that it set aside is nobody's, until a command settles that
 * and brings it into the document. Whoever has mended it in the file by then has mended that very
 * line of the document. If the command has chosen what was set aside, the two disagree.
 */
export function settledMeanwhile(
  open: OpenDocument,
  base: CapturedText,
  {
    file,
    settled,
  }: { readonly file: FileContent; readonly settled: readonly TextConflictRecord[] },
): SettledMeanwhile {
  const own = new BroughtLines(open, base);
  const after = contentLines(file.content);
  const conflicts: NewTextConflict[] = [];
  for (const { versions } of settled) {
    const stood = versions.find(({ isStanding }) => isStanding);
    const put = new Set(versions.flatMap(putLines));
    for (const { at, removed, from, added } of diffLines(own.texts, after)) {
      const isMended = indicesFrom(from, added).some((nth) => hasWord(after[nth] ?? ""));
      const mended = indicesFrom(at, removed).filter((nth) => own.isPut(nth, put));
      if (!isMended || mended.length === 0 || own.bring(mended)) continue;
      if (!stood || !holdsLines(open.document.content(), stood.text)) continue;
      const places = placedRuns(indicesFrom(from, added), after, new Set());
      const { text, machine, home, at: stoodAt } = stood;
      const theirs = { text, machine, home, places: stood.places };
      conflicts.push({
        kind: "unseen",
        versions: [
          { text: joinedText(places), ...open.author, at: Math.round(file.savedAt), places },
          { ...theirs, ...(stoodAt !== undefined && { at: stoodAt }) },
        ],
      });
    }
  }
  return { base: own.text, conflicts };
}

/** The same where the file is as it was: what the document has now is the document's. */
export function withBrought(
  open: OpenDocument,
  base: CapturedText,
  settled: readonly TextConflictRecord[],
): CapturedText {
  if (settled.length === 0) return base;
  const own = new BroughtLines(open, base);
  const put = new Set(settled.flatMap(({ versions }) => versions.flatMap(putLines)));
  own.bring(indicesFrom(0, own.texts.length).filter((nth) => own.isPut(nth, put)));
  return own.text;
}

function putLines({ text, isStanding }: TextVersion): string[] {
  return isStanding ? [] : splitLines(text);
}

/** The lines of a file, of which some that were nobody's are the document's by now. */
class BroughtLines {
  readonly #own: readonly CapturedLine[];
  readonly #beside: readonly (readonly CapturedLine[])[];
  readonly #brought = new Map<number, CapturedLine>();
  readonly texts: readonly string[];

  constructor(open: OpenDocument, base: CapturedText) {
    const all = linesOf(open.document.captureText());
    const known = new SpanSet(base.spans);
    const beside = all.flatMap(({ spans }, at) => (known.hasAny(spans) ? [] : [at]));
    this.#own = linesOf(base);
    this.#beside = linesBehind(this.#own, all, new Set(beside));
    this.texts = this.#own.map(shown);
  }

  get text(): CapturedText {
    return joinLines(this.#own.map((line, nth) => this.#brought.get(nth) ?? line));
  }

  isPut(nth: number, put: ReadonlySet<string>): boolean {
    const line = this.#own[nth];
    return line !== undefined && isNobodys(line) && put.has(line.text) && hasWord(shown(line));
  }

  /** Whether the document has any of these where the file has them. */
  bring(lines: readonly number[]): boolean {
    const found = lines.filter((nth) => {
      const line = this.#inPlaceOf(nth);
      if (line) this.#brought.set(nth, line);
      return line !== undefined;
    });
    return found.length > 0;
  }

  /** It stands behind what that one stands behind; undefined where several do. */
  #inPlaceOf(nth: number): CapturedLine | undefined {
    let first = nth;
    while (isNobodys(this.#own[first - 1])) first--;
    const taken = [...this.#brought.values()];
    const wanted = this.#own[nth]?.text;
    const equal = (this.#beside[first] ?? []).filter(({ text }) => text === wanted);
    return equal.length === 1 ? equal.find((line) => !taken.includes(line)) : undefined;
  }
}

function isNobodys(line: CapturedLine | undefined): boolean {
  return line?.spans.every(({ client }) => client === null) === true;
}

function shown({ text }: CapturedLine): string {
  return withoutMark(text);
}
