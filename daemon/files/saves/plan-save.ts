import type { NewTextConflict } from "../../../shared/replica/conflicts/text-conflict-record.ts";
import type { Author } from "../../../shared/replica/document/author.ts";
import { findCodeBlocks, isFence } from "../../../shared/replica/text/code-blocks.ts";
import { diffLines, hasWord, type LineHunk } from "../../../shared/replica/text/line-diff.ts";
import { isTelling } from "../../../shared/replica/text/neighbour-lines.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import { withoutMark } from "../../../shared/replica/text/text-form.ts";
import type { TextSpan } from "../../../shared/replica/text/text-spans.ts";
import type { Arrival } from "../arrivals/arrivals.ts";
import {
  codeLinesIn,
  indicesFrom,
  isBlank,
  isCodeEdge,
  RunFinder,
  runsOf,
} from "../lines/line-runs.ts";
import { findMended } from "../lines/mended-returns.ts";
import { SpanSet } from "../lines/span-set.ts";
import { type CapturedLine, joinLines, linesOf, splitLines } from "../lines/text-lines.ts";
import type { Hunk } from "./decided-save.ts";
import { saveHunks } from "./save-hunks.ts";
import { conflictsOf, nothingUndone, type Undone } from "./undone-conflicts.ts";

/** What decides the meaning of a save. */
export interface SaveFacts {
  /** The text that the file had last, or the one that git says the save was made from. */
  readonly base: CapturedText;
  /** The document's text now. */
  readonly live: CapturedText;
  /** The saved lines. */
  readonly lines: string;
  /**
   * Changes that came into the file shortly before the save, so that its author may not have seen
   * them.
   */
  readonly unseen: readonly Arrival[];
  /** This machine. */
  readonly author: Author;
  /** When it was saved, in milliseconds since the Unix epoch. */
  readonly savedAt: number;
  /**
   * git brought this text with commits. Lines of it that the document has already are the same
   * lines.
   */
  readonly isPulled: boolean;
}

/** The meaning of a save. */
export interface SavePlan {
  /** The text that the save is an edit of. Lines that are not in it stay as they are. */
  readonly base: CapturedText;
  /** The text after the edit. */
  readonly lines: string;
  /** Indices of saved lines that are not inserted, because others moved or brought them. */
  readonly leftOut: ReadonlySet<number>;
  /** Saved lines that the save moved, by index. They stay as new as they were. */
  readonly moved: ReadonlyMap<number, Arrival>;
  readonly conflicts: readonly NewTextConflict[];
  /** Which of the base's lines became which; undefined where that is to be found. */
  readonly hunks?: readonly LineHunk[] | undefined;
}

/**
 * Decides what a save of a followed file means. Normally it is an edit of the text that the file
 * had last: additions are inserted, removals removed, moved lines moved.
 *
 * A save that undoes what others changed in this file within `UNSEEN_MS` may be intended, or may
 * come from an editor that has not seen the change. The text can't tell which, because two machines
 * may write the same line. So the text of both sides stays, and a conflict is recorded:
 *
 * - Lines that others brought and that the save lacks stay.
 * - Lines that others removed and that the save has return.
 * - Lines that others moved, and that the save has at their former place, stay where others put
 *   them. So do those over which others moved some, if the save lacks all of them.
 * - Lines that others brought together, and that the save has elsewhere without exception, are
 *   moved.
 *
 * ```
 * const facts = { base, live, unseen: [], author, savedAt, isPulled: false };
 * planSave({ ...facts, lines: "a\nc\n" }); // as `plainEdit(base, "a\nc\n")`: nothing is unseen
 * ```
 */
export function planSave(facts: SaveFacts): SavePlan {
  return new Planner(facts).plan();
}

/** The meaning of a save that undoes nothing unseen. */
export function plainEdit(base: CapturedText, lines: string): SavePlan {
  return { base, lines, leftOut: new Set(), moved: new Map(), conflicts: [] };
}

/** A change by others that the save's author may not have seen. */
interface Unseen {
  readonly arrival: Arrival;
  readonly brought: SpanSet;
  readonly moved: ReadonlySet<string>;
}

class Planner {
  readonly #facts: SaveFacts;
  readonly #unseen: readonly Unseen[];
  readonly #before: readonly CapturedLine[];
  readonly #saved: readonly string[];
  /** The lines of the base and of the save without their line ends. */
  readonly #shown: readonly string[];
  readonly #after: readonly string[];
  /** The change that brought each line of the base. */
  readonly #broughtBy: readonly (Unseen | undefined)[];
  /** Indices of the base's lines inside blocks of code. */
  readonly #code: ReadonlySet<number>;
  readonly #hunks: readonly Hunk[];
  /** The added lines that are not blank, by their text. */
  readonly #added: RunFinder<number>;
  /** Those of them outside of blocks of code. */
  readonly #loose: RunFinder<number>;
  /** Indices of added lines about which nothing is decided yet. */
  readonly #open = new Set<number>();
  readonly #leftOut = new Set<number>();
  readonly #moved = new Map<number, Arrival>();
  /** Lines of the document that a former save left out and that the file does not show yet. */
  readonly #joined: CapturedLine[] = [];
  readonly #undone = new Map<Arrival, Undone>();

  constructor(facts: SaveFacts) {
    this.#facts = facts;
    this.#before = linesOf(facts.base);
    this.#saved = splitLines(facts.lines);
    this.#shown = this.#before.map(({ text }) => withoutMark(text));
    this.#after = this.#saved.map(withoutMark);
    this.#unseen = facts.unseen.map((arrival) => {
      const brought = [...arrival.brought, ...this.#lackingOf(arrival)];
      return { arrival, brought: new SpanSet(brought), moved: new Set(arrival.moved) };
    });
    this.#broughtBy = this.#before.map(({ spans }) => this.#bringerOf(spans));
    this.#code = codeLinesIn(this.#shown);
    const hunks = saveHunks(this.#shown, this.#after, (at) => this.#broughtBy[at] !== undefined);
    this.#hunks = hunks.map((hunk) => ({ ...hunk, kept: [] }));
    const added = hunks.map((hunk) => indicesFrom(hunk.from, hunk.added));
    for (const at of added.flat()) this.#open.add(at);
    const textOf = (at: number) => this.#after[at] as string;
    const withText = added.map((all) => all.filter((at) => !isBlank(textOf(at))));
    this.#added = new RunFinder(withText, textOf);
    const code = codeLinesIn(this.#after);
    const loose = withText.map((all) => all.filter((at) => !code.has(at)));
    this.#loose = new RunFinder(loose, textOf);
  }

  plan(): SavePlan {
    if (this.#facts.isPulled) this.#leaveOutShown();
    if (this.#facts.unseen.length > 0) {
      for (const hunk of this.#hunks) this.#judgeRemoved(hunk);
      for (const block of findCodeBlocks(this.#shown)) this.#keepBlock(block);
      this.#joinUnshown();
      this.#judgeAdded();
      for (const hunk of this.#hunks) this.#judgeBlank(hunk);
      this.#noteEndings();
    }
    this.#leaveOutBlank();
    const kept = new Set(this.#hunks.flatMap((hunk) => hunk.kept));
    const base = this.#before.filter((_, at) => !kept.has(at));
    return {
      base: joinLines([...base, ...this.#joined]),
      lines: this.#saved.filter((_, at) => !this.#leftOut.has(at)).join(""),
      leftOut: this.#leftOut,
      moved: this.#moved,
      conflicts: this.#conflicts(),
      hunks: this.#hunksOfPlan(base.length),
    };
  }

  /** The hunks, without the lines that stay and those that are not inserted. */
  #hunksOfPlan(count: number): LineHunk[] {
    const hunks: LineHunk[] = [];
    let [stay, out] = [0, 0];
    for (const { at, removed, from, added, kept, inPlace = false } of this.#hunks) {
      const left = indicesFrom(from, added).filter((each) => this.#leftOut.has(each)).length;
      const hunk = { removed: removed - kept.length, added: added - left, inPlace };
      if (hunk.removed + hunk.added > 0) hunks.push({ ...hunk, at: at - stay, from: from - out });
      stay += kept.length;
      out += left;
    }
    const [joined, end] = [this.#joined.length, this.#saved.length - out];
    const last = hunks.at(-1);
    if (joined === 0) return hunks;
    // What goes in the place of its last line would go to where the joined lines are.
    if (last && !last.inPlace && last.at + last.removed === count)
      return [...hunks.slice(0, -1), { ...last, removed: last.removed + joined }];
    return [...hunks, { at: count, removed: joined, from: end, added: 0 }];
  }

  #conflicts(): NewTextConflict[] {
    const save = {
      author: this.#facts.author,
      savedAt: this.#facts.savedAt,
      shown: this.#shown,
      after: this.#after,
      hunks: this.#hunks,
      leftOut: this.#leftOut,
      moved: this.#moved,
      returned: new Set([...this.#undone.values()].flatMap(wholeReturns)),
      bringerOf: (at: number) => this.#broughtBy[at]?.arrival,
    };
    return [...this.#undone].flatMap(([arrival, undone]) => conflictsOf(save, arrival, undone));
  }

  /** Lines by others that are not blank are moved together, or stay. */
  #judgeRemoved(hunk: Hunk): void {
    const indices = indicesFrom(hunk.at, hunk.removed).filter((at) => !isBlank(this.#textAt(at)));
    for (const { key, indices: run } of runsOf(indices, (at) => this.#broughtBy[at])) {
      const { arrival, moved } = key;
      const twins = this.#twinsOf(run.map((at) => this.#textAt(at)));
      const undone = this.#undoneOf(arrival);
      if (!twins) {
        hunk.kept.push(...run);
        const left = this.#notElsewhere(run, moved, undone);
        undone.kept.push(...left);
        if (left.length > 0) undone.hunks.add(hunk);
      } else if (run.every((at) => moved.has(this.#textAt(at)))) {
        hunk.kept.push(...run);
        undone.putByOthers.stands.push(...run);
        undone.putByOthers.wanted.push(...twins);
        for (const at of twins) this.#leftOut.add(at);
      } else {
        undone.shifted.from.push(...run);
        undone.shifted.to.push(...twins);
        for (const at of twins) this.#moved.set(at, arrival);
      }
    }
  }

  /**
   * The lines of a block that the save lacks, if it has the rest elsewhere. The rest stays where
   * others put it; but lines of code stay with their block.
   */
  #notElsewhere(run: readonly number[], moved: ReadonlySet<string>, undone: Undone): number[] {
    return run.filter((at) => {
      const text = this.#textAt(at);
      const isLoose = hasWord(text) && !this.#code.has(at);
      const [twin] =
        (moved.has(text) && this.#twinsOf([text])) ||
        (isLoose && this.#twinsOf([text], this.#loose)) ||
        [];
      if (twin === undefined) return true;
      undone.putByOthers.stands.push(at);
      undone.putByOthers.wanted.push(twin);
      this.#leftOut.add(twin);
      return false;
    });
  }

  /**
   * What stays of a block of code stays in it: with the lines that begin and end it, if the save
   * has no others in their place. If just one of these would stay, all of the block does.
   */
  #keepBlock([from, to]: readonly [number, number]): void {
    const all = indicesFrom(from, to - from);
    const hunkOf = (at: number) => this.#hunks.find((hunk) => isWithin(hunk, at));
    const stays = all.filter((at) => hunkOf(at)?.kept.includes(at));
    const bringer = this.#broughtBy[stays[0] ?? -1];
    if (!bringer) return;
    const isGone = (at: number) => {
      const hunk = hunkOf(at);
      return hunk !== undefined && !hunk.kept.includes(at) && !this.#hasEdge(hunk);
    };
    const edges = [from, to - 1].filter(isGone);
    const isInside = (at: number) => at > from && at < to - 1;
    const isEmpty = edges.length > 0 && all.filter(isInside).every(isGone);
    const undone = this.#undoneOf(bringer.arrival);
    for (const at of isEmpty ? all.filter(isGone) : edges) {
      const hunk = hunkOf(at);
      if (!hunk) continue;
      hunk.kept.push(at);
      undone.kept.push(at);
      undone.hunks.add(hunk);
    }
  }

  #hasEdge({ from, added }: Hunk): boolean {
    return this.#after.slice(from, from + added).some(isFence);
  }

  /** A run of added lines with the same texts, not split. */
  #twinsOf(
    texts: readonly string[],
    among: RunFinder<number> = this.#added,
  ): readonly number[] | undefined {
    if (texts.every(isCodeEdge)) return undefined;
    const found = among.find(texts, (at) => this.#open.has(at));
    for (const at of found ?? []) this.#open.delete(at);
    return found;
  }

  /** A line that one save left out and that this one has elsewhere was cut and pasted. */
  #joinUnshown(): void {
    for (const { key, lines } of this.#unshownRuns((spans) => this.#bringerOf(spans))) {
      const twins = this.#twinsOf(lines.map(({ text }) => withoutMark(text)));
      if (!twins) continue;
      for (const at of twins) this.#moved.set(at, key.arrival);
      this.#joined.push(...lines);
    }
  }

  /**
   * A line that git brings, and that the document has at the same place beyond the file, is the
   * same line. An equal line elsewhere is a different one.
   */
  #leaveOutShown(): void {
    const live = linesOf(this.#facts.live).filter(({ text }) => !isBlank(text));
    const liveAt = new Map(live.map((line, at) => [line.spans, at]));
    const textOf = (line: CapturedLine | undefined) => (line ? withoutMark(line.text) : "");
    const groups = this.#unshownRuns(() => ANYBODY).map(({ lines }) => lines);
    const shown = new RunFinder(groups, ({ text }) => withoutMark(text));
    const saved = indicesFrom(0, this.#after.length).filter((at) => !isBlank(this.#textAfter(at)));
    const used = new Set<CapturedLine["spans"]>();
    for (const { from, added } of this.#hunks) {
      const lines = saved.filter((at) => at >= from && at < from + added);
      if (lines.length === 0) continue;
      const texts = lines.map((at) => this.#textAfter(at));
      const before = this.#textAfter(saved[saved.indexOf(lines[0] as number) - 1] ?? -1);
      const after = this.#textAfter(saved[saved.indexOf(lines.at(-1) as number) + 1] ?? -1);
      const twins = shown.findWhere(texts, (run) => {
        if (run.some(({ spans }) => used.has(spans))) return false;
        const [first, last] = [run[0], run.at(-1)].map((line) => line && liveAt.get(line.spans));
        if (first === undefined || last === undefined) return false;
        const [above, below] = [textOf(live[first - 1]), textOf(live[last + 1])];
        return above === before || below === after;
      });
      for (const { spans } of twins ?? []) used.add(spans);
      for (const at of twins ? lines : []) {
        this.#leftOut.add(at);
        this.#open.delete(at);
      }
    }
  }

  /** The document's lines, not blank, that the file does not show, grouped into runs. */
  #unshownRuns<Key>(keyOf: (spans: CapturedLine["spans"]) => Key | undefined) {
    const live = linesOf(this.#facts.live).filter(({ text }) => !isBlank(text));
    const shown = new SpanSet(this.#facts.base.spans);
    const keys = live.map(({ spans }) => (shown.hasAny(spans) ? undefined : keyOf(spans)));
    const all = indicesFrom(0, live.length);
    return runsOf(all, (at) => keys[at]).map(({ key, indices }) => {
      return { key, lines: indices.map((at) => live[at] as CapturedLine) };
    });
  }

  /** What others took out returns, as it was or mended. */
  #judgeAdded(): void {
    const left = this.#facts.unseen.map((arrival) => {
      const taken = new Map<string, number>();
      for (const text of arrival.taken) taken.set(text, (taken.get(text) ?? 0) + 1);
      for (const at of this.#open) {
        const text = this.#after[at] as string;
        const count = taken.get(text) ?? 0;
        if (count === 0 || isCodeEdge(text)) continue;
        taken.set(text, count - 1);
        this.#open.delete(at);
        this.#undoneOf(arrival).returned.push(at);
      }
      return { arrival, taken: [...taken].flatMap(([text, count]) => (count > 0 ? [text] : [])) };
    });
    const edit = { shown: this.#shown, after: this.#after, hunks: this.#hunks };
    for (const { arrival, taken } of left) {
      const brought = this.#shown.filter((_, at) => this.#broughtBy[at]?.arrival === arrival);
      for (const { at, joinedTo } of findMended(edit, taken, brought)) {
        if (!this.#open.delete(at)) continue;
        const undone = this.#undoneOf(arrival);
        undone.returned.push(at);
        undone.mended.add(at);
        if (joinedTo !== undefined) undone.joinedTo.set(at, joinedTo);
      }
    }
  }

  /**
   * A line that only gets a CR before its break has new characters, but is no newer than before.
   */
  #noteEndings(): void {
    let [at, from] = [0, 0];
    for (const hunk of [...this.#hunks, { at: this.#before.length, removed: 0, added: 0 }]) {
      for (; at < hunk.at; at++, from++) {
        const arrival = this.#broughtBy[at]?.arrival;
        const isLonger = (this.#saved[from]?.length ?? 0) > (this.#before[at]?.text.length ?? 0);
        if (arrival && isLonger) this.#moved.set(from, arrival);
      }
      at += hunk.removed;
      from += hunk.added;
    }
  }

  /**
   * Blank lines that others brought stay with the lines around them. So do blank lines that
   * separate lines that stay, where the save has something else in their place.
   */
  #judgeBlank({ at: first, removed, added, kept }: Hunk): void {
    if (kept.length === 0) return;
    const stays = new Set(kept);
    let isBeside = false;
    for (let at = first; at < first + removed; at++) {
      if (!isBlank(this.#textAt(at)) || stays.has(at)) isBeside = stays.has(at);
      else if (this.#broughtBy[at]) kept.push(at);
      else if (added > 0 && (isBeside || this.#partsKept(at, first + removed, stays)))
        kept.push(at);
    }
    kept.sort((one, other) => one - other);
  }

  /** Whether the next line that is not blank stays. */
  #partsKept(at: number, end: number, stays: ReadonlySet<number>): boolean {
    let next = at;
    while (next < end && isBlank(this.#textAt(next))) next++;
    return stays.has(next);
  }

  /** Blank lines beside lines that are not inserted are not inserted either. */
  #leaveOutBlank(): void {
    for (const { from, added } of this.#hunks) {
      const all = indicesFrom(from, added);
      const texts = all.filter((at) => !isBlank(this.#after[at] as string));
      if (texts.length === 0 || texts.some((at) => !this.#leftOut.has(at))) continue;
      for (const at of all) this.#leftOut.add(at);
    }
  }

  /** What others have perhaps moved, where the save lacks all of it: then it counts as moved. */
  #lackingOf({ crossed = [] }: Arrival): TextSpan[] {
    if (crossed.length === 0) return [];
    // What the save has something in the place of was written anew, and not left out.
    const gone = new Set(
      diffLines(this.#shown, this.#after).flatMap(({ at, removed, from, added }) => {
        const isMended = this.#after.slice(from, from + added).some(isTelling);
        return isMended ? [] : indicesFrom(at, removed);
      }),
    );
    return crossed.flatMap((spans) => {
      const own = new SpanSet(spans);
      const isOwn = (at: number) => own.hasAny(this.#before[at]?.spans ?? []);
      const said = indicesFrom(0, this.#before.length).filter((at) => {
        return isTelling(this.#textAt(at)) && isOwn(at);
      });
      return said.every((at) => gone.has(at)) ? spans : [];
    });
  }

  #undoneOf(arrival: Arrival): Undone {
    const known = this.#undone.get(arrival);
    if (known) return known;
    const fresh = nothingUndone();
    this.#undone.set(arrival, fresh);
    return fresh;
  }

  #textAfter(at: number): string {
    return this.#after[at] ?? "";
  }

  #textAt(at: number): string {
    return this.#shown[at] as string;
  }

  #bringerOf(spans: CapturedLine["spans"]): Unseen | undefined {
    return this.#unseen.find(({ brought }) => brought.hasAny(spans));
  }
}

function isWithin({ at: first, removed }: LineHunk, at: number): boolean {
  return first <= at && at < first + removed;
}

/** What a save mended is its own. */
function wholeReturns({ returned, mended }: Undone): number[] {
  return returned.filter((at) => !mended.has(at));
}

/** Stands for any author. */
const ANYBODY = {};
