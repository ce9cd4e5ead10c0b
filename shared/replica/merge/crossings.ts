import { comparedWords, LinesByWord, likeness } from "../text/likeness.ts";
import { hasWord } from "../text/line-diff.ts";
import { isTelling } from "../text/neighbour-lines.ts";
import type { WritingSide } from "./moved-lines.ts";
import type { SideLine } from "./side-lines.ts";

/** Lines [first, end). Those of them count that have a word and are meant. */
export interface MovedRun {
  readonly first: number;
  readonly end: number;
  readonly said: readonly SideLine[];
}

/** What a side took from one place and put at another, as a diff reads it. */
export interface Crossing {
  readonly put: MovedRun;
  readonly former: MovedRun;
  /** The lines between the two places, [from, to). */
  readonly between: readonly [from: number, to: number];
  /** What of the put lines says something, and was taken there or made of that. */
  readonly moved: readonly SideLine[];
  /** Whether the side put exactly what it had taken, changed or not, and nothing besides. */
  readonly isWhole: boolean;
}

/**
 * Finds over which lines a side moved others, changed or not. A diff takes the smaller of two
 * neighbours for the moved one, so the lines between may be what the side meant to move. What the
 * side wrote beside the moved lines, or took out of them, does not matter here.
 */
export function findCrossings(lines: readonly SideLine[], mover: WritingSide): Crossing[] {
  const other = mover === "mine" ? "theirs" : "mine";
  const isPut = ({ side }: SideLine) => side === mover;
  const isTaken = ({ side, gone }: SideLine) => side === "base" && gone[mover] && !gone[other];
  const taken = runsOf(lines, isTaken, ({ side }) => side !== "base");
  const isElsewhere = ({ side, gone }: SideLine) =>
    side === other || (side === "base" && gone[mover]);
  const madeOf = makersIn(taken);
  return runsOf(lines, isPut, isElsewhere).flatMap((put) => {
    const formers = new Set(put.said.flatMap((line) => madeOf(line) ?? []));
    return [...formers].map((former) => {
      const isDown = former.end <= put.first;
      const between = isDown
        ? ([former.end, put.first] as const)
        : ([put.end, former.first] as const);
      const moved = put.said.filter((line) => madeOf(line) === former);
      return { put, former, moved, between, isWhole: isSame(former, put) };
    });
  });
}

/** Finds the run that a line was taken from or made of; undefined where nobody can say which. */
function makersIn(taken: readonly MovedRun[]): (line: SideLine) => MovedRun | undefined {
  const runs = new Map(taken.flatMap((run) => run.said.map((line) => [line, run])));
  const telling = [...runs.keys()].filter(({ text }) => isTelling(text));
  const byText = Map.groupBy(telling, ({ text }) => text);
  const byWord = new LinesByWord(telling);
  return ({ text }) => {
    if (!isTelling(text)) return undefined;
    const of = byText.get(text) ?? byWord.mostAlike(text);
    const [run, ...others] = new Set(of.map((line) => runs.get(line)));
    return others.length > 0 ? undefined : run;
  };
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
        said: [...(last?.said ?? []), line],
      });
      isNext = true;
    } else if (!isPassed(line)) isNext = false;
  }
  return runs;
}

function isSame(one: MovedRun, other: MovedRun): boolean {
  if (one.said.length !== other.said.length) return false;
  return one.said.every(({ text }, i) => {
    const twin = other.said[i]?.text ?? "";
    return text === twin || likeness(comparedWords(text), comparedWords(twin)) > 0;
  });
}
