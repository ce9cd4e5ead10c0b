import { isTelling, lineAhead, neighbourStart } from "../text/neighbour-lines.ts";
import { afterMoves, editOf, standingEdit } from "./carried-lines.ts";
import { type Crossing, findCrossings } from "./crossings.ts";
import type { Followed } from "./followed-moves.ts";
import { blanksAfter, type KeptEdit, type MovedApart } from "./kept-edits.ts";
import type { WritingSide } from "./moved-lines.ts";
import { SideHeadings } from "./side-headings.ts";
import type { SideLine } from "./side-lines.ts";

/** A part that both sides moved, and what goes back to where it stood before. */
export interface SharedMove {
  /** Undefined where nothing can: the places of a smaller part are told then. */
  readonly back: Followed | undefined;
  readonly apart: MovedApart;
}

/**
 * Both sides moved one part to different places, past smaller ones: a diff shows of each side only
 * that the smaller one was moved. Done together, both would stand on the wrong side of what nobody
 * moved past the other. So one side's smaller part goes back, and where that side had the larger
 * one is told. Both machines take the same side's.
 *
 * What a side wrote in its smaller part goes back with it, but nothing that it wrote beside that.
 * Where both wrote beside theirs, both stay where they are, and where the other side has each is
 * told: either choice makes the order that one of them saved.
 *
 * Lines in `disputed`, the lines of open conflicts, are told already.
 */
export function findSharedMoves(
  lines: readonly SideLine[],
  disputed: ReadonlySet<string>,
): SharedMove[] {
  const headings = new SideHeadings(lines);
  const mine = crossingsOf(lines, "mine", headings);
  const theirs = crossingsOf(lines, "theirs", headings);
  return mine.flatMap(({ shared, ...own }) => {
    const isOpen = shared.some(({ text }) => disputed.has(text.replace(/\n$/, "")));
    const isOf = (each: { readonly shared: readonly SideLine[] }) => isSame(each.shared, shared);
    const [other, ...more] = theirs.filter(isOf);
    if (isOpen || !other || more.length > 0 || mine.filter(isOf).length > 1) return [];
    const isFree = ({ isWhole, isSection }: OwnCrossing) =>
      own.isWhole || other.isWhole ? isWhole : isSection;
    if (!isFree(own) && !isFree(other)) {
      const versions = { mine: own, theirs: other };
      return [partApart(lines, "mine", versions), partApart(lines, "theirs", versions)];
    }
    const isOwn = isFree(own) && (!isFree(other) || saidIn(own) < saidIn(other));
    const [by, crossing] = isOwn ? (["mine", own] as const) : (["theirs", other] as const);
    const back = backOf(lines, by, crossing);
    const stays = isOwn ? other : own;
    const standing = {
      by: isOwn ? "theirs" : "mine",
      at: lines[stays.put.first]?.from ?? 0,
    } as const;
    return [{ back, apart: apartOf(lines, { shared, back, crossing, by, standing }) }];
  });
}

/**
 * What a side moved past another part, as a diff reads it. It may really have moved that other
 * part.
 */
interface OwnCrossing extends Crossing {
  /** Whether all that was put is one moved section, with what its side wrote in it. */
  readonly isSection: boolean;
}

/**
 * A side's crossings, each with the part that it may really have moved; without those that have no
 * such part.
 */
function crossingsOf(lines: readonly SideLine[], mover: WritingSide, headings: SideHeadings) {
  const all = findCrossings(lines, mover).map((crossing) => {
    const shared = stayingIn(lines, mover, crossing);
    return { ...crossing, shared, isSection: isSection(lines, crossing, headings) };
  });
  return all.filter(({ shared }) => shared.length > 0);
}

function isSection(
  lines: readonly SideLine[],
  { put, former, moved }: Crossing,
  headings: SideHeadings,
): boolean {
  const levelOf = (line: SideLine | undefined) => line && headings.level(lines.indexOf(line));
  const level = levelOf(put.said[0]);
  if (level === undefined || levelOf(former.said[0]) === undefined) return false;
  if (moved[0] !== put.said[0]) return false;
  return put.said.slice(1).every((line) => (levelOf(line) ?? level + 1) > level);
}

function saidIn({ put }: Crossing): string {
  return put.said.map(({ text }) => text).join("");
}

/** The lines with a word between the two places, if neither side took any of them away. */
function stayingIn(
  lines: readonly SideLine[],
  mover: WritingSide,
  { between }: Crossing,
): readonly SideLine[] {
  // What the other side wrote did not exist for the mover.
  const isThere = ({ side, text }: SideLine) =>
    (side === "base" || side === "mixed" || side === mover) && isTelling(text);
  const said = lines.slice(...between).filter(isThere);
  const isStanding = ({ side, gone }: SideLine) => side === "base" && !gone.mine && !gone.theirs;
  return said.every(isStanding) ? said : [];
}

function isSame(one: readonly SideLine[], other: readonly SideLine[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at]);
}

/** Puts what a side moved back where it had taken it, with the blank lines that it moved along. */
function backOf(lines: readonly SideLine[], by: WritingSide, { put, former }: Crossing): Followed {
  const isOwn = (line: SideLine | undefined) => line?.side === by;
  let [first, end] = [put.first, put.end];
  while (isOwn(lines[first - 1])) first--;
  while (isOwn(lines[end])) end++;
  const at = lines[former.first]?.from ?? 0;
  return { lines: lines.slice(first, end).filter(isOwn), replaced: [], at };
}

interface Shared {
  readonly shared: readonly SideLine[];
  readonly back: Followed;
  readonly crossing: Crossing;
  /** Whose part goes back. */
  readonly by: WritingSide;
  readonly standing: Pick<KeptEdit, "by" | "at">;
}

function apartOf(
  lines: readonly SideLine[],
  { shared, back, crossing: { put, former }, by, standing }: Shared,
): MovedApart {
  const after = afterMoves(lines, [back]);
  const at = shared.map((line) => after.indexOf(line));
  const run = [Math.min(...at), Math.max(...at) + 1] as const;
  const edit = editOf(after, run, standing.by);
  const blanks = blanksAfter(
    after.map(({ text }) => text),
    run,
  );
  const rest = [...after.slice(0, run[0]), ...after.slice(run[1])].map(({ text }) => {
    return text.endsWith("\n") ? text : `${text}\n`;
  });
  const own = back.lines
    .map((line) => after.indexOf(line))
    .map((each) => {
      return each > run[0] ? each - (run[1] - run[0]) : each;
    });
  // A side that moved the smaller part up has the larger part below it.
  const place = put.first < former.first ? Math.max(...own) + 1 : Math.min(...own);
  return {
    standing: { ...edit, at: standing.at, after: blanks },
    other: {
      by,
      text: edit.text,
      behind: rest.slice(neighbourStart(rest, place), place).join(""),
      ahead: lineAhead(rest, place),
      at: lines[put.first]?.from ?? 0,
      after: blanks,
    },
  };
}

/** Where the other side has the part that a side moved past the larger one. */
function partApart(
  lines: readonly SideLine[],
  by: WritingSide,
  crossings: Readonly<Record<WritingSide, Crossing>>,
): SharedMove {
  const other = by === "mine" ? "theirs" : "mine";
  const { former, moved } = crossings[by];
  const { edit: standing, own } = standingEdit(lines, moved, by);
  const isBeside = (line: SideLine) => line.to > line.from && !own.has(line);
  const before = lines.slice(0, former.first).filter(isBeside);
  const place = [...before, ...lines.slice(former.first).filter(isBeside)];
  const { behind, ahead } = editOf(place, [before.length, before.length], other);
  const at = lines[crossings[other].put.first]?.from ?? 0;
  return {
    back: undefined,
    apart: { standing, other: { ...standing, by: other, behind, ahead, at } },
  };
}
