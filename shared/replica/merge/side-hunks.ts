import type { WritingSide } from "./moved-lines.ts";
import type { SideLine } from "./side-lines.ts";

/** What a side put in the place of lines of the base, or between two of them. */
export interface SideHunk {
  readonly removed: readonly SideLine[];
  readonly added: readonly SideLine[];
  /** The lines of its version around them. */
  readonly before: SideLine | undefined;
  readonly after: SideLine | undefined;
}

/** What a side wrote, in the order of the text; deletions alone are no hunks. */
export function hunksOf(lines: readonly SideLine[], editor: WritingSide): SideHunk[] {
  const own = lines.filter(({ side }) => side === "base" || side === "mixed" || side === editor);
  const isChanged = ({ side, gone }: SideLine) =>
    side === editor || (side === "base" && gone[editor]);
  const hunks: SideHunk[] = [];
  for (let first = 0, end = 0; first < own.length; first = end + 1) {
    end = first;
    while (end < own.length && isChanged(own[end] as SideLine)) end++;
    const changed = own.slice(first, end);
    const added = changed.filter(({ side }) => side === editor);
    const removed = changed.filter(({ side }) => side === "base");
    if (added.length > 0) hunks.push({ removed, added, before: own[first - 1], after: own[end] });
  }
  return hunks;
}
