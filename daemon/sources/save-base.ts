import { commonLines, diffLines, hasWord } from "../../shared/replica/line-diff.ts";
import type { WriteContext } from "../../shared/replica/store.ts";
import type { CapturedText } from "../../shared/replica/text.ts";
import { lineEdits } from "../../shared/replica/text-edits.ts";
import { splitForm } from "../../shared/replica/text-form.ts";
import { SpanList, SpanReader } from "../../shared/replica/text-spans.ts";
import type { World } from "../../shared/world.ts";
import type { DaemonTables } from "../tables.ts";
import type { FileContent } from "./file-edit.ts";
import { type FileState, findVersion } from "./follow-store.ts";

/** A save may come from a buffer that was read this long ago. */
const BUFFER_AGE_MS_MAX = 60_000;

/** Nobody reads what we wrote, undoes it and saves sooner; a key pressed twice saves again, too. */
const UNDO_MS_MIN = 3000;

/**
 * Tells from which state of a followed file a save was made. Normally from the last one. But a
 * buffer may not have seen what we wrote into the file lately: so such a save takes away nothing
 * that our writes of the last minute brought, and brings back nothing that they took away. When it
 * leaves the file just as this machine last saved it, that is meant.
 */
export class SaveBase {
  readonly #dir: string;
  readonly #world: Pick<World, "monotonic">;
  #wroteAt = Number.NEGATIVE_INFINITY;

  constructor(dir: string, world: Pick<World, "monotonic">) {
    this.#dir = dir;
    this.#world = world;
  }

  /** The file was written by us. */
  wrote(): void {
    this.#wroteAt = this.#world.monotonic();
  }

  async find(
    { db }: WriteContext<DaemonTables>,
    current: FileState,
    file: FileContent,
  ): Promise<FileState> {
    const { lines } = splitForm(file.content);
    const known = await findVersion(db, this.#dir, file.savedAt - BUFFER_AGE_MS_MAX);
    if (!known || isBlank(lines)) return current;
    if (known.base.text === lines && this.#world.monotonic() - this.#wroteAt >= UNDO_MS_MIN) {
      return current;
    }
    if (isBlank(known.base.text) && hasMostOf(current.base.text, lines)) return current;
    return { ...known, base: withLinesOf(known.base, current.base, lines) };
  }
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Whether `lines` has at least half of the lines of `text` that have a word. */
function hasMostOf(text: string, lines: string): boolean {
  const words = text.split("\n").filter(hasWord);
  const deleted = lineEdits(text, lines, diffLines).flatMap(({ from, to }) => {
    return text.slice(from, to).split("\n").filter(hasWord);
  });
  return deleted.length * 2 <= words.length;
}

/**
 * The version `known` with those lines that `later` brought and `lines` has, too: they need not be
 * inserted again. Lines that `later` brought and `lines` has not are not in it and so not deleted.
 */
function withLinesOf(known: CapturedText, later: CapturedText, lines: string): CapturedText {
  const [before, after, saved] = [
    splitLines(known.text),
    splitLines(later.text),
    splitLines(lines),
  ];
  const hadBefore = new Set(commonLines(before, saved).map(([, at]) => at));
  const places = new Map(commonLines(after, saved));
  const isNew = (at: number) => !hadBefore.has(places.get(at) ?? Number.NaN) && places.has(at);
  const base = new TextCopier();
  const [fromKnown, fromLater] = [base.source(known, before), base.source(later, after)];
  for (const { at, removed, from, added } of diffLines(before, after)) {
    fromKnown(at + removed);
    for (const [first, end] of runsWhere(from, from + added, isNew)) {
      // Blank lines and fences alone may be those of another place.
      if (after.slice(first, end).some(hasWord)) fromLater(end, first);
    }
  }
  fromKnown(before.length);
  return base.text();
}

/** Puts a captured text together from lines of others. */
class TextCopier {
  readonly #spans = new SpanList();
  #text = "";

  /** Returns what copies the lines up to `end`, from `first` or else from where it was before. */
  source({ spans }: CapturedText, lines: readonly string[]) {
    const reader = new SpanReader(spans);
    let [line, offset] = [0, 0];
    return (end: number, first = line) => {
      offset += lengthOf(lines.slice(line, first));
      const copied = lines.slice(first, end).join("");
      reader.copy(offset, offset + copied.length, this.#spans);
      this.#text += copied;
      line = end;
      offset += copied.length;
    };
  }

  text(): CapturedText {
    return { text: this.#text, spans: this.#spans.spans };
  }
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}

/** Each line with its line break. */
function splitLines(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

/** The longest runs of numbers from `from` to below `to` for which `holds`, as [first, end). */
function runsWhere(from: number, to: number, holds: (at: number) => boolean): [number, number][] {
  const runs: [number, number][] = [];
  for (let at = from; at < to; at++) {
    if (!holds(at)) continue;
    const last = runs.at(-1);
    if (last?.[1] === at) last[1] = at + 1;
    else runs.push([at, at + 1]);
  }
  return runs;
}
