import { BEGINNING, type Ledger, type LineEvent } from "./ledger.ts";
import { countNamed } from "./lines.ts";

/** What was put elsewhere so long before a removal has been seen by whoever removed it. */
const ARRIVED_MS = 30_000;

/** What became of the lines of a project. */
export interface Judgement {
  /** Lines that somebody saved. */
  readonly saved: number;
  readonly lost: readonly string[];
  /** As `lost`, but git moved within seconds of the save. */
  readonly unread: readonly string[];
  /** Deliberately deleted, there all the same, and nobody put it back. */
  readonly back: readonly string[];
  readonly backInConflict: readonly string[];
  /** There more often than anybody ever had it, and no conflict asks which one stays. */
  readonly doubled: readonly string[];
  readonly doubledInConflict: readonly string[];
  /** Removed by a buffer that never showed it, as the rules allow. */
  readonly overwritten: readonly string[];
}

/**
 * Holds the text that all have at rest against what was done to each line. `isInConflict`: whether
 * a conflict has a line, or one that is still open.
 */
export function judge(
  { entries, lines, copiesMax }: Ledger,
  text: string,
  isInConflict: (line: string, isOpen: boolean) => boolean,
): Judgement {
  const counts = countNamed(text);
  const all = new Set([...copiesMax.keys(), ...lines.keys()]);
  const fates = [...all].map((line) => {
    // Whoever took away one of two copies wants the other one.
    const isKept = ({ change, record }: LineEvent) =>
      TAKES.has(change) && countNamed(entries[record]?.text ?? "").has(line);
    const events = (lines.get(line) ?? []).filter((each) => !isKept(each));
    const fate = { events, present: (counts.get(line) ?? 0) > 0 };
    return { line, fate, verdict: verdictOf(fate) };
  });
  const of = (verdict: Verdict) =>
    fates.flatMap((each) => (each.verdict === verdict ? [each.line] : []));
  const back = of("back");
  const doubled = [...counts].flatMap(([line, count]) => {
    return count > (copiesMax.get(line) ?? 0) ? [line] : [];
  });
  return {
    saved: fates.filter(({ fate }) => fate.events.some(isPut)).length,
    lost: of("lost"),
    unread: of("unread"),
    back: back.filter((line) => !isInConflict(line, false)),
    backInConflict: back.filter((line) => isInConflict(line, false)),
    doubled: doubled.filter((line) => !isInConflict(line, true)),
    doubledInConflict: doubled.filter((line) => isInConflict(line, true)),
    overwritten: of("overwritten"),
  };
}

type Verdict = "lost" | "unread" | "back" | "overwritten" | "fine";

interface Fate {
  readonly events: readonly LineEvent[];
  readonly present: boolean;
}

const PUTS = new Set<LineEvent["change"]>(["put", "returned", "git put", "git brought"]);
const TAKES = new Set<LineEvent["change"]>(["meant", "overwritten", "git took"]);

function isPut({ change }: LineEvent): boolean {
  return PUTS.has(change);
}

function verdictOf({ events, present }: Fate): Verdict {
  const takes = events.filter(({ change }) => TAKES.has(change));
  if (present) return takes.some((take) => isUndone(take, events)) ? "back" : "fine";
  if (takes.some((take) => !isPutBack(take, events))) {
    return takes.every(({ change }) => change === "overwritten") ? "overwritten" : "fine";
  }
  const puts = events.filter(isPut);
  // It never left a branch that is not followed.
  if (puts.length === 0) return "fine";
  return puts.every(({ unsure }) => unsure) ? "unread" : "lost";
}

/** Whether whoever took it away has put it back since. */
function isPutBack({ record, place }: LineEvent, events: readonly LineEvent[]): boolean {
  return events.some((each) => {
    const isOwn = isPut(each) && each.change !== "git brought";
    return isOwn && each.place === place && each.record > record;
  });
}

/** Whether a line that somebody took away on purpose is there though nobody put it there. */
function isUndone(take: LineEvent, events: readonly LineEvent[]): boolean {
  if (take.change !== "meant" || take.unsure) return false;
  const puts = events.filter((each) => isPut(each) && each.change !== "returned");
  const many = new Set(puts.map(({ place }) => place)).size > 1;
  const moves = events.filter(({ change }) => change === "moved");
  const isLater = (each: LineEvent, slackMs: number) => {
    if (each.place === BEGINNING) return false;
    if (each.place === take.place) return each.record > take.record;
    return each.at > take.at - slackMs;
  };
  return !(
    puts.some((each) => isLater(each, many ? ARRIVED_MS : 0)) ||
    moves.some((each) => isLater(each, ARRIVED_MS))
  );
}
