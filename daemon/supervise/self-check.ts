import type { Timer, World } from "../../shared/world.ts";

/** What is checked, and who is told. */
export interface SelfCheckOptions {
  readonly world: World;
  /** Time between two looks. */
  readonly intervalMs: number;
  /** Whether the daemon's own socket answers. Must not reject, and must have its own deadline. */
  readonly answers: () => Promise<boolean>;
  /** Processor time that this process has used so far, in milliseconds. */
  readonly cpuMs: () => number;
  /** Called at each check: the event loop runs. */
  readonly onBeat: () => void;
  /** Called once, when only a restart helps. No check follows. */
  readonly onSick: (reason: string) => void;
}

/** This many checks in a row without an answer are no accident. */
const SILENT_LOOKS_MAX = 3;
/** A check counts as busy if more of a core than this was used since the one before. */
const BUSY_SHARE = 0.9;
/** Work comes to an end. Whatever keeps a core busy for longer is an endless loop. */
const BUSY_MS_MAX = 10 * 60_000;

/** Checks from within whether the daemon still works. */
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
