import type * as Y from "yjs";
import { firstWhere } from "../text/first-where.ts";
import type { IdRanges } from "../text/id-ranges.ts";
import { textRuns } from "../text/text.ts";
import { withoutMark } from "../text/text-form.ts";
import type { CharacterId } from "../text/text-spans.ts";

/**
 * Who inserted something. What neither side alone inserted is the base: also a line in which both
 * wrote.
 */
export type Side = "base" | "mine" | "theirs";

/** A visible line of a text in which the changes of two sides have met. */
export interface MergedLine {
  /** What it says, without its line break. */
  readonly text: string;
  /** Its characters in the visible text, [from, to), with its line break. */
  readonly from: number;
  readonly to: number;
  readonly side: Side;
  /** The next line follows without a line break: the merge has lost it. */
  readonly unbroken: boolean;
}

/** Deleted characters, which would stand at this index of the visible text. */
export interface Tombstone {
  readonly side: Side;
  readonly at: number;
}

/** The visible text of a document, its lines in order, and what was deleted between them. */
export interface MergedText {
  readonly text: string;
  readonly lines: readonly MergedLine[];
  readonly tombstones: readonly Tombstone[];
}

/** Reads a text into which `theirs` came beside `mine`. */
export function readMergedText(ytext: Y.Text, mine: IdRanges, theirs: IdRanges): MergedText {
  const { text, stretches, tombstones } = readStretches(ytext, mine, theirs);
  const joints = findJoints(text, stretches, tombstones);
  const lines: MergedLine[] = [];
  let [from, stretch] = [0, 0];
  for (const to of lineEnds(text, joints)) {
    while ((stretches[stretch] as Stretch).to <= from) stretch++;
    const contentEnd = text[to - 1] === "\n" ? to - 1 : to;
    const said = withoutMark(text.slice(from, contentEnd));
    lines.push({
      text: said,
      from,
      to,
      side: sideOf(stretches, stretch, said === "" ? to : contentEnd),
      unbroken: joints.has(to),
    });
    from = to;
  }
  return { text, lines, tombstones };
}

/** Visible characters [from, to) that one side inserted. */
interface Stretch {
  readonly side: Side;
  readonly from: number;
  readonly to: number;
}

function readStretches(ytext: Y.Text, mine: IdRanges, theirs: IdRanges) {
  const stretches: Stretch[] = [];
  const tombstones: Tombstone[] = [];
  let text = "";
  for (const run of textRuns(ytext)) {
    for (let at = 0; at < run.length; ) {
      const { side, until } = writerOf({ client: run.client, clock: run.clock + at }, mine, theirs);
      const end = Math.min(run.length, until - run.clock);
      if (run.text === undefined) {
        tombstones.push({ side, at: text.length });
      } else {
        stretches.push({ side, from: text.length, to: text.length + end - at });
        text += run.text.slice(at, end);
      }
      at = end;
    }
  }
  return { text, stretches, tombstones };
}

/** The side that inserted the character, and the clock until which that is so. */
export function writerOf({ client, clock }: CharacterId, mine: IdRanges, theirs: IdRanges) {
  let until = Number.POSITIVE_INFINITY;
  for (const [side, ranges] of [["mine", mine] as const, ["theirs", theirs] as const]) {
    const ofClient = ranges.get(client) ?? [];
    const [from, to] = ofClient[firstWhere(ofClient, ([, end]) => end > clock)] ?? [until, until];
    if (from <= clock && clock < to) return { side, until: to };
    until = Math.min(until, from);
  }
  return { side: "base" as const, until };
}

/**
 * Where two lines were joined because the last line had no line break when it was written: between
 * the insertions of both sides, or, at the end of the text, where the base's break was deleted.
 */
function findJoints(text: string, stretches: readonly Stretch[], tombstones: readonly Tombstone[]) {
  const joints = new Set<number>();
  const graves = new Set(tombstones.map(({ at }) => at));
  const baseEnd = stretches.findLast(({ side }) => side === "base")?.to ?? 0;
  for (const [i, right] of stretches.entries()) {
    const left = stretches[i - 1];
    const at = right.from;
    if (left === undefined || left.side === right.side) continue;
    if (text[at - 1] === "\n" || text[at] === "\n") continue;
    const lostBreak = at >= baseEnd && graves.has(at);
    if ((left.side !== "base" && right.side !== "base") || lostBreak) joints.add(at);
  }
  return joints;
}

function lineEnds(text: string, joints: ReadonlySet<number>): number[] {
  const ends = [...joints];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) ends.push(at + 1);
  if (text !== "" && !text.endsWith("\n")) ends.push(text.length);
  return ends.sort((one, other) => one - other);
}

function sideOf(stretches: readonly Stretch[], first: number, end: number): Side {
  const side = (stretches[first] as Stretch).side;
  for (let i = first + 1; i < stretches.length; i++) {
    const stretch = stretches[i] as Stretch;
    if (stretch.from >= end) break;
    if (stretch.side !== side) return "base";
  }
  return side;
}
