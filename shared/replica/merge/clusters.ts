import type { Cluster } from "./clean-up-plan.ts";
import type { MergedLine, MergedText } from "./merged-lines.ts";
import type { RepeatedMove } from "./repeated-moves.ts";

/** Lines [from, to) of a text. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/**
 * The parts of a text that a clean-up can look at one by one. A part has what both sides inserted
 * there, and the lines of the base between over which an insertion might slide because they equal
 * its own. A repeated move lies within one part.
 */
export function findClusters(text: MergedText, moves: readonly RepeatedMove[]): Cluster[] {
  const { lines, tombstones } = text;
  const stretches = joinMoved(joinSlidable(lines, ownStretches(lines)), lines, moves);
  return stretches.flatMap((stretch) => {
    const within = lines.slice(stretch.from, stretch.to);
    const [from, to] = [within[0]?.from ?? 0, within.at(-1)?.to ?? 0];
    const [own] = within.filter(({ side }) => side !== "base");
    if (within.every(({ side }) => side === "base" || side === own?.side)) return [];
    return [
      {
        lines: within,
        tombstones: tombstones.filter(({ at }) => from <= at && at <= to),
        moves: moves.filter(({ first }) => first.some((line) => within.includes(line))),
      },
    ];
  });
}

function ownStretches(lines: readonly MergedLine[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (let from = 0, to = 0; from < lines.length; from = to + 1) {
    to = from;
    while ((lines[to]?.side ?? "base") !== "base") to++;
    if (to > from) stretches.push({ from, to });
  }
  return stretches;
}

function joinSlidable(lines: readonly MergedLine[], stretches: readonly Stretch[]): Stretch[] {
  const textsOf = ({ from, to }: Stretch) => lines.slice(from, to).map(({ text }) => text);
  let last: ReadonlySet<string> = new Set();
  const joined: Stretch[] = [];
  for (const stretch of stretches) {
    const own = new Set(textsOf(stretch));
    const before = joined.at(-1);
    const between = before && textsOf({ from: before.to, to: stretch.from });
    if (before && between?.every((text) => own.has(text) || last.has(text))) {
      joined[joined.length - 1] = { from: before.from, to: stretch.to };
    } else {
      joined.push(stretch);
    }
    last = own;
  }
  return joined;
}

function joinMoved(
  stretches: readonly Stretch[],
  lines: readonly MergedLine[],
  moves: readonly RepeatedMove[],
): Stretch[] {
  const spans = moves.map(({ first, again }) => {
    const at = [...first, ...again].map((line) => lines.indexOf(line));
    return { from: Math.min(...at), to: Math.max(...at) + 1 };
  });
  const joined: Stretch[] = [];
  for (const stretch of [...stretches, ...spans].sort((one, other) => one.from - other.from)) {
    const last = joined.at(-1);
    if (last === undefined || stretch.from >= last.to) joined.push(stretch);
    else joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, stretch.to) };
  }
  return joined;
}
