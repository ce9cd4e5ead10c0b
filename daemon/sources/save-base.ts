import { commonLines, diffLines, hasWord } from "../../shared/replica/line-diff.ts";
import type { WriteContext } from "../../shared/replica/write-context.ts";
import type { CapturedText } from "../../shared/replica/text.ts";
import { lineEdits } from "../../shared/replica/text-edits.ts";
import { splitForm } from "../../shared/replica/text-form.ts";
import { SpanList, SpanReader, type TextSpan } from "../../shared/replica/text-spans.ts";
import type { World } from "../../shared/world.ts";
import type { DaemonTables } from "../tables.ts";
import type { FileContent } from "./file-edit.ts";
import {
  type FileState,
  listVersions,
  VERSION_AGE_MS_MAX,
  VERSION_DISTANCE_MS,
} from "./follow-store.ts";

type Context = WriteContext<DaemonTables>;
type Db = Context["db"];
type Clocks = Pick<World, "monotonic" | "now">;

/** A state that we set out to write over, when the clocks said this. */
interface Replaced {
  readonly state: FileState;
  /** By the steady clock. */
  readonly at: number;
  /** How far that was behind the wall clock, by which saves are dated. */
  readonly behind: number;
}

/** A save is taken so much later at most, but for one that was made while no daemon ran. */
const KEPT_MS_MAX = 3 * 60_000;

/** A save may come from a buffer that was read this long ago. */
const BUFFER_AGE_MS_MAX = 60_000;

/** Nobody reads what we wrote, undoes it and saves sooner; a key pressed twice saves again, too. */
const UNDO_MS_MIN = 10_000;

/**
 * Tells from which state of a followed file a save was made. Normally from the last one. But a
 * buffer may not have seen what we wrote into the file lately: so such a save takes away nothing
 * that our writes of the last minute brought, and brings back nothing that they took away. When it
 * leaves the file byte for byte as this machine last saved it, that is meant.
 */
export class SaveBase {
  readonly #dir: string;
  readonly #world: Clocks;
  #wroteAt = Number.NEGATIVE_INFINITY;
  /** What this process set out to write over lately; see `Replaced`. */
  #replaced: Replaced[] = [];
  /** Hashes of all that it set out to write over, and when: what is stored besides is older. */
  readonly #asked = new Map<string, number>();

  constructor(dir: string, world: Clocks) {
    this.#dir = dir;
    this.#world = world;
  }

  /** We are about to write over `state`, which may come to nothing. */
  replaces(state: FileState): void {
    const at = this.#world.monotonic();
    this.#forgetAsked(at - VERSION_AGE_MS_MAX);
    this.#asked.set(state.hash, at);
    const last = this.#replaced.at(-1);
    const isNear = last && at - last.at < VERSION_DISTANCE_MS && !isBlank(last.state.base.text);
    if (isNear) return;
    const kept = this.#replaced.filter((each) => at - each.at <= KEPT_MS_MAX);
    this.#replaced = [...kept, { state, at, behind: this.#behind() }];
  }

  /** A machine where nobody saves would remember all that ever came from others. */
  #forgetAsked(before: number): void {
    for (const [hash, at] of this.#asked) if (at < before) this.#asked.delete(hash);
  }

  /** The file was written by us. */
  wrote(): void {
    this.#wroteAt = this.#world.monotonic();
  }

  /** A save was taken, whose author has seen what we wrote before it. */
  forget(): void {
    this.#replaced = [];
    this.#asked.clear();
  }

  /** The base of a save into the followed file, which we know to have been in `current`. */
  async find({ db }: Context, current: FileState, file: FileContent): Promise<FileState> {
    return this.#choose(await this.#versions(db, file.savedAt, Infinity), current, file);
  }

  /** The same for a save into a file that we had written over when it was in `replaced`. */
  async findLate({ db }: Context, replaced: FileState, file: FileContent): Promise<FileState> {
    const until = this.#asked.get(replaced.hash);
    if (until === undefined) return replaced;
    return this.#choose(await this.#versions(db, file.savedAt, until), replaced, file);
  }

  #choose(versions: readonly FileState[], current: FileState, file: FileContent): FileState {
    const { lines } = splitForm(file.content);
    const sawText = hasMostOf(current.base.text, lines);
    const known = versions.find(({ base }) => !(sawText && isBlank(base.text)));
    if (!known || isBlank(lines)) return current;
    const sinceWriteMs = this.#world.monotonic() - this.#wroteAt;
    if (known.hash === file.hash && sinceWriteMs >= UNDO_MS_MIN) return current;
    return { ...known, base: withLinesOf(known.base, current.base, lines) };
  }

  /** Those until a steady time that a buffer saved then may have been read from, in order. */
  async #versions(db: Db, savedAt: number, until: number): Promise<FileState[]> {
    const stored = await listVersions(db, this.#dir, savedAt - BUFFER_AGE_MS_MAX);
    const behind = this.#behind();
    const recent = this.#replaced.filter((each) => {
      const steadyAge = savedAt - behind - each.at;
      const age = Math.min(steadyAge, savedAt - each.behind - each.at);
      return age <= BUFFER_AGE_MS_MAX + VERSION_DISTANCE_MS && each.at <= until;
    });
    const older = stored.filter(({ hash }) => !this.#asked.has(hash));
    return [...older, ...recent.map(({ state }) => state)];
  }

  /** How far the steady clock is behind the wall clock, which may be set. */
  #behind(): number {
    return this.#world.now() - this.#world.monotonic();
  }
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

/**
 * Whether `lines` has more than half of the lines of `text` that have a word. Half of them two
 * files of one template may have in common without either's author having seen the other's.
 */
function hasMostOf(text: string, lines: string): boolean {
  const words = text.split("\n").filter(hasWord);
  const deleted = lineEdits(text, lines, diffLines).flatMap(({ from, to }) => {
    return text.slice(from, to).split("\n").filter(hasWord);
  });
  return deleted.length * 2 < words.length;
}

/**
 * The version `known` with those lines that `later` brought and `lines` has, too: they need not be
 * inserted again. Lines that `later` brought and `lines` has not are not in it and so not deleted.
 * A line whose place in the document was taken by an equal one is in it as that.
 */
function withLinesOf(known: CapturedText, later: CapturedText, lines: string): CapturedText {
  const [before, after] = [identifyLines(known), identifyLines(later)];
  const saved = splitLines(lines);
  const hadBefore = new Set(commonLines(textsOf(before), saved).map(([, at]) => at));
  const places = new Map(commonLines(textsOf(after), saved));
  const [knownIds, laterIds] = [idsOf(before), idsOf(after)];
  const isNew = (at: number) =>
    places.has(at) && !hadBefore.has(places.get(at) ?? Number.NaN) && !knownIds.has(after[at]?.id);
  const base: Line[] = [];
  let [line, twin] = [0, 0];
  const takeCommon = (end: number) => {
    for (; line < end; line++, twin++) {
      const [one, other] = [before[line] as Line, after[twin] as Line];
      base.push(laterIds.has(one.id) || knownIds.has(other.id) ? one : other);
    }
  };
  for (const { at, removed, from, added } of diffLines(textsOf(before), textsOf(after))) {
    takeCommon(at);
    base.push(...before.slice(at, at + removed));
    for (const [first, end] of runsWhere(from, from + added, isNew)) {
      const brought = after.slice(first, end);
      // Blank lines and fences alone may be those of another place.
      if (brought.some(({ text }) => hasWord(text))) base.push(...brought);
    }
    [line, twin] = [at + removed, from + added];
  }
  takeCommon(before.length);
  return joinLines(withoutSpareCopies(base, saved, laterIds));
}

/**
 * Leaves out copies of a line that our writes took away (they cleaned up doubles, say) as far as
 * the save has fewer: else one of them could pass for the copy that was kept, and that be deleted.
 */
function withoutSpareCopies(
  base: readonly Line[],
  saved: readonly string[],
  laterIds: ReadonlySet<string | undefined>,
): Line[] {
  const spare = new Map<string, number>();
  for (const { text } of base) spare.set(text, (spare.get(text) ?? 0) + 1);
  for (const text of saved) spare.set(text, (spare.get(text) ?? 0) - 1);
  return base.filter(({ text, id }) => {
    const copies = spare.get(text) ?? 0;
    if (copies <= 0 || (id !== undefined && laterIds.has(id))) return true;
    spare.set(text, copies - 1);
    return false;
  });
}

/** A line of a version, with its line break. */
interface Line {
  readonly text: string;
  readonly spans: readonly TextSpan[];
  /** Of its first character; none if the document does not have it. */
  readonly id: string | undefined;
}

function identifyLines({ text, spans }: CapturedText): Line[] {
  const reader = new SpanReader(spans);
  let start = 0;
  return splitLines(text).map((line) => {
    const own = new SpanList();
    reader.copy(start, start + line.length, own);
    start += line.length;
    const [first] = own.spans;
    const id = first && first.client !== null ? `${first.client} ${first.clock}` : undefined;
    return { text: line, spans: own.spans, id };
  });
}

function textsOf(lines: readonly Line[]): string[] {
  return lines.map(({ text }) => text);
}

function idsOf(lines: readonly Line[]): ReadonlySet<string | undefined> {
  return new Set(lines.flatMap(({ id }) => (id === undefined ? [] : [id])));
}

function joinLines(lines: readonly Line[]): CapturedText {
  const spans = new SpanList();
  for (const line of lines) {
    for (const { client, clock, length } of line.spans) spans.push(client, clock, length);
  }
  return { text: textsOf(lines).join(""), spans: spans.spans };
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
