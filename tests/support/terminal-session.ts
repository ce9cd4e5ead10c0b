import type { Lab } from "./lab.ts";
import { MEMSYNC, type Machine } from "./machine.ts";
import { waitFor } from "./wait-for.ts";

const COLUMNS = 80;
const ROWS = 24;

/** A command of a machine at a terminal of its own, with somebody who reads and types there. */
export class TerminalSession implements AsyncDisposable {
  readonly #process: Bun.Subprocess;
  #shown = "";

  constructor({ git }: Lab, { home, folder }: Machine, ...args: readonly string[]) {
    const decoder = new TextDecoder();
    const keep = (text: string) => {
      this.#shown += text;
    };
    this.#process = Bun.spawn([...MEMSYNC, ...args], {
      cwd: folder,
      env: { ...git.env, MEMSYNC_HOME: home, MEMSYNC_KEYRING: "off", NO_COLOR: "1" },
      terminal: {
        cols: COLUMNS,
        rows: ROWS,
        data: (_, bytes) => keep(decoder.decode(bytes, { stream: true })),
      },
    });
  }

  /** All lines so far, without what moves the cursor. */
  get lines(): string[] {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal obeys
    return this.#shown.replace(/\u001b\[[\d;?]*[A-Za-z]/g, "").split(/\r?\n/);
  }

  async untilShown(what: RegExp): Promise<void> {
    await waitFor(`the terminal to show ${what}`, async () => what.test(this.lines.join("\n")));
  }

  type(text: string): void {
    this.#process.terminal?.write(text);
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
