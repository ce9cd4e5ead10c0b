import { diffLines, hasWord } from "../../../shared/replica/text/line-diff.ts";
import { splitForm } from "../../../shared/replica/text/text-form.ts";
import type { World } from "../../../shared/world.ts";
import { type FileState, fileText } from "../lines/file-state.ts";
import { contentLines, joinLines, linesOf } from "../lines/text-lines.ts";
import type { FileContent } from "./file-edit.ts";

/** A text that may be half written is taken once it has stood unchanged for this long. */
export const UNFINISHED_MS = 5000;
/** And at the latest after this time, since a program may never stop writing. */
export const UNFINISHED_MS_MAX = 60_000;
/** Any text that was saved while nobody looked is taken once it has stood for this long. */
export const FOUND_MS = 1000;
/** A program that writes a text in pieces is seldom silent for this long. */
const BEGINNING_MS = 1000;
/** Whoever replaces this many lines at the end of a text may be writing all of it anew. */
const REPLACED_MIN = 3;

/**
 * Whether a program may still be writing this text in place of the former one: it ends inside a
 * line and the former did not, or the former's end is missing. Less stands in its place, or the
 * greater part of the text is missing with it: a program that writes a text anew, with a new
 * beginning, has written more than is missing long before it is done. Or it has more: the end of
 * the former one.
 */
export function isUnfinished(former: FileState | undefined, { content }: FileContent): boolean {
  // An empty file has a longer wait of its own.
  if (content.trim() === "") return false;
  const before = former ? fileText(former) : "";
  if (former ? isHalfLine(former, { content }) : endsInsideLine(content)) return true;
  if (before !== content && before.startsWith(content)) return true;
  return missingEnd(before, content) > 0 || isUncut(before, content);
}

/**
 * Whether a shorter text may have been written over the former one, whose end is still to be cut
 * off, as Bun writes a file: then there are as many bytes as before, and what is left of a line, or
 * lines that stand a second time. Not where the lines only changed places, or each of those that
 * changed has as many bytes as the one that it replaces. Both are as a file had them, with the line
 * endings that git has made.
 */
export function isUncut(before: string, content: string): boolean {
  if (before === content || bytesOf(before) !== bytesOf(content)) return false;
  // What is left of the former text ends both. A break alone is at the end of every text.
  const end = before.endsWith("\n") ? -2 : -1;
  if (before.slice(end) !== content.slice(end)) return false;
  const [lines, written] = [contentLines(before), contentLines(content)];
  if (lines.toSorted().join("") === written.toSorted().join("")) return false;
  return diffLines(lines, written).some(({ at, removed, from, added }) => {
    const [gone, put] = [lines.slice(at, at + removed), written.slice(from, from + added)];
    return gone.map(bytesOf).join() !== put.map(bytesOf).join();
  });
}

/** Whether a text is the beginning of the next one, written over the one before. */
function isBegunOver(before: string, content: string, next: string): boolean {
  if (next.startsWith(content) || !isUncut(before, content)) return false;
  let [start, end] = [0, 0];
  while (start < content.length && content[start] === next[start]) start++;
  while (end < content.length && content.at(-1 - end) === before.at(-1 - end)) end++;
  return start + end >= content.length;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

/** Whether the text ends inside a line, and the former one did not. */
export function isHalfLine(former: FileState, { content }: Pick<FileContent, "content">): boolean {
  return endsInsideLine(content) && !endsInsideLine(fileText(former));
}

/**
 * What a text that may be half written, and will never be finished, is an edit of: the former one
 * without its missing end. What nobody has written yet deletes nothing.
 */
export function withoutMissingEnd(former: FileState, { content }: FileContent): FileState {
  const missing = missingEnd(fileText(former), content);
  if (missing === 0) return former;
  const { form } = splitForm(content, former.form);
  return { ...former, base: joinLines(linesOf(former.base).slice(0, -missing)), form };
}

/** For how many lines at the end of the former text too little stands in the other. */
function missingEnd(before: string, content: string): number {
  const [lines, written] = [contentLines(before), contentLines(content)];
  const last = diffLines(lines, written).at(-1);
  if (last === undefined || last.at + last.removed < lines.length) return 0;
  // What was moved is written already.
  const gone = lines
    .slice(last.at)
    .filter((line) => hasWord(line) && !written.includes(line)).length;
  if (gone === 0) return 0;
  const isMost = gone >= REPLACED_MIN && 2 * gone > lines.filter(hasWord).length;
  return last.removed > last.added || isMost ? last.removed : 0;
}

/** A text as it was saved. */
type SavedText = Pick<FileContent, "content" | "savedAt">;

/**
 * Those of the texts, oldest first, that say nothing of their own, as the next one shows at once:
 * it only continues one that ends inside a line, unless the file's last line never had an end, or
 * one has only its beginning, and then the rest of the text before. Whoever goes on a while later
 * has saved the text as it was.
 */
export function findBeginnings<Text extends SavedText>(
  texts: readonly Text[],
  last: SavedText | undefined,
  former: FileState | undefined,
): readonly Text[] {
  const shown = former ? fileText(former) : "";
  return texts.filter(({ content, savedAt }, at) => {
    const next = texts[at + 1] ?? last;
    if (next === undefined || Math.abs(next.savedAt - savedAt) >= BEGINNING_MS) return false;
    const before = texts[at - 1]?.content ?? shown;
    if (isBegunOver(before, content, next.content)) return true;
    return endsInsideLine(content) && !endsInsideLine(shown) && next.content.startsWith(content);
  });
}

function endsInsideLine(text: string): boolean {
  return text !== "" && !text.endsWith("\n");
}

/** What a wait for a text depends on. */
export interface UnfinishedOptions {
  readonly world: Pick<World, "monotonic">;
  /** Whether every save since the former text was seen. */
  readonly isWatched?: boolean;
  /** Whether a program has the file open to write, as far as the system tells. */
  readonly isOpen?: () => Promise<boolean>;
  /** Whether a text may be half written. */
  readonly isHalf?: (former: FileState | undefined, file: FileContent) => boolean;
}

/** Measures how long a text that may be half written has stood unchanged. */
export class UnfinishedText {
  readonly #world: Pick<World, "monotonic">;
  readonly #isOpen: () => Promise<boolean>;
  readonly #isHalf: typeof isUnfinished;
  #isWatched: boolean;
  /** By the steady clock. */
  #seen: { readonly hash: string; readonly at: number; readonly first: number } | undefined;

  constructor({ world, isWatched = false, ...ways }: UnfinishedOptions) {
    const { isOpen = async () => false, isHalf = isUnfinished } = ways;
    this.#isHalf = isHalf;
    this.#world = world;
    this.#isWatched = isWatched;
    this.#isOpen = isOpen;
  }

  /** For how many more milliseconds the text is not to be taken. */
  async left(former: FileState | undefined, file: FileContent): Promise<number> {
    const waitMs = file.hash === former?.hash ? 0 : this.#waitMs(former, file);
    if (waitMs === 0) return this.over();
    const now = this.#world.monotonic();
    const { hash, at, first } = this.#seen ?? { hash: "", at: now, first: now };
    const since = hash === file.hash ? at : now;
    const lastMs = first + UNFINISHED_MS_MAX - now;
    this.#seen = { hash: file.hash, at: since, first };
    const leftMs = Math.min(since + waitMs - now, lastMs);
    if (leftMs > 0) return leftMs;
    if (lastMs <= 0 || !(await this.#isOpen())) return this.over();
    this.#seen = { hash: file.hash, at: now, first };
    return Math.min(waitMs, lastMs);
  }

  /** The text is whole. */
  over(): 0 {
    this.#isWatched = true;
    this.forget();
    return 0;
  }

  /** There is no such text now: the next one is another, and has a minute of its own. */
  forget(): void {
    this.#seen = undefined;
  }

  #waitMs(former: FileState | undefined, file: FileContent): number {
    if (this.#isHalf(former, file)) return UNFINISHED_MS;
    return former && !this.#isWatched ? FOUND_MS : 0;
  }
}
