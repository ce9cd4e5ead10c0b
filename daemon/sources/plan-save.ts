import type { LineHunk } from "../../shared/replica/line-diff.ts";
import type { CapturedText } from "../../shared/replica/text.ts";
import type { NewTextConflict, PlacedLines } from "../../shared/replica/text-conflict-record.ts";
import type { Arrival } from "./arrivals.ts";
import { findRun, isBlank, isFence, runsOf } from "./line-runs.ts";
import { saveHunks } from "./save-hunks.ts";
import { type CapturedLine, joinLines, linesOf, overlap, splitLines } from "./text-lines.ts";

/** What a save of a file is judged by. */
export interface SaveFacts {
  /** The file as it was last read or written, or what git says that it was made from. */
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
  /** git brought it with commits of others: what the document has of them already is the same. */
  readonly isPulled: boolean;
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
 * - lines that others moved and the save has at their former place stay where others put them;
 * - lines that others brought together and the save has, all of them, elsewhere are moved.
 */
export function planSave(facts: SaveFacts): SavePlan {
  return new Planner(facts).plan();
}

/** What a save means that undoes nothing that its author may not have seen. */
export function plainEdit(base: CapturedText, lines: string): SavePlan {
  return { base, lines, leftOut: new Set(), moved: new Map(), conflicts: [] };
}

/** One hunk of the save's diff, and what is decided of its lines. */
interface Hunk extends LineHunk {
  /** Indices of the base's lines that stay. */
  readonly kept: number[];
}

/** What a save undid of one change of others', by indices. */
interface Undone {
  /** Of the base's lines: those that stay, and the hunks that they are in. */
  readonly kept: number[];
  readonly hunks: Set<Hunk>;
  /** Of the saved lines: those that come back, that stay where others put them, that it moved. */
  readonly returned: number[];
  readonly putByOthers: number[];
  readonly shifted: { readonly from: PlacedLines; readonly at: number }[];
}

class Planner {
  readonly #facts: SaveFacts;
  readonly #before: readonly CapturedLine[];
  readonly #after: readonly string[];
  readonly #hunks: readonly Hunk[];
  /** Added lines that nothing was decided of yet, by index. */
  readonly #open = new Set<number>();
  readonly #leftOut = new Set<number>();
  readonly #moved = new Map<number, Arrival>();
  /** Lines of the document that a former save left out and the file does not show yet. */
  readonly #joined: CapturedLine[] = [];
  readonly #undone = new Map<Arrival, Undone>();

  constructor(facts: SaveFacts) {
    this.#facts = facts;
    this.#before = linesOf(facts.base);
    this.#after = splitLines(facts.lines);
    const hunks = this.#diff();
    this.#hunks = hunks.map((hunk) => ({ ...hunk, kept: [] }));
    for (const { from, added } of hunks) {
      for (let at = from; at < from + added; at++) this.#open.add(at);
    }
  }

  #diff(): readonly LineHunk[] {
    const texts = this.#before.map(({ text }) => text);
    return saveHunks(texts, this.#after, (at) => this.#arrivalAt(at) !== undefined);
  }

  plan(): SavePlan {
    if (this.#facts.isPulled) this.#leaveOutShown();
    if (this.#facts.unseen.length > 0) {
      for (const hunk of this.#hunks) this.#judgeRemoved(hunk);
      this.#joinUnshown();
      this.#judgeAdded();
      for (const hunk of this.#hunks) this.#judgeBlank(hunk);
    }
    this.#leaveOutBlank();
    const kept = new Set(this.#hunks.flatMap((hunk) => hunk.kept));
    const base = this.#before.filter((_, at) => !kept.has(at));
    return {
      base: joinLines([...base, ...this.#joined]),
      lines: this.#after.filter((_, at) => !this.#leftOut.has(at)).join(""),
      leftOut: this.#leftOut,
      moved: this.#moved,
      conflicts: [...this.#undone].flatMap(([arrival, undone]) => this.#tell(arrival, undone)),
    };
  }

  /** Lines that others brought, but for blank ones: together they are moved, or they stay. */
  #judgeRemoved(hunk: Hunk): void {
    const indices = range(hunk.at, hunk.removed).filter((at) => !isBlank(this.#textAt(at)));
    for (const { key: arrival, indices: run } of runsOf(indices, (at) => this.#arrivalAt(at))) {
      const twins = this.#twinsOf(run.map((at) => this.#textAt(at)));
      const undone = this.#undoneOf(arrival);
      if (!twins) {
        hunk.kept.push(...run);
        const left = this.#notMoved(run, arrival, undone);
        undone.kept.push(...left);
        if (left.length > 0) undone.hunks.add(hunk);
      } else if (run.every((at) => arrival.moved.includes(this.#textAt(at)))) {
        hunk.kept.push(...run);
        undone.putByOthers.push(...twins);
        for (const at of twins) this.#leftOut.add(at);
      } else {
        const from = this.#placeOf(run);
        for (const at of twins) {
          this.#moved.set(at, arrival);
          undone.shifted.push({ from, at });
        }
      }
    }
  }

  /** Of a block that is not all elsewhere in the save: those lines that others have not moved. */
  #notMoved(run: readonly number[], { moved }: Arrival, undone: Undone): number[] {
    return run.filter((at) => {
      const text = this.#textAt(at);
      const [twin] = (moved.includes(text) && this.#twinsOf([text])) || [];
      if (twin === undefined) return true;
      undone.putByOthers.push(twin);
      this.#leftOut.add(twin);
      return false;
    });
  }

  /** Added lines that are these, all together. */
  #twinsOf(texts: readonly string[]): readonly number[] | undefined {
    if (texts.every(isFence)) return undefined;
    for (const { from, added } of this.#hunks) {
      const open = range(from, added).filter((at) => !isBlank(this.#after[at] as string));
      const found = findRun(open, texts, (at) =>
        this.#open.has(at) ? this.#after[at] : undefined,
      );
      if (!found) continue;
      for (const at of found) this.#open.delete(at);
      return found;
    }
    return undefined;
  }

  /** What a save left out and has again at another place was cut and pasted. */
  #joinUnshown(): void {
    for (const { key: arrival, lines } of this.#unshownRuns((spans) => this.#broughtBy(spans))) {
      const twins = this.#twinsOf(lines.map(({ text }) => text));
      if (!twins) continue;
      for (const at of twins) this.#moved.set(at, arrival);
      this.#joined.push(...lines);
    }
  }

  /** What git brings and the document has beyond the file, as it stands together, is the same. */
  #leaveOutShown(): void {
    const anybody = {};
    const runs = this.#unshownRuns(() => anybody);
    const shown = runs.map(({ lines }) => lines.map(({ text }) => text));
    for (const { from, added } of this.#hunks) {
      const lines = range(from, added).filter((at) => !isBlank(this.#after[at] as string));
      const texts = lines.map((at) => this.#after[at] as string);
      const isShown = shown.some((run) => findRun(run, texts, (text) => text) !== undefined);
      if (lines.length === 0 || !isShown) continue;
      for (const at of lines) {
        this.#leftOut.add(at);
        this.#open.delete(at);
      }
    }
  }

  /** The document's lines that the file does not show, but for blank ones, run by run. */
  #unshownRuns<Key>(keyOf: (spans: CapturedLine["spans"]) => Key | undefined) {
    const live = linesOf(this.#facts.live).filter(({ text }) => !isBlank(text));
    const shown = this.#facts.base.spans;
    const keys = live.map(({ spans }) => (overlap(spans, shown) ? undefined : keyOf(spans)));
    const all = range(0, live.length);
    return runsOf(all, (at) => keys[at]).map(({ key, indices }) => {
      return { key, lines: indices.map((at) => live[at] as CapturedLine) };
    });
  }

  #judgeAdded(): void {
    for (const arrival of this.#facts.unseen) {
      const taken = new Map<string, number>();
      for (const text of arrival.taken) taken.set(text, (taken.get(text) ?? 0) + 1);
      for (const at of this.#open) {
        const text = this.#after[at] as string;
        const count = taken.get(text) ?? 0;
        if (count === 0 || isFence(text)) continue;
        taken.set(text, count - 1);
        this.#open.delete(at);
        this.#undoneOf(arrival).returned.push(at);
      }
    }
  }

  /** Blank lines that others brought stay with the lines that they stand between. */
  #judgeBlank(hunk: Hunk): void {
    if (hunk.kept.length === 0) return;
    for (const at of range(hunk.at, hunk.removed)) {
      if (isBlank(this.#textAt(at)) && this.#arrivalAt(at)) hunk.kept.push(at);
    }
    hunk.kept.sort((one, other) => one - other);
  }

  /** Blank lines go nowhere with the lines that go nowhere. */
  #leaveOutBlank(): void {
    for (const { from, added } of this.#hunks) {
      const all = range(from, added);
      const texts = all.filter((at) => !isBlank(this.#after[at] as string));
      if (texts.length === 0 || texts.some((at) => !this.#leftOut.has(at))) continue;
      for (const at of all) this.#leftOut.add(at);
    }
  }

  /** One conflict for all that a save undid of a change in one way. */
  #tell(arrival: Arrival, undone: Undone): NewTextConflict[] {
    const { machine, savedAt } = this.#facts;
    const [mine, theirs] = [
      { machine, at: savedAt },
      { machine: arrival.machine, at: arrival.at },
    ];
    const found: NewTextConflict[] = [];
    if (undone.kept.length > 0) {
      const kept = placedRuns(undone.kept, (at) => this.#before[at]?.text);
      const added = this.#addedIn(undone.hunks);
      found.push({
        kind: "unseen",
        versions: [
          { ...theirs, text: textOf(kept), places: kept },
          { ...mine, text: textOf(added), places: added },
        ],
      });
    }
    const told = new Set([...undone.hunks].flatMap(({ from, added }) => range(from, added)));
    const alone = undone.returned.filter((at) => !told.has(at));
    const back = placedRuns(alone, (at) => this.#after[at]);
    if (back.length > 0) {
      const versions = [
        { ...theirs, text: "" },
        { ...mine, text: textOf(back), places: back },
      ] as const;
      found.push({ kind: "unseen", versions });
    }
    return [...found, ...this.#tellMoves(undone, mine, theirs)];
  }

  #tellMoves({ putByOthers, shifted }: Undone, mine: Side, theirs: Side): NewTextConflict[] {
    const found: NewTextConflict[] = [];
    const wanted = placedRuns(putByOthers, (at) => this.#after[at]);
    if (wanted.length > 0) {
      const text = textOf(wanted);
      const versions = [
        { ...theirs, text, isStanding: true },
        { ...mine, text, places: wanted },
      ] as const;
      found.push({ kind: "moved", versions });
    }
    const from = [...new Set(shifted.map((each) => each.from))];
    if (from.length > 0) {
      const text = textOf(from);
      const versions = [
        { ...theirs, text, places: from },
        { ...mine, text, isStanding: true },
      ] as const;
      found.push({ kind: "moved", versions });
    }
    return found;
  }

  /** What the save put where it left something out. */
  #addedIn(hunks: ReadonlySet<Hunk>): PlacedLines[] {
    const indices = [...hunks].flatMap(({ from, added }) => range(from, added));
    const open = indices.filter((at) => !this.#leftOut.has(at) && !this.#moved.has(at));
    const hasText = open.some((at) => !isBlank(this.#after[at] as string));
    return hasText ? placedRuns(open, (at) => this.#after[at]) : [];
  }

  #placeOf(run: readonly number[]): PlacedLines {
    const [place] = placedRuns(run, (at) => this.#before[at]?.text);
    return place ?? { behind: "", text: "" };
  }

  #undoneOf(arrival: Arrival): Undone {
    const known = this.#undone.get(arrival);
    if (known) return known;
    const fresh = { kept: [], hunks: new Set<Hunk>(), returned: [], putByOthers: [], shifted: [] };
    this.#undone.set(arrival, fresh);
    return fresh;
  }

  #textAt(at: number): string {
    return (this.#before[at] as CapturedLine).text;
  }

  #arrivalAt(at: number): Arrival | undefined {
    return this.#broughtBy((this.#before[at] as CapturedLine).spans);
  }

  #broughtBy(spans: CapturedLine["spans"]): Arrival | undefined {
    return this.#facts.unseen.find(({ brought }) => overlap(spans, brought));
  }
}

interface Side {
  readonly machine: string | undefined;
  readonly at: number;
}

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => from + at);
}

/** Lines by index, joined where they stand together, and what each stands behind. */
function placedRuns(
  indices: readonly number[],
  textAt: (at: number) => string | undefined,
): PlacedLines[] {
  const places: PlacedLines[] = [];
  let next = Number.NaN;
  for (const at of [...indices].sort((one, other) => one - other)) {
    const text = textAt(at) ?? "";
    const last = at === next ? places.pop() : undefined;
    places.push(
      last ? { ...last, text: last.text + text } : { behind: textAt(at - 1) ?? "", text },
    );
    next = at + 1;
  }
  return places;
}

function textOf(places: readonly PlacedLines[]): string {
  return places.map(({ text }) => text).join("");
}
