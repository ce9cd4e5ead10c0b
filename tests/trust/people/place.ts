import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SaveStyle } from "../../support/editor.ts";
import type { Machine } from "../../support/machine.ts";
import { busy } from "./busy.ts";
import type { Draft } from "./draft.ts";
import { type Change, compare, type Ledger, type LineEvent } from "./ledger.ts";
import { countNamed } from "./lines.ts";

export const FILE = "CLAUDE.md";

/** What git knows of a project's file. */
export type Kind = "ignored" | "untracked" | "tracked";

/** By the rules it is a minute. A busy daemon writes a change some seconds after it notes it. */
const YOUNG_MS = 50_000;

/** A tracked text that stands so long has been read by a daemon that is not kept waiting. */
export const READ_MS = 6000;

/** The same now: whatever git does next. */
function readMs(): number {
  return READ_MS * busy();
}

/** What a line is that a command of git puts into the file. */
export type ByGit = "git put" | "git brought" | "git left";

const OWN: readonly Change[] = ["put", "returned", "git put", "git brought"];

/** A save, to be looked for in the history. */
export interface Save {
  readonly entry: number;
  readonly at: number;
  readonly text: string;
  /** When something else was put into the file. */
  until: number | undefined;
  /** Git moved too soon, or the branch is none that is followed. */
  unsure: boolean;
}

/** One project on one machine: the only way by which the people there touch its file. */
export class Place {
  readonly path: string;
  readonly saves: Save[] = [];
  /** Whether its branch is the one whose text counts. */
  onMain = true;
  #text: string;
  #stamp = "";
  #busy = false;
  #unsettled: LineEvent[] = [];
  /** Lines that a save has undone others' change of, and what that is once the minute is over. */
  readonly #pending = new Map<string, { readonly since: number; readonly then: Change }>();
  #movedAt = Number.NEGATIVE_INFINITY;
  #changedAt = Number.NEGATIVE_INFINITY;

  constructor(
    readonly name: string,
    readonly kind: Kind,
    readonly machine: Machine,
    readonly dir: string,
    readonly ledger: Ledger,
  ) {
    this.path = join(dir, FILE);
    this.#text = find(this.path) ?? "";
    ledger.allow(this.#text);
    ledger.enter(name, "the start", this.#text);
  }

  /** The file as it is; notes what the daemon has written into it. */
  read(): string {
    this.look();
    return this.#text;
  }

  /** Notes what the daemon has written since the last look. */
  look(): void {
    if (this.#busy) return;
    const stamp = stampOf(this.path);
    if (stamp === this.#stamp || stamp === "") return;
    const text = find(this.path);
    if (text === undefined) return;
    this.#stamp = stamp;
    if (text === this.#text) return;
    const before = countNamed(this.#text);
    this.#text = text;
    this.ledger.enter(this.name, "the daemon wrote", text);
    compare(before, countNamed(text), (line, more) => {
      this.ledger.tell(line, more > 0 ? "came" : "went");
      this.#pending.delete(line);
    });
  }

  /** Somebody saves what they have in front of them, whatever the file holds by now. */
  save(who: string, draft: Draft, style: SaveStyle): void {
    this.look();
    const before = countNamed(this.#text);
    const text = draft.text();
    const saves = `${who} saves ${style} (${draft.done.join("; ") || "nothing new"})`;
    write(this.path, text, style);
    this.#stamp = stampOf(this.path);
    this.#text = text;
    this.#put(saves, text);
    const after = countNamed(text);
    this.ledger.allow(text);
    if (!this.onMain) {
      draft.saved();
      return;
    }
    compare(before, after, (line, more) => {
      this.#pending.delete(line);
      const meant = (draft.seen.get(line) ?? 0) > (after.get(line) ?? 0);
      this.#tell(line, more > 0 ? this.#return(line) : this.#removal(line, meant));
    });
    this.#age(after);
    for (const line of draft.moved) if (after.has(line)) this.#tell(line, "moved");
    draft.saved();
  }

  /** Runs git, which may change the file; `more`: what lines are that come by it. */
  async git(what: string, run: () => Promise<unknown>, more: ByGit = "git put"): Promise<void> {
    this.look();
    this.#busy = true;
    try {
      await run();
    } finally {
      this.#busy = false;
      if (this.kind === "tracked") this.#afterGit(what, this.onMain ? more : "git left");
      else {
        // A stash takes along what git does not track.
        if (stampOf(this.path) === "") this.#ended();
        this.ledger.enter(this.name, what, this.#text);
      }
    }
  }

  /** HEAD goes elsewhere, or the branch is left: what was not read before may never be. */
  unsettle(): void {
    const now = performance.now();
    if (this.kind !== "tracked") return;
    const last = this.saves.at(-1);
    if (last && now - last.at < readMs()) last.unsure = true;
    if (now - this.#changedAt < readMs()) for (const each of this.#unsettled) each.unsure = true;
    this.#unsettled = [];
    this.#movedAt = now;
  }

  #afterGit(what: string, come: ByGit): void {
    const text = find(this.path);
    if (text === undefined || text === this.#text) return;
    const before = countNamed(this.#text);
    this.#text = text;
    this.#stamp = stampOf(this.path);
    this.#ended();
    this.#changed();
    this.ledger.enter(this.name, what, text);
    this.ledger.allow(text);
    compare(before, countNamed(text), (line, more) => {
      if (come === "git left") this.ledger.tell(line, come);
      else this.#tell(line, more > 0 ? come : "git took");
    });
  }

  #put(what: string, text: string): void {
    this.#ended();
    const now = this.#changed();
    const entry = this.ledger.enter(this.name, what, text);
    const unsure = !this.onMain || now - this.#movedAt < readMs();
    this.saves.push({ entry, at: now, text, until: undefined, unsure });
  }

  /** What stood long enough before this change has been read. */
  #changed(): number {
    const now = performance.now();
    if (now - this.#changedAt >= readMs()) this.#unsettled = [];
    this.#changedAt = now;
    return now;
  }

  /** What was saved last is in the file no more. */
  #ended(): void {
    const last = this.saves.at(-1);
    if (last) last.until ??= performance.now();
  }

  #tell(line: string, change: Change): void {
    const unsure = performance.now() - this.#movedAt < readMs();
    this.#unsettled.push(this.ledger.tell(line, change, unsure));
  }

  /** Where the daemon has not read a save before the next one, the next one's time counts. */
  #age(after: ReadonlyMap<string, number>): void {
    const now = performance.now();
    for (const [line, { since, then }] of this.#pending) {
      if (now - since < YOUNG_MS) continue;
      this.#pending.delete(line);
      if (after.has(line) === (then === "put")) this.#tell(line, then);
    }
  }

  #return(line: string): Change {
    const wentAt = this.ledger.lastOf(line, this.name, ["went"])?.at;
    return this.#isYoung(line, wentAt, "put") ? "returned" : "put";
  }

  /** What somebody here has typed or brought back is this machine's own again. */
  #removal(line: string, meant: boolean): Change {
    if (meant) return "meant";
    const own = this.ledger.lastOf(line, this.name, OWN);
    const cameAt = this.ledger.firstOf(line, this.name, "came", own?.record)?.at;
    return this.#isYoung(line, cameAt, "overwritten") ? "protected" : "overwritten";
  }

  #isYoung(line: string, since: number | undefined, then: Change): boolean {
    if (since === undefined || performance.now() - since >= YOUNG_MS) return false;
    this.#pending.set(line, { since, then });
    return true;
  }
}

function find(path: string): string | undefined {
  try {
    return readFileSync(path).toString("utf8");
  } catch {
    return undefined;
  }
}

function stampOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino} ${found.mtimeNs} ${found.size}` : "";
}

function write(path: string, text: string, style: SaveStyle): void {
  if (style === "in place") {
    writeFileSync(path, text);
    return;
  }
  writeFileSync(`${path}.edited`, text);
  renameSync(`${path}.edited`, path);
}
