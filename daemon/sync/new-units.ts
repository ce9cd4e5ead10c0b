import type { SyncUnit } from "../budget/sync-units.ts";

/** For how long the first text of a project is waited for, once the service was heard about it. */
const FIRST_TEXT_MS_MAX = 120_000;

/** What tells of folders that are just being linked. */
export interface NewUnitsOptions {
  /** Folders are being linked: further projects will have to be called about. */
  readonly isLinking?: (() => boolean) | undefined;
  /** Whether a followed file of the project was not read to an end yet, and soon will be. */
  readonly isTextAwaited?: ((project: SyncUnit) => boolean) | undefined;
}

/**
 * Projects that have just come to be followed, until their first texts are taken. A call that waits
 * for all that were linked in one go carries all of them. How long linking takes, and then reading
 * each folder's text, depends on how busy the machine is, so no pause shows that more will come.
 * Times are by one steady clock.
 */
export class NewUnits {
  readonly #options: NewUnitsOptions;
  readonly #unheard = new Set<SyncUnit>();
  /** When the service was heard about these, so that their texts are taken. */
  readonly #heardAt = new Map<SyncUnit, number>();

  constructor(options: NewUnitsOptions) {
    this.#options = options;
  }

  came(units: readonly SyncUnit[]): void {
    for (const unit of units) this.#unheard.add(unit);
  }

  /** The service was heard about these units; to be called before anybody else is told. */
  heard(units: readonly SyncUnit[], now: number): void {
    for (const unit of units) if (this.#unheard.delete(unit)) this.#heardAt.set(unit, now);
  }

  /** The unit is gone, or its first text is taken: what comes now is written by somebody. */
  forget(unit: SyncUnit): void {
    this.#unheard.delete(unit);
    this.#heardAt.delete(unit);
  }

  has(unit: SyncUnit, now: number): boolean {
    return this.#unheard.has(unit) || this.#isJustHeard(unit, now);
  }

  isHeard(unit: SyncUnit): boolean {
    return this.#heardAt.has(unit);
  }

  /** Whether there will be more to call about. */
  isMoreComing(now: number): boolean {
    if (this.#options.isLinking?.()) return true;
    const heard = [...this.#heardAt.keys()].filter((unit) => this.#isJustHeard(unit, now));
    return heard.some((unit) => this.#options.isTextAwaited?.(unit));
  }

  #isJustHeard(unit: SyncUnit, now: number): boolean {
    const at = this.#heardAt.get(unit);
    return at !== undefined && now - at < FIRST_TEXT_MS_MAX;
  }
}
