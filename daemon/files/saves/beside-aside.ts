import type { TextConflictRecord } from "../../../shared/replica/conflicts/text-conflict-record.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { commonLines, hasWord } from "../../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import { withoutMark } from "../../../shared/replica/text/text-form.ts";
import { linesBehind, onlyRunOf } from "../lines/document-lines.ts";
import { SpanSet } from "../lines/span-set.ts";
import { type CapturedLine, joinLines, linesOf, splitLines } from "../lines/text-lines.ts";

/** A save with the lines that git has set aside, at the place where the document has them. */
export interface SaveBesideAside {
  readonly base: CapturedText;
  readonly lines: string;
  /** Which of the lines the file has not, by index. */
  readonly added: ReadonlySet<number>;
}

/**
 * What git put in the place of lines that it set aside stands in the file alone, and the document
 * has those lines there. As long as the save leaves that be, both are one place about which there
 * is a conflict already: what is written below it comes below it, and is no version of it. So such
 * a save is read as one of a text that has the lines that were set aside as well. Whoever types
 * some of these again, above or below, wants them back: then the save has them itself.
 */
export function besideAside(
  open: OpenDocument,
  {
    base,
    lines,
    aside,
  }: {
    readonly base: CapturedText;
    readonly lines: string;
    readonly aside: readonly TextConflictRecord[];
  },
): SaveBesideAside {
  const none = { base, lines, added: new Set<number>() };
  if (aside.length === 0) return none;
  const [own, saved] = [linesOf(base), splitLines(lines)];
  const stays = new Map(commonLines(own.map(shown), saved.map(withoutMark)));
  const known = new Set(stays.values());
  const before = new Map<number, CapturedLine[]>();
  const missing = new Map<number, CapturedLine[]>();
  for (const [at, more] of linesInPlaceOf(open, base, aside)) {
    const put = stays.get(at);
    if (put === undefined) continue;
    const placed = placeBeside(more, saved, { put, isNew: (nth) => !known.has(nth) });
    for (const { line, isBelow, next } of placed) {
      addTo(before, isBelow ? at + 1 : at, line);
      if (next !== undefined) addTo(missing, next, line);
    }
  }
  if (before.size === 0) return none;
  return {
    base: joinLines(withMore(own, before).map(([line]) => line)),
    ...withTexts(saved, missing),
  };
}

/** By the line of the base that git put there: all lines that it set aside before that. */
function linesInPlaceOf(
  open: OpenDocument,
  base: CapturedText,
  aside: readonly TextConflictRecord[],
): (readonly [number, readonly CapturedLine[]])[] {
  const own = linesOf(base);
  const all = linesOf(open.document.captureText());
  const known = new SpanSet(base.spans);
  const isBeside = all.map(({ spans }) => !known.hasAny(spans));
  const isPut = (at: number, put: ReadonlySet<string>) => {
    const next = own[at];
    return next && isNobodys(next) && put.has(shown(next)) && hasWord(shown(next));
  };
  const wanted = new Set<CapturedLine>();
  for (const { versions } of aside) {
    const stood = versions.find(({ isStanding }) => isStanding);
    const put = new Set(versions.flatMap((each) => (each === stood ? [] : splitLines(each.text))));
    const runs = stood?.places.map(({ text }) => onlyRunOf(all, isBeside, splitLines(text))) ?? [];
    const meant = new Set(runs.flatMap((run) => run ?? []));
    for (const [at, more] of linesBehind(own, all, meant).entries()) {
      if (isPut(at, put)) for (const line of more) wanted.add(line);
    }
  }
  const meant = new Set(all.flatMap((line, at) => (wanted.has(line) ? [at] : [])));
  const behind = linesBehind(own, all, meant);
  return [...behind.entries()].filter(([, more]) => more.length > 0);
}

/** A line that git set aside, and where the save says it. */
interface PlacedBeside {
  readonly line: CapturedLine;
  readonly isBelow: boolean;
  /** The save does not say it: it belongs right before this one of its lines. */
  readonly next: number | undefined;
}

/**
 * Which of the lines the save says again right beside what git put there, and where the others
 * belong: all above it, but for those from the first on that was typed below.
 */
function placeBeside(
  lines: readonly CapturedLine[],
  saved: readonly string[],
  { put, isNew }: { readonly put: number; readonly isNew: (nth: number) => boolean },
): PlacedBeside[] {
  let [first, end] = [put, put + 1];
  while (first > 0 && isNew(first - 1)) first--;
  while (end < saved.length && isNew(end)) end++;
  const texts = lines.map(shown);
  const above = typedAgain(texts, saved, { after: -1, from: first, end: put });
  const after = Math.max(-1, ...above.keys());
  const below = typedAgain(texts, saved, { after, from: put + 1, end });
  const split = Math.min(texts.length, ...below.keys());
  const isBelow = (nth: number) => nth >= split;
  let next = Math.max(put, ...below.values()) + 1;
  const placed = lines.toReversed().map((line, back): PlacedBeside => {
    const nth = lines.length - 1 - back;
    if (nth === split - 1) next = put;
    const typed = (isBelow(nth) ? below : above).get(nth);
    next = typed ?? next;
    return { line, isBelow: isBelow(nth), next: typed === undefined ? next : undefined };
  });
  return placed.reverse();
}

/** Which of the texts behind `after` the save has in this stretch, in order, and where. */
function typedAgain(
  texts: readonly string[],
  saved: readonly string[],
  { after, from, end }: { readonly after: number; readonly from: number; readonly end: number },
): ReadonlyMap<number, number> {
  const stretch = saved.slice(from, end).map(withoutMark);
  const common = commonLines(texts.slice(after + 1), stretch);
  const found = common.map(([text, at]) => [after + 1 + text, from + at] as const);
  return new Map(found.some(([nth]) => hasWord(texts[nth] as string)) ? found : []);
}

function addTo<Item>(lists: Map<number, Item[]>, at: number, item: Item): void {
  const list = lists.get(at);
  if (list) list.push(item);
  else lists.set(at, [item]);
}

/** Lines with more of them before those of some indices, and whether each is one of these. */
function withMore<Line>(
  lines: readonly Line[],
  before: ReadonlyMap<number, readonly Line[]>,
): (readonly [Line, boolean])[] {
  const added = (at: number) => (before.get(at) ?? []).map((line) => [line, true] as const);
  const all = lines.flatMap((line, at) => [...added(at), [line, false] as const]);
  return [...all, ...added(lines.length)];
}

function withTexts(
  saved: readonly string[],
  missing: ReadonlyMap<number, readonly CapturedLine[]>,
): Pick<SaveBesideAside, "lines" | "added"> {
  const texts = new Map([...missing].map(([at, more]) => [at, more.map(({ text }) => text)]));
  const all = withMore(saved, texts);
  return {
    lines: all.map(([line]) => line).join(""),
    added: new Set(all.flatMap(([, isAdded], at) => (isAdded ? [at] : []))),
  };
}

function isNobodys({ spans }: CapturedLine): boolean {
  return spans.every(({ client }) => client === null);
}

function shown({ text }: CapturedLine): string {
  return withoutMark(text);
}
