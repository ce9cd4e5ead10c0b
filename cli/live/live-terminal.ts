import { writeSync } from "node:fs";

const CTRL_C = "\u0003";
const CTRL_Z = "\u001a";

/**
 * These sequences work on every terminal since xterm (ECMA-48 and its private modes). There are
 * nine of them and no widgets, so no library is needed.
 */
const ESC = "\u001b[";
/**
 * Switches to the alternate screen, so that the shell's own comes back unchanged; hides the cursor
 * and cuts long lines.
 */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l`;
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`;
const HOME = `${ESC}H`;
const CLEAR_LINE = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;

const STDOUT = 1;

/** Events of a live terminal. */
export interface TerminalEvents {
  /** Its size has changed, or it was left and entered again: everything has to be painted. */
  readonly onRepaint: () => void;
  /** The user wants to end the program. */
  readonly onEnd: () => void;
}

/**
 * Takes over the user's terminal from `enter` to `leave`. It is restored however the process ends,
 * except by a kill. Typed keys are not shown; Ctrl-C and `q` end, Ctrl-Z suspends.
 */
export class LiveTerminal {
  readonly #events: TerminalEvents;
  #painted: readonly string[] = [];
  #isIn = false;

  constructor(events: TerminalEvents) {
    this.#events = events;
  }

  enter(): void {
    this.#take();
    process.on("exit", this.#release);
    process.on("SIGTSTP", this.#stop);
    process.on("SIGCONT", this.#resumed);
    process.stdout.on("resize", this.#resized);
    process.stdin.on("data", this.#typed);
  }

  /** Restores the terminal. May be called several times. */
  leave(): void {
    process.off("exit", this.#release);
    process.off("SIGTSTP", this.#stop);
    process.off("SIGCONT", this.#resumed);
    process.stdout.off("resize", this.#resized);
    process.stdin.off("data", this.#typed);
    process.stdin.pause();
    this.#release();
  }

  /** Shows these lines, which fit. Writes only lines that have changed. */
  paint(lines: readonly string[]): void {
    if (!this.#isIn) return;
    // Each line is cleared before it is written: after the last column there is nothing left to
    // clear.
    const changed = lines.flatMap((line, at) =>
      line === this.#painted[at] ? [] : [`${ESC}${at + 1};1H${CLEAR_LINE}${line}`],
    );
    const isShorter = lines.length < this.#painted.length;
    const rest = isShorter ? `${ESC}${lines.length + 1};1H${CLEAR_BELOW}` : "";
    this.#painted = lines;
    if (changed.length > 0 || isShorter) process.stdout.write(changed.join("") + rest);
  }

  #take(): void {
    this.#painted = [];
    this.#isIn = true;
    if (process.stdin.isTTY) process.stdin.setRawMode(true);
    process.stdin.resume();
    process.stdout.write(`${ENTER}${HOME}${CLEAR_BELOW}`);
  }

  readonly #release = (): void => {
    if (!this.#isIn) return;
    this.#isIn = false;
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
    try {
      // Written at once, because a queued write would be lost at the end of the process.
      writeSync(STDOUT, LEAVE);
    } catch {
      // The terminal is closed.
    }
  };

  readonly #resized = (): void => {
    this.#painted = [];
    process.stdout.write(`${HOME}${CLEAR_BELOW}`);
    this.#events.onRepaint();
  };

  readonly #resumed = (): void => {
    this.#take();
    this.#events.onRepaint();
  };

  readonly #typed = (chunk: Buffer): void => {
    const keys = chunk.toString("utf8");
    if (keys.includes(CTRL_C) || keys === "q") this.#events.onEnd();
    // As the terminal would do it: suspends all processes in its foreground.
    else if (keys.includes(CTRL_Z)) process.kill(0, "SIGTSTP");
  };

  readonly #stop = (): void => {
    this.#release();
    process.kill(process.pid, "SIGSTOP");
  };
}
