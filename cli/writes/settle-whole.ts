import type { TextVersion } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { findWholePlace, wholePlaceOf } from "../../shared/replica/conflicts/whole-place.ts";
import { isHeading } from "../../shared/replica/text/code-blocks.ts";
import { commonLines } from "../../shared/replica/text/line-diff.ts";
import { joinForm, plainLines, withoutMark } from "../../shared/replica/text/text-form.ts";
import { openContent } from "./put-back.ts";

/**
 * The text with one of two versions in the place of all that stands there of both, and without
 * either; what somebody else put among them stays. Undefined where the place is not found.
 */
export function settleWhole(
  content: string,
  [wanted, other]: readonly [TextVersion, TextVersion],
): { readonly without: string; readonly content: string } | undefined {
  const open = openContent(content);
  const shown = open.lines.map((line) => withoutMark(line).replace(/\n$/, ""));
  const range = findWholePlace(shown, [wanted, other]);
  if (!range) return undefined;
  const [from, to] = range;
  const lines = plainLines(wanted.text);
  const own = new Set([...lines, ...plainLines(other.text)]);
  const { before = 0, after = 0 } = wholePlaceOf(wanted) ?? {};
  const withLines = (put: readonly string[]) => {
    const [first, last] = [put.findIndex(isSaid), put.findLastIndex(isSaid)];
    const said = put.slice(Math.max(0, first), last + 1);
    const isAhead = said[0] === lines[0];
    const spliced = [...(isAhead ? blanks(before) : []), ...said, ...blanks(after)];
    return joinForm(
      open.lines.toSpliced(from, to - from, ...spliced.map(broken)).join(""),
      open.form,
    );
  };
  const there = shown.slice(from, to);
  return {
    without: withLines(woven([], there, own)),
    content: withLines(woven(lines, there, own)),
  };
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

function broken(line: string): string {
  return `${line}\n`;
}

function blanks(count: number): string[] {
  return Array<string>(count).fill("");
}

function indicesWhere(lines: readonly string[], is: (line: string) => boolean): number[] {
  return lines.flatMap((line, at) => (is(line) ? [at] : []));
}
