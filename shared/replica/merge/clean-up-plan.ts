import { type Doubles, findDoubles, joinDoubles, type MetPlace, NONE } from "./doubled-lines.ts";
import type { MergedLine, MergedText, Tombstone } from "./merged-lines.ts";
import { madeOnce, type RepeatedMove } from "./repeated-moves.ts";
import { type SlidLines, slideRuns } from "./slid-runs.ts";

/** Lines with the deletions between them, and the moves among them that were made twice. */
export interface Cluster {
  readonly lines: readonly MergedLine[];
  readonly tombstones: readonly Tombstone[];
  readonly moves: readonly RepeatedMove[];
}

/** What is to be done to lines. */
export type CleanUpPlan = Doubles;

/** The outcome of a plan is cleaned up on trial at most this often. */
const TRIALS_MAX = 4;

/**
 * The plan for a cluster after which a second clean-up finds nothing to do: it would take away what
 * one side wrote twice. If no plan achieves that, nothing is done.
 */
export function settledPlan(cluster: Cluster, trials = 0): CleanUpPlan {
  for (const plan of plansOf(cluster)) {
    if (plan.dropped.size === 0) continue;
    if (trials === TRIALS_MAX) return plan;
    if (settledPlan(afterPlan(cluster, plan), trials + 1).dropped.size === 0) return plan;
  }
  return NONE;
}

/** The plans, from the one that removes most. Each is made only when it is asked for. */
function* plansOf(cluster: Cluster): Generator<CleanUpPlan> {
  const slid = slideRuns(cluster.lines, (lines) => planOf({ ...cluster, lines }).dropped.size);
  if (slid.swapped.size > 0) yield planSlid(cluster, slid);
  yield cleanOf(cluster);
  if (cluster.moves.length === 0) return;
  const again = cluster.moves.flatMap((move) => move.again);
  yield { ...NONE, dropped: new Set(again) };
  yield planOf(cluster);
}

/**
 * The doubles of a cluster, and the second copies of its moves. A move goes as a whole, so it goes
 * first if the doubles would tear it.
 */
function cleanOf(cluster: Cluster): CleanUpPlan {
  const { lines, moves } = cluster;
  const plan = planOf(cluster);
  const isDropped = (line: MergedLine) => plan.dropped.has(line);
  const left = moves.filter(
    ({ first, again }) => ![first, again].some((one) => one.every(isDropped)),
  );
  const isTorn = left.some(({ first, again }) => [...first, ...again].some(isDropped));
  const rest = isTorn ? planOf({ ...cluster, lines: madeOnce(lines, moves) }) : plan;
  const again = (isTorn ? moves : left).flatMap((move) => move.again);
  return { ...rest, dropped: new Set([...rest.dropped, ...again]) };
}

/** The plan for slid lines in terms of the cluster's own. */
function planSlid(cluster: Cluster, { lines, swapped }: SlidLines): CleanUpPlan {
  const slidFrom = new Map(lines.map((line) => [line.from, line]));
  const slide = (line: MergedLine) => slidFrom.get(line.from) ?? line;
  const moves = cluster.moves.map(({ first, again }) => {
    return { first: first.map(slide), again: again.map(slide) };
  });
  const plan = keepBase(lines, swapped, cleanOf({ ...cluster, lines, moves }));
  const ownFrom = new Map(cluster.lines.map((line) => [line.from, line]));
  const own = (line: MergedLine) => ownFrom.get(line.from) ?? line;
  return {
    dropped: new Set([...plan.dropped].map(own)),
    kept: new Set([...plan.kept].map(own)),
    moved: new Map([...plan.moved].map(([line, before]) => [own(line), before.map(own)])),
  };
}

/**
 * Keeps a line of the base that would go while an equal line behind it stays: that one goes
 * instead, and the lines between that stay move up. The text is the same.
 */
function keepBase(
  lines: readonly MergedLine[],
  swapped: SlidLines["swapped"],
  plan: CleanUpPlan,
): CleanUpPlan {
  const [dropped, moved] = [new Set(plan.dropped), new Map(plan.moved)];
  for (const [base, other] of swapped) {
    if (base.from > other.from || !dropped.has(base)) continue;
    const away = new Set([...dropped, ...[...moved.values()].flat()]);
    if (away.has(other)) continue;
    const between = lines.slice(lines.indexOf(base) + 1, lines.indexOf(other) + 1);
    const stay = between.filter((line) => !away.has(line));
    const up = stay.flatMap((line) => [
      ...(moved.get(line) ?? []),
      ...(line === other ? [] : [line]),
    ]);
    for (const line of stay) moved.delete(line);
    if (up.length > 0) moved.set(base, up);
    dropped.delete(base);
    dropped.add(other);
  }
  return { ...plan, dropped, moved };
}

/** The doubles of every place of a cluster, without its repeated moves. */
function planOf(cluster: Omit<Cluster, "moves">): CleanUpPlan {
  return joinDoubles(findPlaces(cluster).map(findDoubles));
}

/** The stretches of lines between the base's lines in which both sides inserted something. */
export function findPlaces({ lines, tombstones }: Pick<MergedText, "lines" | "tombstones">) {
  const places: MetPlace[] = [];
  let grave = 0;
  for (let first = 0, end = 0; first < lines.length; first = end + 1) {
    end = first;
    while ((lines[end]?.side ?? "base") !== "base") end++;
    const place = lines.slice(first, end);
    if (place.every(({ side }) => side === place[0]?.side)) continue;
    const [from, to] = [lines[first]?.from ?? 0, lines[end - 1]?.to ?? 0];
    while ((tombstones[grave]?.at ?? from) < from) grave++;
    let [replaced, cleaned] = [false, false];
    for (; (tombstones[grave]?.at ?? to + 1) <= to; grave++) {
      // If something was deleted before the first line, it was deleted before both sides inserted
      // here.
      if (tombstones[grave]?.side !== "base") cleaned = true;
      else if ((tombstones[grave]?.at ?? from) > from) replaced = true;
    }
    places.push({ lines: place, replaced, cleaned });
  }
  return places;
}

/** The cluster as a second clean-up would see it. */
function afterPlan({ lines, tombstones, moves }: Cluster, plan: CleanUpPlan): Cluster {
  const { dropped, moved } = plan;
  const gone = new Set([...dropped, ...[...moved.values()].flat()]);
  const after: MergedLine[] = [];
  const graves: Tombstone[] = [];
  let [at, grave] = [lines[0]?.from ?? 0, 0];
  const buryUntil = (line: MergedLine, end: number) => {
    for (; (tombstones[grave]?.at ?? end) < end; grave++) {
      const { side, at: former } = tombstones[grave] as Tombstone;
      const inside = gone.has(line) ? 0 : Math.max(0, former - line.from);
      graves.push({ side, at: at + inside });
    }
  };
  const put = (line: MergedLine) => {
    const to = at + line.to - line.from;
    after.push({ ...line, from: at, to });
    at = to;
  };
  const renewed = new Map<MergedLine, MergedLine>();
  const made = moves.filter(({ again }) => again.every((line) => gone.has(line)));
  const once = new Set(made.flatMap(({ first }) => first));
  for (const line of lines) {
    buryUntil(line, line.from + 1);
    // The clean-up writes lines that it moves anew.
    for (const before of moved.get(line) ?? []) put({ ...before, side: "base" });
    buryUntil(line, line.to);
    if (gone.has(line)) graves.push({ side: line.side, at });
    else {
      put(once.has(line) ? { ...line, side: "base" } : line);
      renewed.set(line, after.at(-1) as MergedLine);
    }
  }
  for (; grave < tombstones.length; grave++)
    graves.push({ ...(tombstones[grave] as Tombstone), at });
  const left = moves.filter(
    ({ first, again }) => ![...first, ...again].some((line) => gone.has(line)),
  );
  const renew = (copy: readonly MergedLine[]) => copy.map((line) => renewed.get(line) ?? line);
  return {
    lines: after,
    tombstones: graves,
    moves: left.map(({ first, again }) => ({ first: renew(first), again: renew(again) })),
  };
}
