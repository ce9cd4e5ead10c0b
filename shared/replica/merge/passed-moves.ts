import { hasWord } from "../text/line-diff.ts";
import { isTelling } from "../text/neighbour-lines.ts";
import { standingEdit } from "./carried-lines.ts";
import { placeBeside } from "./crossed-deletions.ts";
import { type Crossing, findCrossings } from "./crossings.ts";
import type { MovedApart } from "./kept-edits.ts";
import type { WritingSide } from "./moved-lines.ts";
import { isOfSide, type SideLine } from "./side-lines.ts";

/**
 * One side moved a part past a larger one, as a diff reads it, and the other side moved the larger
 * one elsewhere. If the first side really moved the larger one, both moved it, and the merge has
 * undone one of the two moves without a trace: it stands where the other side has it. Where the
 * first side has it is told. Lines in `disputed`, the lines of open conflicts, are told already.
 */
export function findPassedMoves(
  lines: readonly SideLine[],
  disputed: ReadonlySet<string>,
): MovedApart[] {
  return (["mine", "theirs"] as const).flatMap((mover) => {
    const by: WritingSide = mover === "mine" ? "theirs" : "mine";
    const others = findCrossings(lines, by);
    return findCrossings(lines, mover).flatMap((crossing) => {
      const passed = movedIn(lines, crossing, { mover, by });
      const isOpen = passed.some(({ text }) => disputed.has(text.replace(/\n$/, "")));
      const isOf = ({ former }: Crossing) => passed.every((line) => former.said.includes(line));
      const [move, ...more] = passed.length > 0 && !isOpen ? others.filter(isOf) : [];
      if (!move || more.length > 0 || isThere(lines, { crossing, move, mover })) return [];
      const all = move.former.said.length === passed.length;
      const texts = new Set(passed.map(({ text }) => text));
      const moved = move.moved.filter(({ text }) => all || texts.has(text));
      return moved.length > 0 ? [apartOf(lines, { crossing, moved, mover, by })] : [];
    });
  });
}

/** The lines with a word between the two places, if the other side took all of them away. */
function movedIn(
  lines: readonly SideLine[],
  { between }: Crossing,
  { mover, by }: Sides,
): readonly SideLine[] {
  const isMovers = (line: SideLine) => isOfSide(line, mover) && isTelling(line.text);
  const said = lines.slice(...between).filter(isMovers);
  return said.every(({ side, gone }) => side === "base" && gone[by]) ? said : [];
}

interface Sides {
  readonly mover: WritingSide;
  readonly by: WritingSide;
}

interface PassedMove {
  readonly crossing: Crossing;
  readonly move: Crossing;
  readonly mover: WritingSide;
}

/**
 * Whether the larger part stands where the mover has it: beside the lines that the mover has there.
 */
function isThere(
  lines: readonly SideLine[],
  { crossing: { put, former }, move, mover }: PassedMove,
): boolean {
  const isUp = put.end <= former.first;
  const [from, to] = isUp ? [put.end, former.end] : [former.first, put.first];
  const passed =
    move.put.first < from ? lines.slice(move.put.end, from) : lines.slice(to, move.put.first);
  return !passed.some((line) => line.to > line.from && isOfSide(line, mover) && hasWord(line.text));
}

function apartOf(
  lines: readonly SideLine[],
  { crossing, moved, mover, by }: Sides & Pick<Crossing, "moved"> & Pick<PassedMove, "crossing">,
): MovedApart {
  const { edit: standing, own } = standingEdit(lines, moved, by);
  const place = placeBeside(lines, crossing, own);
  const at = lines[crossing.put.first]?.from ?? 0;
  return { standing, other: { ...standing, ...place, by: mover, at } };
}
