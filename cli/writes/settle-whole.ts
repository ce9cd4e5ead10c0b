import type {
  PlacedLines,
  TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { findWholePlace, wholePlacesOf } from "../../shared/replica/conflicts/whole-place.ts";
import { isHeading } from "../../shared/replica/text/code-blocks.ts";
import { commonLines } from "../../shared/replica/text/line-diff.ts";
import { joinForm, plainLines, withoutMark } from "../../shared/replica/text/text-form.ts";
import { openContent } from "./put-back.ts";

/**
 * The text with one of two versions in the places of all that stands there of both, and without
 * either; what somebody else put among them stays. Undefined where a place is not found.
 */
export function settleWhole(
  content: string,
  [wanted, other]: readonly [TextVersion, TextVersion],
): { readonly without: string; readonly content: string } | undefined {
  const [places, others] = [wholePlacesOf(wanted), wholePlacesOf(other)];
  if (places.length === 0 || places.length !== others.length) return undefined;
  const open = openContent(content);
  const settled: { without: readonly string[]; with: readonly string[] } = {
    without: open.lines,
    with: open.lines,
  };
  for (const [nth, place] of [...places.entries()].reverse()) {
    for (const which of ["without", "with"] as const) {
      const put = which === "with" ? plainLines(place.text) : [];
      const after = settleOne(settled[which], { place, other: others[nth] ?? place, put });
      if (!after) return undefined;
      settled[which] = after;
    }
  }
  const joined = (lines: readonly string[]) => joinForm(lines.join(""), open.form);
  return { without: joined(settled.without), content: joined(settled.with) };
}

/** The lines of a text, each with its break, with `put` in one place. */
function settleOne(
  lines: readonly string[],
  {
    place,
    other,
    put,
  }: { readonly place: PlacedLines; readonly other: PlacedLines; readonly put: readonly string[] },
): readonly string[] | undefined {
  const shown = lines.map((line) => withoutMark(line).replace(/\n$/, ""));
  const range = findWholePlace(shown, [place, other]);
  if (!range) return undefined;
  const [from, to] = range;
  const own = new Set([place, other].flatMap(({ text }) => plainLines(text)));
  const all = woven(put, shown.slice(from, to), own);
  const said = all.slice(Math.max(0, all.findIndex(isSaid)), all.findLastIndex(isSaid) + 1);
  // At an end where lines of others stand, the blank lines there are theirs.
  const { before = 0, after = 0 } = place;
  const there = shown.slice(from, to);
  const last = said.at(-1) === put.at(-1) ? after : to - from - there.findLastIndex(isSaid) - 1;
  const spliced = [...blanks(said[0] === put[0] ? before : 0), ...said, ...blanks(last)];
  return lines.toSpliced(from, to - from, ...spliced.map((line) => `${line}\n`));
}

/**
 * The wanted lines, with those of others that stand among them: those before all of them ahead,
 * the rest behind the line that each is behind. A section of others goes behind them all.
 */
function woven(
  wanted: readonly string[],
  there: readonly string[],
  own: ReadonlySet<string>,
): string[] {
  const strangers = (from: number, to: number) => {
    const rest = there.slice(from, to).filter((line) => line.trim() === "" || !own.has(line));
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
    // The blank lines between them and what comes next are the version's own.
    const among = rest.slice(0, rest.findLastIndex(isSaid) + 1);
    lines.push(...wanted.slice(at, next?.[0]));
    (among.some(isHeading) ? sections : lines).push(...among);
  }
  return sections.length > 0 ? [...lines, "", ...sections] : lines;
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
