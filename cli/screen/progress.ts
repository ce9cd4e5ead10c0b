import { realWorld } from "../../shared/world-real.ts";
import { bytesShown, spanShown } from "./output.ts";
import { visible } from "./visible.ts";

/** Shorter work gets no bar. */
const BAR_AFTER_MS = 1000;
const REDRAW_MS = 100;
const BAR_LENGTH = 24;
const MS_PER_S = 1000;

/** Where a bar is drawn, and its clock; by default standard error and the system's. */
export interface ProgressStage {
  readonly isTerminal: boolean;
  columns(): number;
  write(text: string): void;
  /** Milliseconds since an arbitrary moment. */
  now(): number;
}

const STANDARD_ERROR: ProgressStage = {
  isTerminal: process.stderr.isTTY === true && process.env.TERM !== "dumb",
  columns: () => process.stderr.columns,
  write: (text) => void process.stderr.write(text),
  now: () => realWorld.monotonic(),
};

/**
 * A bar on standard error for work of over a second, with its rate and the time left. Draws nothing
 * where that is no terminal. `unit`: what is counted.
 */
export class Progress {
  readonly #label: string;
  readonly #unit: string;
  readonly #stage: ProgressStage;
  readonly #startedAt: number;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #drawn = false;

  constructor(label: string, unit: string, stage: ProgressStage = STANDARD_ERROR) {
    this.#label = label;
    this.#unit = unit;
    this.#stage = stage;
    this.#startedAt = stage.now();
  }

  /**
   * `done` of `total` are finished. The total may grow. While it is 0, the time that has passed is
   * shown in the bar's place.
   */
  update(done: number, total: number): void {
    const stage = this.#stage;
    const now = stage.now();
    const elapsedMs = now - this.#startedAt;
    if (!stage.isTerminal) return;
    if (elapsedMs < BAR_AFTER_MS || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#drawn = true;
    const unit = this.#unit;
    const how = total === 0 ? spanShown(elapsedMs) : barLine({ done, total, unit, elapsedMs });
    const line = `${visible(this.#label)} ${how}`;
    stage.write(`\r\x1b[K${line.slice(0, Math.max(stage.columns() - 1, 1))}`);
  }

  /** Removes the bar, so that the next output begins on an empty line. */
  end(): void {
    if (this.#drawn) this.#stage.write("\r\x1b[K");
    this.#drawn = false;
  }
}

interface BarCounts {
  readonly done: number;
  readonly total: number;
  readonly unit: string;
  readonly elapsedMs: number;
}

/** `━━━━━━────── 1200 of 2400 memories, 600/s, 2 s left`; bytes in their units. */
export function barLine({ done, total, unit, elapsedMs }: BarCounts): string {
  const filled = Math.floor((BAR_LENGTH * Math.min(done, total)) / total);
  const bar = "━".repeat(filled) + "─".repeat(BAR_LENGTH - filled);
  const perSecond = (done * MS_PER_S) / Math.max(elapsedMs, 1);
  const shown = (count: number) => (unit === "bytes" ? bytesShown(count) : String(count));
  const counts = `${shown(done)} of ${shown(total)}${unit === "bytes" ? "" : ` ${unit}`}`;
  if (done === 0) return `${bar} ${counts}`;
  const rate = unit === "bytes" ? bytesShown(perSecond) : perSecond.toFixed(perSecond < 10 ? 1 : 0);
  return `${bar} ${counts}, ${rate}/s, ${spanShown(((total - done) / perSecond) * MS_PER_S)} left`;
}
