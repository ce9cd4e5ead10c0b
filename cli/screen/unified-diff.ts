import { diffLines, type LineHunk } from "../../shared/replica/text/line-diff.ts";

/** How many equal lines are shown around a change. */
const CONTEXT = 3;
const NO_NEWLINE = "\\ No newline at end of file";

/**
 * The difference between two texts in the unified format, which `patch` and `git apply` read;
 * `from` and `to` name the texts. Empty for equal texts. Byte order marks and carriage returns
 * count as characters of their lines.
 */
export function unifiedDiff(
  before: string,
  after: string,
  { from, to }: { readonly from: string; readonly to: string },
): string {
  const [old, next] = [linesOf(before), linesOf(after)];
  const groups = groupsOf(diffLines(old, next));
  if (groups.length === 0) return "";
  const parts = groups.flatMap((group) => partOf(group, old, next));
  return `${[`--- ${from}`, `+++ ${to}`, ...parts].join("\n")}\n`;
}

/** Each line with its line break. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Joins changes whose context lines touch. */
function groupsOf(hunks: readonly LineHunk[]): LineHunk[][] {
  const groups: LineHunk[][] = [];
  for (const hunk of hunks) {
    const last = groups.at(-1)?.at(-1);
    if (last && hunk.at - (last.at + last.removed) <= 2 * CONTEXT) groups.at(-1)?.push(hunk);
    else groups.push([hunk]);
  }
  return groups;
}

function partOf(group: readonly LineHunk[], old: string[], next: string[]): string[] {
  const [first] = group;
  const last = group.at(-1);
  if (!first || !last) return [];
  const start = Math.max(0, first.at - CONTEXT);
  const end = Math.min(old.length, last.at + last.removed + CONTEXT);
  const lines: string[] = [];
  let at = start;
  for (const hunk of group) {
    lines.push(...old.slice(at, hunk.at).map((line) => ` ${line}`));
    at = hunk.at + hunk.removed;
    lines.push(...old.slice(hunk.at, at).map((line) => `-${line}`));
    lines.push(...next.slice(hunk.from, hunk.from + hunk.added).map((line) => `+${line}`));
  }
  lines.push(...old.slice(at, end).map((line) => ` ${line}`));
  const grown = group.reduce((sum, { added, removed }) => sum + added - removed, 0);
  const [oldRange, newRange] = [
    rangeOf(start, end - start),
    rangeOf(first.from - (first.at - start), end - start + grown),
  ];
  return [`@@ -${oldRange} +${newRange} @@`, ...lines.flatMap(ended)];
}

/** Lines count from 1. An empty range names the line before it. */
function rangeOf(start: number, length: number): string {
  return `${length === 0 ? start : start + 1},${length}`;
}

function ended(line: string): string[] {
  return line.endsWith("\n") ? [line.slice(0, -1)] : [line, NO_NEWLINE];
}
