import { hasWord } from "../text/line-diff.ts";
import { SideHeadings } from "./side-headings.ts";
import { hunksOf, type SideHunk } from "./side-hunks.ts";
import type { SideLine } from "./side-lines.ts";

/** A section that one side wrote right beside lines that the other replaced. */
export interface NewSection {
  readonly lines: readonly SideLine[];
  /** Where it belongs in the visible text; undefined where it stands there already. */
  readonly at: number | undefined;
}

/**
 * Finds new sections that one side put right before a heading that the other side changed, or right
 * behind a section's last line that the other side changed. The merge has both at one place, in no
 * order that anybody meant: the new section may come to stand between a heading and its lines. It
 * is no version of what the other side wrote there: whoever chose one of the two would delete the
 * other.
 *
 * Only where the other side wrote no further section there, and none of the same name: they may be
 * the same, or contradict each other.
 */
export function findNewSections(lines: readonly SideLine[]): NewSection[] {
  const headings = new SideHeadings(lines).all;
  if (headings.size === 0) return [];
  return (["mine", "theirs"] as const).flatMap((writer) => {
    const others = hunksOf(lines, writer === "mine" ? "theirs" : "mine");
    const changed = others.filter(({ added, removed }) => {
      return removed.length > 0 && count(added, headings) === count(removed, headings);
    });
    if (changed.length === 0) return [];
    const written = hunksOf(lines, writer).filter(({ added, removed }) => {
      const isWhole = added.every(({ text }) => text.endsWith("\n"));
      return removed.length === 0 && isWhole && begins(added, headings);
    });
    return written.flatMap((hunk) => besideOne(lines, hunk, { changed, headings }) ?? []);
  });
}

function besideOne(
  lines: readonly SideLine[],
  { added, before, after }: SideHunk,
  { changed, headings }: { readonly changed: readonly SideHunk[]; readonly headings: Headings },
): NewSection | undefined {
  const indexOf = (line: SideLine | undefined) => (line ? lines.indexOf(line) : -1);
  const [first, last] = [indexOf(added[0]), indexOf(added.at(-1))];
  const names = new Set(added.filter((line) => headings.has(line)).map(({ text }) => text));
  const isOther = ({ added: theirs }: SideHunk) => !theirs.some(({ text }) => names.has(text));
  const others = changed.filter(isOther);
  const ahead = others.find(({ removed }) => before !== undefined && removed.at(-1) === before);
  if (ahead) {
    const end = ahead.added.at(-1);
    if (!end?.text.endsWith("\n")) return undefined;
    return { lines: added, at: indexOf(end) < first ? undefined : end.to };
  }
  const behind = others.find(({ removed }) => after !== undefined && removed[0] === after);
  if (!behind || !begins(behind.removed, headings) || !begins(behind.added, headings)) return;
  const [start] = behind.added;
  return { lines: added, at: last < indexOf(start) ? undefined : start?.from };
}

type Headings = ReadonlySet<SideLine>;

function begins(lines: readonly SideLine[], headings: Headings): boolean {
  const said = lines.find(({ text }) => hasWord(text));
  return said !== undefined && headings.has(said);
}

function count(lines: readonly SideLine[], headings: Headings): number {
  return lines.filter((line) => headings.has(line)).length;
}
