import type { Lab } from "./lab.ts";
import { type Machine, MEMSYNC } from "./machine.ts";
import { SHORT_LIVED } from "./short-lived.ts";
import { TerminalScreen } from "./terminal-screen.ts";
import { waitFor } from "./wait-for.ts";

const COLUMNS = 80;
const ROWS = 24;

/** Local modes of a terminal (termios): it shows what is typed, and hands it on line by line. */
const ECHO = 0o10;
const ICANON = 0o2;

/** The size at the start counts: a program may have printed before it is told of another. */
interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

/** A command of a machine at a terminal of its own, with somebody who reads and types there. */
export class TerminalSession implements AsyncDisposable {
  readonly #process: Bun.Subprocess;
  /** What the terminal shows now. */
  readonly screen: TerminalScreen;
  #shown = "";

  /** `env` is added to the machine's own. */
  constructor(
    { git }: Lab,
    { home, folder, service }: Machine,
    args: readonly string[],
    { env, columns = COLUMNS, rows = ROWS }: TerminalOptions = {},
  ) {
    this.screen = new TerminalScreen(columns, rows);
    const decoder = new TextDecoder();
    this.#process = Bun.spawn([...MEMSYNC, ...args], {
      cwd: folder,
      env: {
        ...git.env,
        ...SHORT_LIVED,
        TERM: "xterm-256color",
        MEMSYNC_HOME: home,
        MEMSYNC_KEYRING: "off",
        ...(service && { MEMSYNC_URL: service.url, MEMSYNC_TOKEN: service.token }),
        ...env,
      },
      terminal: {
        cols: columns,
        rows,
        data: (_, bytes) => {
          const text = decoder.decode(bytes, { stream: true });
          this.#shown += text;
          this.screen.write(text);
        },
      },
    });
  }

  /** All lines so far, without what moves the cursor. */
  get lines(): string[] {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal obeys
    return this.#shown.replace(/\u001b\[[\d;?]*[A-Za-z]/g, "").split(/\r?\n/);
  }

  /** Everything that was ever written to it. */
  get written(): string {
    return this.#shown;
  }

  async untilShown(what: RegExp): Promise<void> {
    await waitFor(`the terminal to show ${what}`, async () => what.test(this.lines.join("\n")));
  }

  /** Waits until what is on the screen now, line by line from the top, fits. */
  async untilOnScreen(what: RegExp): Promise<void> {
    await waitFor(`${what} on the screen`, () => what.test(this.screen.text)).catch((thrown) => {
      throw new Error(`${thrown}\n${this.screen.text}`);
    });
  }

  type(text: string): void {
    this.#process.terminal?.write(text);
  }

  /** The window has another size; the program is told. */
  resize(columns: number, rows: number): void {
    this.screen.resize(columns, rows);
    this.#process.terminal?.resize(columns, rows);
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Whether whoever types next sees it, as before. */
  get isAsBefore(): boolean {
    const modes = this.#process.terminal?.localFlags ?? 0;
    const { isOther, isCursorShown, isWrapping } = this.screen;
    return (
      (modes & ECHO) !== 0 && (modes & ICANON) !== 0 && !isOther && isCursorShown && isWrapping
    );
  }

  async untilAsBefore(): Promise<void> {
    await waitFor("the terminal to be as before", () => this.isAsBefore);
  }

  /** The exit status. */
  async ended(): Promise<number> {
    return await this.#process.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.exited;
    this.#process.terminal?.close();
  }
}
