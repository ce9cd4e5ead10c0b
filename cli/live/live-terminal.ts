import { writeSync } from "node:fs";

const CTRL_C = "\u0003";
const CTRL_Z = "\u001a";

/**
 * The sequences are those of every terminal since xterm (ECMA-48 and its private modes): there are
 * eight of them and no widgets, which is less than any library that would write them.
 */
const ESC = "\u001b[";
/** Another screen, so that the shell's own comes back as it was; no cursor, and lines are cut. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l`;
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`;
const HOME = `${ESC}H`;
const CLEAR_LINE = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;

const STDOUT = 1;

/** What a live terminal tells its owner. */
export interface TerminalEvents {
  /** It has another size, or was left and is entered again: all of it is to be painted. */
  readonly onRepaint: () => void;
  /** Somebody wants the program to end. */
  readonly onEnd: () => void;
}

/**
 * The whole of the user's terminal, from `enter` to `leave`. It is left in order however the
 * process ends, unless it is killed. What is typed is not shown; Ctrl-C and `q` end, Ctrl-Z stops.
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

  /** Puts the terminal back as it was. May be called again. */
  leave(): void {
    process.off("exit", this.#release);
    process.off("SIGTSTP", this.#stop);
    process.off("SIGCONT", this.#resumed);
    process.stdout.off("resize", this.#resized);
    process.stdin.off("data", this.#typed);
    process.stdin.pause();
    this.#release();
  }

  /** Shows these lines, which fit; writes only those that are not there already. */
  paint(lines: readonly string[]): void {
    if (!this.#isIn) return;
    // A line is cleared first: behind its last column there is none to clear from.
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
      // At the process's end nothing that waits is written any more.
      writeSync(STDOUT, LEAVE);
    } catch {
      // The terminal is gone.
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
    // As the terminal would do it: everything that runs in its foreground stops.
    else if (keys.includes(CTRL_Z)) process.kill(0, "SIGTSTP");
  };

  readonly #stop = (): void => {
    this.#release();
    process.kill(process.pid, "SIGSTOP");
  };
}
