import { plainLines } from "../../../shared/replica/text/text-form.ts";
import type { World } from "../../../shared/world.ts";
import { isMendedLine } from "./mended-line.ts";

/** An assistant may write what it read so long ago. */
const STALE_MS = 60_000;

/** A text that a file showed, by the steady clock. */
interface ShownText {
  readonly text: string;
  /** Until when; undefined for the one that it shows. */
  until: number | undefined;
}

/**
 * What files showed a moment ago. Two sessions of an assistant read a file, and each writes all of
 * it with a line of its own: the later one takes away what the earlier one added, and has not seen
 * it.
 */
export class RecentTexts {
  readonly #world: Pick<World, "monotonic">;
  readonly #shown = new Map<string, readonly ShownText[]>();

  constructor(world: Pick<World, "monotonic">) {
    this.#world = world;
  }

  /** The file shows this text from now on. */
  note(path: string, text: string): void {
    const now = this.#world.monotonic();
    const before = this.#recent(path);
    if (before.at(-1)?.text === text) return;
    for (const each of before) each.until ??= now;
    this.#shown.set(path, [...before, { text, until: undefined }]);
  }

  /**
   * What a save was made from, if its author has not seen the last text: the save has nothing of
   * what was added since, nor what would be a mend of it. Undefined where nothing speaks for that.
   */
  staleBase(path: string, saved: string): string | undefined {
    const [...earlier] = this.#recent(path);
    const last = earlier.pop();
    if (!last || last.text === saved) return undefined;
    const found = earlier.findLast(({ text }) => {
      const known = new Set(plainLines(text));
      const isNew = (line: string) => !known.has(line) && line.trim() !== "";
      const [added, own] = [plainLines(last.text).filter(isNew), plainLines(saved).filter(isNew)];
      return (
        added.length > 0 && !added.some((line) => own.some((each) => isMendedLine(line, each)))
      );
    });
    return found?.text;
  }

  #recent(path: string): readonly ShownText[] {
    const since = this.#world.monotonic() - STALE_MS;
    return (this.#shown.get(path) ?? []).filter(({ until = since }) => until >= since);
  }
}
