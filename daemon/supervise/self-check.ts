import type { Timer, World } from "../../shared/world.ts";

/** What is looked at, and what is told. */
export interface SelfCheckOptions {
  readonly world: World;
  /** Time between two looks. */
  readonly intervalMs: number;
  /** Whether the daemon's own socket answers. Never rejects, and has a deadline of its own. */
  readonly answers: () => Promise<boolean>;
  /** Processor time that this process has used so far, in milliseconds. */
  readonly cpuMs: () => number;
  /** At each look: the event loop turns. */
  readonly onBeat: () => void;
  /** Only a new start helps. Called once; after it nothing is looked at. */
  readonly onSick: (reason: string) => void;
}

/** As many looks in a row without an answer are no accident. */
const SILENT_LOOKS_MAX = 3;
/** A look counts as busy when more of a core than this was used since the last one. */
const BUSY_SHARE = 0.9;
/** Work ends some time; what keeps a core busy for so long goes round in circles. */
const BUSY_MS_MAX = 10 * 60_000;

/** Looks from within whether the daemon still does what it is there for. */
export class SelfCheck {
  readonly #options: SelfCheckOptions;
  #timer: Timer | undefined;
  #stopped = false;
  #silentLooks = 0;
  #busyMs = 0;
  #lookedAt: number;
  #cpuMs: number;

  constructor(options: SelfCheckOptions) {
    this.#options = options;
    this.#lookedAt = options.world.monotonic();
    this.#cpuMs = options.cpuMs();
    this.#next();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #next(): void {
    const { world, intervalMs } = this.#options;
    this.#timer = world.setTimer(intervalMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    this.#options.onBeat();
    this.#measure();
    this.#silentLooks = (await this.#options.answers()) ? 0 : this.#silentLooks + 1;
    if (this.#stopped) return;
    const reason = this.#sickness();
    if (reason === undefined) {
      this.#next();
      return;
    }
    this.stop();
    this.#options.onSick(reason);
  }

  #measure(): void {
    const now = this.#options.world.monotonic();
    const cpuMs = this.#options.cpuMs();
    const elapsedMs = now - this.#lookedAt;
    const busy = cpuMs - this.#cpuMs > elapsedMs * BUSY_SHARE;
    this.#busyMs = busy ? this.#busyMs + elapsedMs : 0;
    this.#lookedAt = now;
    this.#cpuMs = cpuMs;
  }

  #sickness(): string | undefined {
    if (this.#silentLooks >= SILENT_LOOKS_MAX) return "its socket did not answer";
    if (this.#busyMs >= BUSY_MS_MAX) return "it kept a processor busy for too long";
    return undefined;
  }
}
