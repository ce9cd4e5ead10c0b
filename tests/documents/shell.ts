import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type FileSink, spawn } from "bun";
import { waitFor } from "../support/wait-for.ts";

export interface Ran {
  readonly status: number;
  /** What it printed on both streams. */
  readonly printed: string;
}

const SEPARATOR = "\u0001";
const ENDED = new RegExp(`${SEPARATOR}(\\d+)${SEPARATOR}`);

/** A shell into which a reader types one command after another. */
export class Shell implements AsyncDisposable {
  readonly #process: Bun.Subprocess<"pipe", "pipe", "ignore">;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #folder: string;
  readonly #lasting: number[] = [];
  #started = 0;
  readonly #decoder = new TextDecoder();

  /** `folder` is for what commands that last print; `cwd` is where the shell starts. */
  constructor(folder: string, cwd: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder;
    const stdio = ["pipe", "pipe", "ignore"] as const;
    // What is given to a process here may not block: curl takes a full buffer for a broken pipe.
    const command = ["sh", "-c", "bash --noprofile --norc | cat"];
    this.#process = spawn(command, { cwd, env: { ...env }, stdio: [...stdio] });
    this.#chunks = this.#process.stdout[Symbol.asyncIterator]();
  }

  /** Runs it to its end, with nothing on standard input but what it says itself. */
  async run(command: string): Promise<Ran> {
    return await this.#type(`{ ${command}\n} </dev/null 2>&1`);
  }

  async #type(text: string): Promise<Ran> {
    const stdin: FileSink = this.#process.stdin;
    stdin.write(`${text}\nprintf '\\1%d\\1' $?\n`);
    await stdin.flush();
    let printed = "";
    for (;;) {
      const { done, value } = await this.#chunks.next();
      printed += this.#decoder.decode(value, { stream: true });
      const end = ENDED.exec(printed);
      if (end) return { status: Number(end[1]), printed: printed.slice(0, end.index) };
      if (done) throw new Error(`the shell ended in ${text}: ${printed}`);
    }
  }

  /** Starts what lasts, and waits until it prints `pattern`; what it has printed by then. */
  async start(command: string, pattern: RegExp): Promise<string> {
    const output = join(this.#folder, `lasting-${this.#started++}`);
    const { printed } = await this.#type(
      `set -m; ${command} </dev/null >'${output}' 2>&1 & echo $!`,
    );
    this.#lasting.push(Number(printed));
    const read = () => readFileSync(output, "utf8");
    await waitFor(`${pattern} from ${command}`, () => pattern.test(read())).catch((thrown) => {
      throw new Error(`${thrown}\n${read()}`);
    });
    return read();
  }

  /** Ends what was started last as Ctrl-C does, with all that it has started. */
  async endLatest(): Promise<void> {
    const pid = this.#lasting.pop();
    if (pid !== undefined) await this.#type(`kill -INT -- -${pid}; wait ${pid}`);
  }

  async endLasting(): Promise<void> {
    while (this.#lasting.length > 0) await this.endLatest();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endLasting();
    await this.#process.stdin.end();
    await this.#process.exited;
  }
}
