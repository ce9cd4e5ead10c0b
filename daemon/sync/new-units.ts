import type { SyncUnit } from "../budget/sync-units.ts";

/** What tells of folders that are just being linked. */
export interface NewUnitsOptions {
  /** Folders are being linked: further projects will have to be called about. */
  readonly isLinking?: (() => boolean) | undefined;
  /** The first text of a project that the service was heard about is yet to be taken. */
  readonly isBeginning?: ((project: SyncUnit) => boolean) | undefined;
}

/**
 * Projects that have just come to be followed, until their first texts are taken. A call that waits
 * for all that were linked in one go carries all of them. How long linking takes, and then reading
 * each folder's text, depends on how busy the machine is, so no pause shows that more will come.
 */
export class NewUnits {
  readonly #options: NewUnitsOptions;
  readonly #unheard = new Set<SyncUnit>();
  /** The service was heard about these, so that their texts are taken now. */
  readonly #heard = new Set<SyncUnit>();

  constructor(options: NewUnitsOptions) {
    this.#options = options;
  }

  came(units: readonly SyncUnit[]): void {
    for (const unit of units) this.#unheard.add(unit);
  }

  /** The service was heard about these units; to be called before anybody else is told. */
  heard(units: readonly SyncUnit[]): void {
    for (const unit of units) if (this.#unheard.delete(unit)) this.#heard.add(unit);
  }

  /** The unit is gone, or its first text is taken: what comes now is written by somebody. */
  forget(unit: SyncUnit): void {
    this.#unheard.delete(unit);
    this.#heard.delete(unit);
  }

  has(unit: SyncUnit): boolean {
    return this.#unheard.has(unit) || this.#heard.has(unit);
  }

  /** Whether there will be more to call about. */
  isMoreComing(): boolean {
    const { isLinking, isBeginning } = this.#options;
    if (isLinking?.()) return true;
    for (const unit of this.#heard) if (isBeginning?.(unit)) return true;
    this.#heard.clear();
    return false;
  }
}
