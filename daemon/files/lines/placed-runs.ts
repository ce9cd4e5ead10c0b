import type { PlacedLines } from "../../../shared/replica/conflicts/text-conflict-record.ts";
import { lineAhead, neighbourStart } from "../../../shared/replica/text/neighbour-lines.ts";
import { isBlank } from "./line-runs.ts";

/**
 * Groups lines, given by index, into runs of neighbours. Each run has the text that it stands
 * behind, and counts the blank lines beside it that are in `along`.
 */
export function placedRuns(
  indices: readonly number[],
  texts: readonly string[],
  along: ReadonlySet<number>,
): PlacedLines[] {
  const isAlong = (at: number) => along.has(at) && isBlank(texts[at] ?? "-");
  const places: PlacedLines[] = [];
  let told = 0;
  for (const [from, to] of runsIn(indices)) {
    let [start, end] = [from, to];
    while (start > told && isAlong(start - 1)) start--;
    while (isAlong(end)) end++;
    told = end;
    const text = texts.slice(from, to).join("");
    const behind = texts.slice(neighbourStart(texts, from), from).join("");
    const ahead = lineAhead(texts, to);
    places.push({ behind, text, ahead, ...blanks(from - start, end - to) });
  }
  return places;
}

/** The text of all places, one after the other. */
export function joinedText(places: readonly PlacedLines[]): string {
  return places.map(({ text }) => text).join("");
}

/** The beginning and end of each run of consecutive indices. */
function runsIn(indices: readonly number[]): (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const at of [...indices].sort((one, other) => one - other)) {
    const last = runs.at(-1);
    if (last && last[1] === at) last[1]++;
    else runs.push([at, at + 1]);
  }
  return runs;
}

function blanks(before: number, after: number): Pick<PlacedLines, "before" | "after"> {
  return { ...(before > 0 && { before }), ...(after > 0 && { after }) };
}
