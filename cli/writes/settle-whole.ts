import type {
  PlacedLines,
  TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { findWholePlace, wholePlacesOf } from "../../shared/replica/conflicts/whole-place.ts";
import { headingsIn } from "../../shared/replica/text/headings.ts";
import { commonLines } from "../../shared/replica/text/line-diff.ts";
import { isTelling } from "../../shared/replica/text/neighbour-lines.ts";
import { joinForm, plainLines, withoutMark } from "../../shared/replica/text/text-form.ts";
import { openContent } from "./put-back.ts";

/**
 * The text after a choice, in two steps; or a line that stands instead of what goes, or one that
 * somebody has put elsewhere.
 */
export type SettledWhole =
  | { readonly without: string; readonly content: string }
  | { readonly changed: string }
  | { readonly carried: string };

/**
 * The text with one of two versions in the places of all that stands there of both, and without
 * either; what somebody else put among them stays. A line of the wanted version that somebody has
 * changed since stays as they have it; where that was one of the other version, nobody can say
 * whether it goes. Undefined where a place is not found.
 */
export function settleWhole(
  content: string,
  [wanted, other]: readonly [TextVersion, TextVersion],
): SettledWhole | undefined {
  const [places, others] = [wholePlacesOf(wanted), wholePlacesOf(other)];
  if (places.length === 0 || places.length !== others.length) return undefined;
  const open = openContent(content);
  let [without, settled]: (readonly string[])[] = [open.lines, open.lines];
  for (const [nth, place] of [...places.entries()].reverse()) {
    const pair = { place, other: others[nth] ?? place };
    const emptied = settleOne(without ?? [], { ...pair, isEmptied: true });
    const put = settleOne(settled ?? [], { ...pair, isEmptied: false });
    if (!emptied || !put) return undefined;
    if (!("lines" in put)) return put;
    if (!("lines" in emptied)) return emptied;
    [without, settled] = [emptied.lines, put.lines];
  }
  const joined = (lines: readonly string[] = []) => joinForm(lines.join(""), open.form);
  return { without: joined(without), content: joined(settled) };
}

/** The lines of a text, each with its break, with the wanted version in one place, or with none. */
function settleOne(
  lines: readonly string[],
  {
    place,
    other,
    isEmptied,
  }: { readonly place: PlacedLines; readonly other: PlacedLines; readonly isEmptied: boolean },
): Exclude<SettledWhole, { content: string }> | { readonly lines: readonly string[] } | undefined {
  const shown = lines.map((line) => withoutMark(line).replace(/\n$/, ""));
  const range = findWholePlace(shown, [place, other]);
  if (!range) return undefined;
  const [from, to] = range;
  const there = shown.slice(from, to);
  const own = new Set([place, other].flatMap(({ text }) => plainLines(text)));
  const stranger = there.find((line) => isSaid(line) && !own.has(line));
  if (stranger !== undefined && changedSince(other, there).size > 0) return { changed: stranger };
  const carried = [place, other].map((each) => carriedAway(each, shown, there));
  const away = carried.find((line) => line !== undefined);
  if (away !== undefined) return { carried: away };
  const put = isEmptied ? [] : withChanged(place, there, own);
  const isLast = to === shown.length || headingsIn(shown).has(to);
  const all = woven(put, there, { own, isLast });
  const said = all.slice(Math.max(0, all.findIndex(isSaid)), all.findLastIndex(isSaid) + 1);
  // At an end with lines of others, the blank lines there belong to those.
  const { before = 0, after = 0 } = place;
  const last = said.at(-1) === put.at(-1) ? after : to - from - there.findLastIndex(isSaid) - 1;
  const spliced = [...blanks(said[0] === put[0] ? before : 0), ...said, ...blanks(last)];
  return { lines: lines.toSpliced(from, to - from, ...spliced.map((line) => `${line}\n`)) };
}

/**
 * The lines of a version, without those that somebody has changed since; in their place what stands
 * instead, where that is clear. That counts as the version's own from then on.
 */
function withChanged(
  place: PlacedLines,
  there: readonly string[],
  own: Set<string>,
): readonly string[] {
  const lines = plainLines(place.text);
  const strangers = indicesWhere(there, (line) => isSaid(line) && !own.has(line));
  if (strangers.length === 0) return lines;
  const since = [...changedSince(place, there)];
  const isRun = (all: readonly number[]) => (all.at(-1) ?? 0) - (all[0] ?? 0) === all.length - 1;
  if (since.length === 0 || !isRun(since) || !isRun(strangers)) {
    return lines.filter((_, at) => !since.includes(at));
  }
  const instead = strangers.map((at) => there[at] ?? "");
  for (const line of instead) own.add(line);
  return lines.toSpliced(since[0] ?? 0, since.length, ...instead);
}

/** Which lines of a version stood when it was recorded, and do not stand any more. */
function changedSince({ text, gone = [] }: PlacedLines, there: readonly string[]): Set<number> {
  const [out, stands] = [new Set(gone), new Set(there)];
  const lines = plainLines(text);
  return new Set(
    lines.flatMap((line, at) => (isSaid(line) && !out.has(at) && !stands.has(line) ? [at] : [])),
  );
}

/** A line that stood when the conflict was recorded, and that somebody has put elsewhere since. */
function carriedAway(place: PlacedLines, shown: readonly string[], there: readonly string[]) {
  const lines = plainLines(place.text);
  const since = [...changedSince(place, there)].map((at) => lines[at] ?? "");
  return since.find((line) => isTelling(line) && shown.includes(line));
}

/**
 * The wanted lines, with those of others that stand among them: those before all of them ahead,
 * the rest behind the line that each is behind. A section of others goes behind them all, or ahead
 * of them where they are not the last of theirs.
 */
function woven(
  wanted: readonly string[],
  there: readonly string[],
  { own, isLast }: { readonly own: ReadonlySet<string>; readonly isLast: boolean },
): string[] {
  const strangers = (from: number, to: number) => {
    const rest = withoutOwn(there.slice(from, to), own);
    return rest.some(isSaid) ? rest : [];
  };
  const [said, stands] = [indicesWhere(wanted, isSaid), indicesWhere(there, isSaid)];
  const pairs = commonLines(
    said.map((at) => wanted[at] ?? ""),
    stands.map((at) => there[at] ?? ""),
  ).map(([one, other]) => [said[one] ?? 0, stands[other] ?? 0] as const);
  const [first] = pairs;
  if (!first) return [...wanted, ...strangers(0, there.length)];
  const lines = [...strangers(0, first[1]), ...wanted.slice(0, first[0])];
  const sections: string[] = [];
  for (const [nth, [at, index]] of pairs.entries()) {
    const next = pairs[nth + 1];
    const rest = strangers(index + 1, next?.[1] ?? there.length);
    // The blank lines between these and what comes next belong to the version.
    const among = rest.slice(0, rest.findLastIndex(isSaid) + 1);
    lines.push(...wanted.slice(at, next?.[0]));
    (headingsIn(among).size > 0 ? sections : lines).push(...among);
  }
  if (sections.length === 0) return lines;
  return isLast ? [...lines, "", ...sections] : [...sections, "", ...lines];
}

/** What goes has blank lines on both sides; those on one side are enough. */
function withoutOwn(lines: readonly string[], own: ReadonlySet<string>): string[] {
  const left: string[] = [];
  let enough = 0;
  for (const line of lines) {
    const isOwn = isSaid(line) && own.has(line);
    if (isOwn) enough = left.length - 1 - left.findLastIndex(isSaid);
    else if (isSaid(line) || enough === 0) left.push(line);
    else enough--;
    if (isSaid(line) && !isOwn) enough = 0;
  }
  return left;
}

function isSaid(line: string): boolean {
  return line.trim() !== "";
}

function blanks(count: number): string[] {
  return Array<string>(count).fill("");
}

function indicesWhere(lines: readonly string[], is: (line: string) => boolean): number[] {
  return lines.flatMap((line, at) => (is(line) ? [at] : []));
}
