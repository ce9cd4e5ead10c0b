import { isDeepStrictEqual } from "node:util";
import { comparedWords } from "../../../shared/replica/text/likeness.ts";
import { hasWord } from "../../../shared/replica/text/line-diff.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import type { ShownByMarks, TwoSides } from "../../git/file-steps.ts";
import type { FileStanding } from "../../git/git-state.ts";
import type { Git } from "../../git/run-git.ts";
import { readUnmergedTexts } from "../../git/unmerged-texts.ts";
import type { Readable, ShownLines } from "../state/follow-facts.ts";
import type { FollowedState, MarkedText } from "../state/follow-store.ts";

/** How git begins, parts and ends a place where two versions conflict. */
const [BEGIN, MIDDLE, END] = [/^<{7} /m, /^={7}$/m, /^>{7} /m] as const;
const MARKS = [BEGIN, MIDDLE, END];

/** How what both versions had begins, in some of git's styles. */
const BASE = /^\|{7}( |$)/m;

/** A file that was read, how git says that it stands, and what is known of it from before. */
interface Looked {
  readonly read: Readable;
  readonly standing: FileStanding;
  readonly known: FollowedState | undefined;
}

/** What follows from a look at a file in which git may show a conflict. */
export interface LookAtMarks {
  /** How the file stands: while it has the marks, nobody has settled anything. */
  readonly standing: FileStanding;
  readonly marked: MarkedText | undefined;
  /** Whether that is known already. */
  readonly isNoted: boolean;
}

/**
 * Takes notice of what git shows with its marks: whoever settles that in the file has seen both
 * versions, which else nobody can say of a save. Until the marks are gone or committed the file
 * counts as busy, whatever was staged. Three git processes where it shows others than before.
 */
export async function lookAtMarks(
  git: Git,
  { read, standing, known }: Looked,
): Promise<LookAtMarks> {
  const marked = known && (await markedText(git, { read, standing, known }));
  const isOpen =
    marked !== undefined &&
    hasMarks(read) &&
    standing.kind === "tracked" &&
    standing.commit === known?.checkedOut.commit;
  return {
    standing: isOpen ? { kind: "busy", operation: "unmerged", file: standing.file } : standing,
    marked,
    isNoted: isDeepStrictEqual(marked, known?.marked),
  };
}

async function markedText(
  git: Git,
  { read, standing, known }: Looked,
): Promise<MarkedText | undefined> {
  const last = known?.marked;
  if (standing.kind === "busy") {
    if (read.kind !== "text" || !hasMarks(read)) return last;
    if (last?.marked === read.content) return last;
    const { base = last?.base, sides } = await readUnmergedTexts(git, standing.file);
    const marked = sides.length > 0 ? ofSides(read.content, sides) : read.content;
    if (last && (sides.length === 0 || hasNothingElse(marked, last))) return last;
    return {
      marked,
      at: last?.at ?? read.savedAt,
      ...(base !== undefined && { base }),
    };
  }
  // On another branch the file has another text, which settles nothing.
  return standing.kind === "tracked" && standing.onDefaultBranch ? last : undefined;
}

/** The marks and what git has put beside and between them: a person may have typed the rest. */
function ofSides(content: string, sides: readonly string[]): string {
  const shown = new Set(sides.flatMap(plainLines));
  const parts = [...partsOf({ marked: content })].filter(({ line, part }) => {
    return part === "mark" || part === "base" || plainLines(line).every((each) => shown.has(each));
  });
  return parts.map(({ line }) => line).join("");
}

/** Whether all that such a text shows was known before: then only places were settled since. */
function hasNothingElse(marked: string, last: MarkedText): boolean {
  const { all } = shownLines(last);
  return versionsOf({ marked }).every(({ line }) =>
    plainLines(line).every((each) => all.has(each)),
  );
}

function hasMarks(read: Readable): boolean {
  return read.kind === "text" && MARKS.every((mark) => mark.test(read.content));
}

/** Where a line of such a text stands. */
type Part = "beside" | "mark" | "mine" | "base" | "theirs";

/**
 * The lines with their breaks. Only in a place that git has begun does a line like its marks part
 * anything: elsewhere seven `=` underline a heading.
 */
function* partsOf({
  marked,
}: Pick<MarkedText, "marked">): Generator<{ readonly line: string; readonly part: Part }> {
  let place: Part = "beside";
  for (const line of marked.split(/(?<=\n)/)) {
    const next = placeAfter(line, place);
    yield { line, part: next === undefined ? place : "mark" };
    place = next ?? place;
  }
}

/** What a mark begins in this place; undefined for any other line. */
function placeAfter(line: string, place: Part): Part | undefined {
  if (place === "beside") return BEGIN.test(line) ? "mine" : undefined;
  if (END.test(line)) return "beside";
  if (place === "mine" && BASE.test(line)) return "base";
  return place !== "theirs" && MIDDLE.test(line) ? "theirs" : undefined;
}

/** Without what both versions had: that was in the file once, so git alone has not shown it. */
function versionsOf(marked: Pick<MarkedText, "marked">) {
  return [...partsOf(marked)].filter(({ part }) => part !== "mark" && part !== "base");
}

export function shownLines(marked: MarkedText): ShownLines {
  const lines = versionsOf(marked);
  const textsOf = (some: typeof lines) => some.flatMap(({ line }) => plainLines(line));
  const disputed = lines.filter(({ part }) => part !== "beside");
  const theirs = lines.filter(({ part }) => part === "theirs");
  return {
    all: new Set(textsOf(lines)),
    disputed: new Set(textsOf(disputed)),
    theirs: new Set(textsOf(theirs)),
    base: new Set(plainLines(marked.base ?? "")),
  };
}

/** The same for somebody who asks about the commits since: both versions of each place. */
export function shownByMarks(marked: MarkedText, before: string): ShownByMarks {
  const shown = shownLines(marked);
  const text = versionsOf(marked).map(({ line }) => line);
  const isReadIn = (content: string) => hasReadMarks(shown, content, before);
  return { text: text.join(""), at: marked.at, isReadIn };
}

/** Whether somebody who has saved a text has read what git has shown while nobody looked. */
export function hasReadSides(
  { text, disputed, base }: TwoSides,
  content: string,
  before: string,
): boolean {
  const [all, between] = [new Set(plainLines(text)), new Set(plainLines(disputed.join("\n")))];
  return hasReadMarks({ all, disputed: between, base: new Set(plainLines(base)) }, content, before);
}

/**
 * Whether a text has a line that only git's marks have shown, or one that was made of such a line.
 * Of any other line that is new there nobody can say so: it may have been typed into an editor that
 * was opened before.
 */
export function hasReadMarks(
  { all, disputed, base }: Omit<ShownLines, "theirs">,
  text: string,
  before: string,
): boolean {
  const had = new Set([...plainLines(before), ...base]);
  const isNew = (line: string) => hasWord(line) && !had.has(line);
  const saved = plainLines(text).filter(isNew);
  if (saved.some((line) => disputed.has(line))) return true;
  const shown = [...disputed].filter(isNew).map(wordsOf);
  const known = wordsOf([...had].join("\n"));
  const made = saved.filter((line) => !all.has(line)).map(wordsOf);
  return made.some((words) => shown.some((of) => isMadeOfLine(words, of, known)));
}

/**
 * Whether a line has half of the words of another one, and whether of those that the text of before
 * lacks half of either line's are the other's, too: lines of one file are alike by nature. One word
 * of several may be there by chance.
 */
function isMadeOfLine(line: Words, of: Words, known: Words): boolean {
  const unknown = (words: Words) => new Set([...words].filter((word) => !known.has(word)));
  const common = (one: Words, other: Words) => [...one].filter((word) => other.has(word)).length;
  const [fresh, own] = [unknown(line), unknown(of)];
  const met = common(fresh, own);
  const isAlike = 2 * common(line, of) >= of.size && 2 * met >= Math.max(fresh.size, own.size);
  return isAlike && (met > 1 || (met === 1 && own.size === 1));
}

type Words = ReadonlySet<string>;

function wordsOf(text: string): Words {
  return new Set(comparedWords(text));
}
