/** What one machine's user saved: the text both began with, and then each save, in order. */
export type OwnVersions = readonly [start: string, ...saves: string[]];

/** Lines of a merged text that should be there and are not, or should not and are. */
export interface LineAccounts {
  readonly lost: readonly string[];
  readonly invented: readonly string[];
}

/**
 * Holds a merged text against what each of two sides saved by itself, not knowing of the other.
 *
 * - **Lost**: a line is there fewer times than in a side's last version, although the other side
 *   never took a copy of it away. A side takes a copy away when one of its saves has fewer of the
 *   line than its save before, or than the start. So what a side added stays unless the other side
 *   had it, too, and deleted it; and what both kept of the start stays. Blank lines and fences
 *   count like all others.
 * - **Invented**: a line that neither the start nor any save of either side has.
 *
 * A last line without a line break is the same line as one with it.
 */
export function accountForLines(
  merged: string,
  one: OwnVersions,
  other: OwnVersions,
): LineAccounts {
  const counts = countLines(merged);
  const known = new Set([...one, ...other].flatMap((version) => linesOf(version)));
  const lost = [...lostOf(counts, one, other), ...lostOf(counts, other, one)];
  return { lost, invented: [...counts.keys()].filter((line) => !known.has(line)) };
}

function lostOf(
  merged: ReadonlyMap<string, number>,
  mine: OwnVersions,
  others: OwnVersions,
): string[] {
  const taken = linesTakenAway(others);
  const last = countLines(mine.at(-1) ?? "");
  return [...last].flatMap(([line, count]) => {
    return !taken.has(line) && (merged.get(line) ?? 0) < count ? [line] : [];
  });
}

/** Lines that some save has fewer of than the version before. */
function linesTakenAway(versions: OwnVersions): ReadonlySet<string> {
  const taken = new Set<string>();
  let before = countLines(versions[0]);
  for (const version of versions.slice(1)) {
    const counts = countLines(version);
    for (const [line, count] of before) if ((counts.get(line) ?? 0) < count) taken.add(line);
    before = counts;
  }
  return taken;
}

function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of linesOf(text)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
