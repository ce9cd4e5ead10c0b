import { countNamed } from "./lines.ts";

/**
 * What happened to a line in a place's file.
 *
 * - `put`: somebody typed or pasted it; `moved`: it changed places with others.
 * - `returned`: an old buffer brought it back, which others had taken away less than a minute ago.
 * - `meant`: somebody who had it in front of them took it away.
 * - `protected`: a buffer that had never shown it was saved over it, less than a minute after it
 *   had come from others.
 * - `overwritten`: the same, later, or after it was saved into the same file by somebody else.
 * - `git put`, `git took`: a command of git, which counts like an edit; `git brought`: it came with
 *   others' commits, which their daemons have told of, so that what was deleted since may stay so;
 *   `git left`: a command that changes nothing by itself.
 * - `came`, `went`: what the daemon wrote.
 */
export type Change =
  | "put"
  | "moved"
  | "returned"
  | "meant"
  | "protected"
  | "overwritten"
  | "git put"
  | "git brought"
  | "git took"
  | "git left"
  | "came"
  | "went";

/** The place of what was there before anybody did anything. */
export const BEGINNING = "start";

export interface LineEvent {
  /** Milliseconds on the steady clock, like every time here. */
  readonly at: number;
  readonly place: string;
  readonly change: Change;
  readonly record: number;
  /** Git moved before the daemon could be sure of the file: it may count, and may not. */
  unsure: boolean;
}

/** A text that a place's file had, and how it came there. */
export interface LedgerEntry {
  readonly at: number;
  readonly place: string;
  readonly what: string;
  readonly text: string;
}

/** Everything that was done to the files of one project, and each line's part in it. */
export class Ledger {
  readonly entries: LedgerEntry[] = [];
  readonly lines = new Map<string, LineEvent[]>();
  /** How often a line was in one text of a person at most. */
  readonly copiesMax = new Map<string, number>();

  constructor(readonly startedAt: number) {}

  /** Notes a text; returns the entry's number. */
  enter(place: string, what: string, text: string): number {
    return this.entries.push({ at: performance.now(), place, what, text }) - 1;
  }

  /** A text that a person or git made: as many copies of its lines are nobody's mistake. */
  allow(text: string): void {
    for (const [line, count] of countNamed(text)) {
      this.copiesMax.set(line, Math.max(this.copiesMax.get(line) ?? 0, count));
    }
  }

  /** What the last entry did to a line. */
  tell(line: string, change: Change, unsure = false): LineEvent {
    const record = this.entries.length - 1;
    const { at, place } = this.entries[record] ?? { at: 0, place: "" };
    const event = { at, place, change, record, unsure };
    const events = this.lines.get(line);
    if (events) events.push(event);
    else this.lines.set(line, [event]);
    return event;
  }

  /** The last time that one of these happened to a line at a place. */
  lastOf(line: string, place: string, changes: readonly Change[]): LineEvent | undefined {
    const events = this.lines.get(line) ?? [];
    return events.findLast((each) => each.place === place && changes.includes(each.change));
  }

  /** The first time that this happened to a line at a place, after a record if one is given. */
  firstOf(line: string, place: string, change: Change, after = -1): LineEvent | undefined {
    const events = this.lines.get(line) ?? [];
    return events.find((each) => {
      return each.place === place && each.change === change && each.record > after;
    });
  }
}

/** Calls `tell` with each line that there is more or less of, and by how many. */
export function compare(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  tell: (line: string, more: number) => void,
): void {
  for (const line of new Set([...before.keys(), ...after.keys()])) {
    const more = (after.get(line) ?? 0) - (before.get(line) ?? 0);
    if (more !== 0) tell(line, more);
  }
}
