import { diffSections, hasWord, type LineHunk } from "../../shared/replica/line-diff.ts";
import type { CapturedText } from "../../shared/replica/text.ts";
import type { NewTextConflict } from "../../shared/replica/text-conflict-record.ts";
import type { Arrival } from "./arrivals.ts";
import { type CapturedLine, joinLines, linesOf, overlap, splitLines } from "./text-lines.ts";

/** What a save of a file is judged by. */
export interface SaveFacts {
  /** The file as it was last read or written. */
  readonly base: CapturedText;
  /** The document as it is. */
  readonly live: CapturedText;
  /** The saved lines. */
  readonly lines: string;
  /** What came into the file so shortly before the save that its author may not have seen it. */
  readonly unseen: readonly Arrival[];
  /** This machine's name. */
  readonly machine: string | undefined;
  /** When it was saved, in milliseconds since the Unix epoch. */
  readonly savedAt: number;
  /**
   * Where git brought the save with other commits: the lines of those that other machines have
   * read. Undefined for what was saved here.
   */
  readonly told: ReadonlySet<string> | undefined;
}

/** What a save does. */
export interface SavePlan {
  /** What it is an edit of: lines that are not in it are left as they are. */
  readonly base: CapturedText;
  /** What the edit makes of that. */
  readonly lines: string;
  /** Which of the saved lines, by index, go nowhere: others have moved them, or brought them. */
  readonly leftOut: ReadonlySet<number>;
  /** Saved lines, by index, that the save has moved: they are still as new as they were. */
  readonly moved: ReadonlyMap<number, Arrival>;
  readonly conflicts: readonly NewTextConflict[];
}

/**
 * What a save of a followed file means. It is an edit from the text that the file had last: what it
 * adds goes in, what it leaves out goes, and what it moves is moved. Only where it undoes what
 * others changed in this file within `UNSEEN_MS` it may be a wish, or come from a buffer that has
 * not seen that change. Nothing in a text tells which: two machines may write the same line. So
 * both sides' text stays, and a conflict says so:
 *
 * - lines that others brought and the save has nowhere stay;
 * - lines that others took away and the save has come back;
 * - lines that others moved and the save has at their former place stay where others put them.
 *
 * What git brings of others' commits is theirs to add: what the document has of it already stays at
 * its place. A line that others have told of, and that it has no more, does not come back, and that
 * is a conflict.
 */
export function planSave(facts: SaveFacts): SavePlan {
  return new Planner(facts).plan();
}

/** One hunk of the save's diff, and what is decided of its lines. */
interface Hunk extends LineHunk {
  /** Indices of the base's lines that stay. */
  readonly kept: number[];
  /** Indices of saved lines that others had taken away. */
  readonly returned: number[];
}

class Planner {
  readonly #facts: SaveFacts;
  readonly #before: readonly CapturedLine[];
  readonly #after: readonly string[];
  readonly #hunks: readonly Hunk[];
  /** Indices of added lines by their text, those that are not paired yet. */
  readonly #added = new Map<string, number[]>();
  readonly #leftOut = new Set<number>();
  readonly #moved = new Map<number, Arrival>();
  /** Indices of the base's lines that stay where others moved them, which is told by itself. */
  readonly #putByOthers = new Set<number>();
  /** Lines of the document that a former save left out and the file does not show yet. */
  readonly #joined: CapturedLine[] = [];
  readonly #undone = new Map<Arrival, number[]>();

  constructor(facts: SaveFacts) {
    this.#facts = facts;
    this.#before = linesOf(facts.base);
    this.#after = splitLines(facts.lines);
    const hunks = diffSections(
      this.#before.map(({ text }) => text),
      this.#after,
    );
    this.#hunks = hunks.map((hunk) => ({ ...hunk, kept: [], returned: [] }));
    for (const { from, added } of hunks) {
      for (let at = from; at < from + added; at++) this.#noteAdded(at);
    }
  }

  #noteAdded(at: number): void {
    const text = this.#after[at] as string;
    if (!hasWord(text)) return;
    const known = this.#added.get(text);
    if (known) known.push(at);
    else this.#added.set(text, [at]);
  }

  plan(): SavePlan {
    const told = this.#leaveOutTold();
    if (this.#facts.unseen.length > 0) {
      for (const hunk of this.#hunks) this.#judgeRemoved(hunk);
      this.#joinUnshown();
      this.#judgeAdded();
      for (const hunk of this.#hunks) this.#judgeBlank(hunk);
      this.#leaveOutWordless();
    }
    const kept = new Set(this.#hunks.flatMap((hunk) => hunk.kept));
    const base = this.#before.filter((_, at) => !kept.has(at));
    return {
      base: joinLines([...base, ...this.#joined]),
      lines: this.#after.filter((_, at) => !this.#leftOut.has(at)).join(""),
      leftOut: this.#leftOut,
      moved: this.#moved,
      conflicts: [
        ...this.#hunks.flatMap((hunk) => this.#conflictOf(hunk)),
        ...this.#moves(),
        ...told,
      ],
    };
  }

  /** What git brings and the document has beyond the file is the same; see also `told`. */
  #leaveOutTold(): NewTextConflict[] {
    const { told, live, base, machine, savedAt } = this.#facts;
    if (!told) return [];
    const unshown = new Map<string, number>();
    for (const { text, spans } of linesOf(live)) {
      if (!overlap(spans, base.spans)) unshown.set(text, (unshown.get(text) ?? 0) + 1);
    }
    const missing: number[] = [];
    for (const [text, indices] of this.#added) {
      const count = unshown.get(text) ?? 0;
      const others = told.has(text) ? indices.splice(0) : indices.splice(0, count);
      for (const at of others) this.#leftOut.add(at);
      missing.push(...others.slice(count));
    }
    this.#leaveOutWordless();
    if (missing.length === 0) return [];
    missing.sort((one, other) => one - other);
    const text = missing.map((at) => this.#after[at]).join("");
    const places = missing.map((at) => {
      return { behind: this.#after[at - 1] ?? "", text: this.#after[at] as string };
    });
    const versions = [
      { text, machine, at: savedAt },
      { text: "", machine: undefined },
    ] as const;
    return [{ kind: "elsewhere", versions, places }];
  }

  #leaveOutWordless(): void {
    for (const { from, added } of this.#hunks) {
      const all = Array.from({ length: added }, (_, at) => from + at);
      const words = all.filter((at) => hasWord(this.#after[at] as string));
      if (words.length === 0 || words.some((at) => !this.#leftOut.has(at))) continue;
      for (const at of all) this.#leftOut.add(at);
    }
  }

  /** Lines that others brought, but for blank ones: they are moved, or they stay. */
  #judgeRemoved(hunk: Hunk): void {
    for (let at = hunk.at; at < hunk.at + hunk.removed; at++) {
      const { text, spans } = this.#before[at] as CapturedLine;
      const arrival = isBlank(text) ? undefined : this.#broughtBy(spans);
      if (!arrival) continue;
      const twin = this.#added.get(text)?.shift();
      if (twin === undefined) hunk.kept.push(at);
      else if (this.#wasMoved(text)) {
        hunk.kept.push(at);
        this.#putByOthers.add(at);
        this.#leaveOut(twin, arrival);
      } else this.#moved.set(twin, arrival);
    }
  }

  #leaveOut(at: number, arrival: Arrival): void {
    this.#leftOut.add(at);
    this.#undone.set(arrival, [...(this.#undone.get(arrival) ?? []), at]);
  }

  /** What a save left out and has again at another place was cut and pasted. */
  #joinUnshown(): void {
    for (const line of linesOf(this.#facts.live)) {
      if (!hasWord(line.text) || overlap(line.spans, this.#facts.base.spans)) continue;
      const arrival = this.#broughtBy(line.spans);
      const twin = arrival && this.#added.get(line.text)?.shift();
      if (twin === undefined || !arrival) continue;
      if (this.#wasMoved(line.text)) this.#leaveOut(twin, arrival);
      else {
        this.#moved.set(twin, arrival);
        this.#joined.push(line);
      }
    }
  }

  #judgeAdded(): void {
    const taken = new Map<string, number>();
    for (const text of this.#facts.unseen.flatMap((each) => each.taken)) {
      taken.set(text, (taken.get(text) ?? 0) + 1);
    }
    const open = new Set([...this.#added.values()].flat());
    for (const hunk of this.#hunks) {
      for (let at = hunk.from; at < hunk.from + hunk.added; at++) {
        const text = this.#after[at] as string;
        const count = taken.get(text) ?? 0;
        if (count === 0 || !open.has(at)) continue;
        taken.set(text, count - 1);
        hunk.returned.push(at);
      }
    }
  }

  /** Blank lines that others brought stay with the lines that they stand between. */
  #judgeBlank(hunk: Hunk): void {
    if (hunk.kept.length === 0) return;
    for (let at = hunk.at; at < hunk.at + hunk.removed; at++) {
      const { text, spans } = this.#before[at] as CapturedLine;
      if (isBlank(text) && this.#broughtBy(spans)) hunk.kept.push(at);
    }
    hunk.kept.sort((one, other) => one - other);
  }

  #conflictOf(hunk: Hunk): NewTextConflict[] {
    const { unseen, machine, savedAt } = this.#facts;
    const kept = hunk.kept
      .filter((at) => !this.#putByOthers.has(at))
      .map((at) => this.#before[at] as CapturedLine);
    const [first] = kept.filter(({ text }) => !isBlank(text));
    if (first) {
      const by = this.#broughtBy(first.spans);
      const added = this.#addedIn(hunk);
      const theirs = { text: textOf(kept), machine: by?.machine, ...(by && { at: by.at }) };
      const mine = { text: hasWord(added) ? added : "", machine, at: savedAt };
      return mine.text === theirs.text ? [] : [{ kind: "unseen", versions: [theirs, mine] }];
    }
    if (hunk.returned.length === 0) return [];
    const text = hunk.returned.map((at) => this.#after[at]).join("");
    const by = unseen.find(({ taken }) => taken.some((line) => text.includes(line)));
    const gone = { text: "", machine: by?.machine, ...(by && { at: by.at }) };
    return [{ kind: "unseen", versions: [gone, { text, machine, at: savedAt }] }];
  }

  #addedIn({ from, added }: Hunk): string {
    const lines = this.#after.slice(from, from + added);
    return lines.filter((_, at) => !this.#leftOut.has(from + at)).join("");
  }

  #moves(): NewTextConflict[] {
    const { machine, savedAt } = this.#facts;
    return [...this.#undone].map(([{ machine: by, at }, indices]) => {
      const text = indices.map((each) => this.#after[each]).join("");
      const versions = [
        { text, machine: by, at },
        { text, machine, at: savedAt },
      ] as const;
      const first = Math.min(...indices);
      const places = [{ behind: this.#after[first - 1] ?? "", text }];
      return { kind: "moved", versions, places };
    });
  }

  #broughtBy(spans: CapturedLine["spans"]): Arrival | undefined {
    return this.#facts.unseen.find(({ brought }) => overlap(spans, brought));
  }

  #wasMoved(text: string): boolean {
    return this.#facts.unseen.some(({ moved }) => moved.includes(text));
  }
}

function isBlank(line: string): boolean {
  return line.trim() === "";
}

function textOf(lines: readonly CapturedLine[]): string {
  return lines.map(({ text }) => text).join("");
}
