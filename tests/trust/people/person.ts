import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { SAVE_STYLES } from "../../support/editor.ts";
import type { Dice } from "../simulate/dice.ts";
import { Draft } from "./draft.ts";
import { type Clipboard, edit, rewriteSection } from "./edits.ts";
import type { Place } from "./place.ts";
import { Words } from "./words.ts";

/** Somebody who thinks longer than the minute for which the daemon protects what others wrote. */
const THINKING_MS = [61_000, 75_000] as const;

export interface Habits {
  /** How likely it is that somebody thinks for over a minute before a save. */
  readonly thinks: number;
  /** How long somebody does something else in between, at most. */
  readonly breakMsMax: number;
}

/** Everybody who writes at one place: a person with an editor, and two kinds of assistants. */
export class Person {
  readonly words: Words;
  readonly #clipboard: Clipboard = [];
  readonly #dice: Dice;
  /** Whether the editor loads a file that has changed while nothing was typed. */
  readonly #reloads: boolean;
  #buffer: Draft | undefined;
  /** What the assistant that never reads has written last. */
  #versions: Draft | undefined;

  constructor(
    readonly place: Place,
    dice: Dice,
    readonly habits: Habits,
  ) {
    this.words = new Words(place.name, dice.fork());
    this.#dice = dice;
    this.#reloads = dice.chance(0.7);
  }

  /** A while at the editor: one or more saves of a buffer that stays open. */
  async atEditor(): Promise<void> {
    const dice = this.#dice;
    const buffer = this.#open();
    for (let left = 1 + dice.below(3); left > 0; left--) {
      for (let edits = 1 + dice.below(3); edits > 0; edits--) this.#type(buffer);
      if (dice.chance(this.habits.thinks)) await this.pause(...THINKING_MS);
      else await this.pause(0, 4000);
      this.place.save("the editor", buffer, dice.pick(SAVE_STYLES));
      if (dice.chance(0.2)) await this.#saveAgain(buffer);
    }
    this.#buffer = dice.chance(0.7) ? buffer : undefined;
  }

  /** An assistant reads the file, rewrites a section and saves again and again. */
  async atAssistant(): Promise<void> {
    const dice = this.#dice;
    const draft = new Draft(this.place.read());
    if (draft.lines.length === 0) return await this.atEditor();
    await this.pause(0, 3000);
    for (let left = 1 + dice.below(4); left > 0; left--) {
      rewriteSection(draft, this.words);
      this.place.save("the assistant", draft, dice.pick(SAVE_STYLES));
      await this.pause(100, 2500);
    }
  }

  /** An assistant that read the file once writes version after version. */
  async atGenerator(): Promise<void> {
    const dice = this.#dice;
    if (!this.#versions || dice.chance(0.4)) this.#versions = new Draft(this.place.read());
    const draft = this.#versions;
    for (let left = 2 + dice.below(4); left > 0; left--) {
      this.#type(draft);
      this.place.save("the generator", draft, dice.pick(SAVE_STYLES));
      await this.pause(300, 2500);
    }
  }

  /** Writes what the file has, and one edit: for those who are at git meanwhile. */
  quickEdit(): void {
    const draft = new Draft(this.place.read());
    this.#type(draft);
    this.place.save("the editor", draft, this.#dice.pick(SAVE_STYLES));
  }

  async pause(fromMs: number, toMs: number): Promise<void> {
    await delay(realWorld, this.#dice.between(fromMs, toMs));
  }

  #open(): Draft {
    const text = this.place.read();
    const buffer = this.#buffer;
    if (!buffer || (this.#reloads && !buffer.dirty)) return new Draft(text);
    return buffer;
  }

  /** Git merges nothing where one side has changed every line's end. */
  #type(draft: Draft): void {
    for (let tries = 0; tries < 5; tries++) {
      edit(draft, this.words, this.#clipboard, this.place.kind !== "tracked");
      if (draft.dirty) return;
    }
  }

  /** Who is not sure whether it was saved. */
  async #saveAgain(buffer: Draft): Promise<void> {
    await this.pause(0, 600);
    this.place.save("the editor, again,", buffer, this.#dice.pick(SAVE_STYLES));
  }
}
