import { comparedWords, likeness } from "../text/likeness.ts";
import { hasWord } from "../text/line-diff.ts";
import type { WritingSide } from "./moved-lines.ts";
import type { SideLine } from "./side-lines.ts";

/** Lines [first, end), of which those count that say something and are meant. */
export interface MovedRun {
  readonly first: number;
  readonly end: number;
  readonly said: readonly string[];
}

/** What a side, as a diff reads it, took from one place and put at another. */
export interface Crossing {
  readonly put: MovedRun;
  readonly former: MovedRun;
  /** The lines between the two places, [from, to). */
  readonly between: readonly [from: number, to: number];
}

/**
 * Finds over what a side moved lines, as they were or mended. A diff takes the smaller one of two
 * neighbours for the moved one, so what is between may be what the side meant to move.
 */
export function findCrossings(lines: readonly SideLine[], mover: WritingSide): Crossing[] {
  const other = mover === "mine" ? "theirs" : "mine";
  const isPut = ({ side }: SideLine) => side === mover;
  const isTaken = ({ side, gone }: SideLine) => side === "base" && gone[mover] && !gone[other];
  const taken = runsOf(lines, isTaken, ({ side }) => side !== "base");
  const isElsewhere = ({ side, gone }: SideLine) =>
    side === other || (side === "base" && gone[mover]);
  return runsOf(lines, isPut, isElsewhere).flatMap((put) => {
    const [former, ...others] = taken.filter((run) => isSame(run, put));
    if (!former || others.length > 0) return [];
    const isDown = former.end <= put.first;
    const between = isDown
      ? ([former.end, put.first] as const)
      : ([put.end, former.first] as const);
    return [{ put, former, between }];
  });
}

/** The runs of lines that are meant; lines that are passed over are not there for their author. */
function runsOf(
  lines: readonly SideLine[],
  isMeant: (line: SideLine) => boolean,
  isPassed: (line: SideLine) => boolean,
): MovedRun[] {
  const runs: MovedRun[] = [];
  let isNext = false;
  for (const [at, line] of lines.entries()) {
    if (!hasWord(line.text)) continue;
    if (isMeant(line)) {
      const last = isNext ? runs.pop() : undefined;
      runs.push({
        first: last?.first ?? at,
        end: at + 1,
        said: [...(last?.said ?? []), line.text],
      });
      isNext = true;
    } else if (!isPassed(line)) isNext = false;
  }
  return runs;
}

function isSame(one: MovedRun, other: MovedRun): boolean {
  if (one.said.length !== other.said.length) return false;
  return one.said.every((line, i) => {
    const twin = other.said[i] ?? "";
    return line === twin || likeness(comparedWords(line), comparedWords(twin)) > 0;
  });
}
