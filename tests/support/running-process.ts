import { SHORT_LIVED } from "./short-lived.ts";
import { waitFor } from "./wait-for.ts";

export interface ProcessOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Given on standard input, which then ends; nothing when left out. */
  readonly stdin?: string | Uint8Array;
  /** It has so much to do that code is worth to be made faster. */
  readonly worksLong?: boolean;
}

/** How a process ended and what it printed. */
export interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A child process and what it has printed so far. */
export class RunningProcess {
  readonly #child: Bun.ReadableSubprocess;
  readonly #read: Promise<void>[];
  #stdout = "";
  #stderr = "";

  constructor(
    readonly command: readonly string[],
    { cwd, env, stdin, worksLong = false }: ProcessOptions,
  ) {
    const given = stdin === undefined ? null : new Blob([stdin as string]);
    this.#child = Bun.spawn([...command], {
      cwd,
      env: { ...(worksLong ? {} : SHORT_LIVED), ...env },
      stdin: given,
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#read = [
      collect(this.#child.stdout, (text) => {
        this.#stdout += text;
      }),
      collect(this.#child.stderr, (text) => {
        this.#stderr += text;
      }),
    ];
  }

  get pid(): number {
    return this.#child.pid;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The first group of `pattern` in what it prints. Rejects when the process ends without it. */
  async untilPrinted(pattern: RegExp): Promise<string> {
    const printed = await waitFor(`${pattern} from ${this.command.slice(2).join(" ")}`, () => {
      const found = pattern.exec(this.#stdout);
      return found ? { text: found[1] ?? found[0] } : !this.running && { text: undefined };
    });
    if (printed.text !== undefined) return printed.text;
    throw new Error(`it ended without printing ${pattern}: ${this.#stderr}`);
  }

  async ended(): Promise<Ended> {
    await this.#child.exited;
    await Promise.all(this.#read);
    const status = this.#child.exitCode ?? -1;
    return { status, stdout: this.#stdout, stderr: this.#stderr };
  }

  /** Stops it where it stands: it lives, and answers nothing. */
  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  /** Lets it go on after `freeze`. */
  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  /** Signals the process and waits for its end. */
  async end(signal: "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGHUP"): Promise<Ended> {
    this.#child.kill(signal);
    return await this.ended();
  }
}

async function collect(
  stream: ReadableStream<Uint8Array>,
  take: (text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
  take(decoder.decode());
}
