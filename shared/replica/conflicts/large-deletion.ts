import { ITEMS_PER_STEP, type Steps } from "../../steps.ts";
import { diffLinesInSteps } from "../text/line-diff.ts";
import { GrowingLines, linesAhead } from "../text/neighbour-lines.ts";
import { plainLinesInSteps } from "../text/text-form.ts";
import type { NewTextConflict, PlacedLines } from "./text-conflict-record.ts";

/** A text of at most this many lines, blank ones too, may lose any of them without a notice. */
const LINES_MAX = 10;

/**
 * The notice of a deletion of more than half of a text of over ten lines; undefined for any other
 * change. Of what was deleted blank lines do not count, and a line that stands elsewhere now was
 * not deleted. The deleted lines are in it, with where they stood.
 *
 * ```
 * const steps = findLargeDeletion(twentyLines, "", { machine: "desktop", at: now });
 * (await inTurns(steps, pause))?.kind; // "deletion"
 * ```
 */
export function* findLargeDeletion(
  before: string,
  after: string,
  { machine, at }: Deleter,
): Steps<NewTextConflict | undefined> {
  const [old, young] = [yield* plainLinesInSteps(before), yield* plainLinesInSteps(after)];
  if (old.length <= LINES_MAX) return undefined;
  yield;
  const total = old.filter(isText).length;
  yield;
  const gone = yield* countMissing(old, young);
  const count = [...gone.values()].reduce((sum, each) => sum + each, 0);
  if (count * 2 <= total) return undefined;
  const places = yield* deletedPlaces(old, young, gone);
  const text = places.map((place) => place.text).join("");
  const deleted = { text, machine: undefined, places };
  const left = { text: "", machine, at };
  return { kind: "deletion", versions: [deleted, left], lines: count };
}

/** The machine that has deleted something, and when. */
interface Deleter {
  readonly machine: string | undefined;
  readonly at: number;
}

function isText(line: string): boolean {
  return line.trim() !== "";
}

/** For each line with a word in it: how much more often it stands in `old` than in `young`. */
function* countMissing(
  old: readonly string[],
  young: readonly string[],
): Steps<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const [at, line] of old.entries()) {
    if (isText(line)) counts.set(line, (counts.get(line) ?? 0) + 1);
    if (at % ITEMS_PER_STEP === 0) yield;
  }
  for (const [at, line] of young.entries()) {
    const count = counts.get(line);
    if (count !== undefined) counts.set(line, count - 1);
    if (at % ITEMS_PER_STEP === 0) yield;
  }
  for (const [line, count] of counts) if (count <= 0) counts.delete(line);
  return counts;
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** At least so many of the lines that stay before a place tell where it is. */
const BEHIND_LINES = 3;

/** The deleted lines in order, with the blank ones between them, and what they stood behind. */
function* deletedPlaces(
  old: readonly string[],
  young: readonly string[],
  gone: Map<string, number>,
): Steps<PlacedLines[]> {
  const places: PlacedLines[] = [];
  const left = new GrowingLines();
  const ahead = yield* linesAhead(young);
  let next = 0;
  for (const { at, removed, from: start, added } of yield* diffLinesInSteps(old, young)) {
    yield;
    for (; next < at; next++) left.push(old[next] as string);
    next = at + removed;
    const lines = old.slice(at, at + removed).filter((line) => {
      const left = gone.get(line) ?? 0;
      if (left > 0) gone.set(line, left - 1);
      return left > 0 || !isText(line);
    });
    if (!lines.some(isText)) continue;
    const said = ahead[start + added] ?? "";
    places.push({
      behind: textOf(left.lastNamed(BEHIND_LINES)),
      text: textOf(lines),
      ahead: said === "" ? "" : textOf([said]),
    });
  }
  return places;
}
