import { connect } from "node:net";
import { basename, join } from "node:path";
import type { Subprocess } from "bun";
import { delay } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { residentBytesOf } from "../support/process-figures.ts";

const ROOT = join(import.meta.dir, "../..");
const MEMSYNC = join(ROOT, "cli/main.ts");

/** A program that has not said its line, or has not ended, by then is given up. */
const READY_DEADLINE_MS = 60_000;
const END_DEADLINE_MS = 10_000;

/** How often it is looked whether a program listens that does not say so. */
const LOOK_INTERVAL_MS = 1;

/** A process of this run. */
export interface Program {
  readonly pid: number;
  /** The first line that it wrote, which says that it is ready. */
  readonly line: string;
  /** Memory that it holds now, in bytes. */
  residentBytes(): number;
  /** Ends it in order. */
  stop(): Promise<void>;
}

/** The processes that one row has started. */
export class Programs {
  readonly #running = new Set<Subprocess>();

  /** `memsync` is this compiled program; it runs from source when left out. */
  constructor(readonly binary?: string) {}

  /** Starts a TypeScript program of this folder, or `memsync`, and waits for its first line. */
  async start(
    script: string | "memsync",
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    deadlineMs = READY_DEADLINE_MS,
  ): Promise<Program> {
    const command =
      script === "memsync" ? this.memsync() : [process.execPath, join(import.meta.dir, script)];
    return await this.spawn([...command, ...args], environment, deadlineMs);
  }

  /** The command that runs `memsync`. */
  memsync(): readonly string[] {
    return this.binary === undefined ? [process.execPath, MEMSYNC] : [this.binary];
  }

  /**
   * Runs `memsync` to its end, by another command if one is named. Resolves to what it printed and
   * how long the process took.
   */
  async time(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    cwd: string,
    memsync = this.memsync(),
  ): Promise<{ readonly output: string; readonly tookMs: number }> {
    const startedAt = performance.now();
    const child = this.#launch([...memsync, ...args], environment, cwd);
    const output = await child.stdout.text();
    const status = await child.exited;
    const tookMs = performance.now() - startedAt;
    this.#running.delete(child);
    if (status !== 0) throw new Error(`memsync ${args.join(" ")} ended with ${status}: ${output}`);
    return { output, tookMs };
  }

  /** Starts any program and waits for its first line. */
  async spawn(
    command: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    deadlineMs = READY_DEADLINE_MS,
  ): Promise<Program> {
    const child = this.#launch(command, environment, ROOT);
    const line = await within(
      deadlineMs,
      firstLine(child.stdout),
      `${nameIn(command)} to be ready`,
    );
    return this.#programOf(child, line);
  }

  /** Starts a program that says nothing of use, and waits until it takes connections. */
  async spawnOnPort(
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
    cwd: string,
    port: number,
  ): Promise<Program> {
    const child = this.#launch(command, environment, cwd);
    void drop(child.stdout);
    const ended = child.exited.then((status) => {
      throw new Error(`${nameIn(command)} ended with ${status} before it was ready`);
    });
    ended.catch(() => undefined);
    const taken = untilTaken(port, READY_DEADLINE_MS);
    const what = `${nameIn(command)} to listen`;
    await within(READY_DEADLINE_MS, Promise.race([taken, ended]), what);
    return this.#programOf(child, "");
  }

  /** Starts a program that says nothing of use, and waits until `isReady`. */
  async spawnUntil(
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
    isReady: () => Promise<boolean>,
  ): Promise<Program> {
    const child = this.#launch(command, environment, ROOT);
    void drop(child.stdout);
    const until = performance.now() + READY_DEADLINE_MS;
    while (!(await isReady().catch(() => false))) {
      const waits = child.exitCode === null && performance.now() < until;
      if (!waits) throw new Error(`${nameIn(command)} was not ready by the deadline, or ended`);
      await delay(realWorld, LOOK_INTERVAL_MS);
    }
    return this.#programOf(child, "");
  }

  /** Runs a program to its end. Rejects unless it ends with 0. */
  async finish(
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<void> {
    const child = this.#launch(command, environment, ROOT);
    const said = await child.stdout.text();
    const status = await child.exited;
    this.#running.delete(child);
    if (status !== 0) throw new Error(`${nameIn(command)} ended with ${status}: ${said}`);
  }

  #launch(
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
    cwd: string,
  ): Subprocess<"ignore", "pipe", "inherit"> {
    const child = Bun.spawn([...command], {
      cwd,
      env: { ...cleanEnvironment(), ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    this.#running.add(child);
    return child;
  }

  #programOf(child: Subprocess, line: string): Program {
    return {
      pid: child.pid,
      line,
      residentBytes: () => residentBytesOf(child.pid),
      stop: () => this.#end(child),
    };
  }

  /** Runs a program to its end and returns its one line of JSON. */
  async run<Result>(
    script: string,
    args: readonly string[],
    deadlineMs = READY_DEADLINE_MS,
  ): Promise<Result> {
    const program = await this.start(script, args, {}, deadlineMs);
    await program.stop();
    return JSON.parse(program.line) as Result;
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.#end(child)));
  }

  async #end(child: Subprocess): Promise<void> {
    this.#running.delete(child);
    child.kill("SIGTERM");
    const killer = setTimeout(() => child.kill("SIGKILL"), END_DEADLINE_MS);
    await child.exited;
    clearTimeout(killer);
  }
}

/** The program in a command, for messages. */
function nameIn(command: readonly string[]): string {
  return basename(command[1] ?? command[0] ?? "a program");
}

async function drop(output: ReadableStream<Uint8Array>): Promise<void> {
  for await (const _ of output);
}

/** Resolves as soon as something listens; rejects when nothing does by the deadline. */
async function untilTaken(port: number, deadlineMs: number): Promise<void> {
  const until = performance.now() + deadlineMs;
  while (!(await isTaken(port))) {
    if (performance.now() >= until) throw new Error(`nothing listens on port ${port}`);
    await delay(realWorld, LOOK_INTERVAL_MS);
  }
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

/**
 * What a user of this machine has set must not reach what is measured, nor where they stand, which
 * npm tells all that its scripts start.
 */
function cleanEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(MEMSYNC_|INIT_CWD$)/.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? ""]));
}

/** The first line; what follows is read and dropped, for a full or closed pipe ends a program. */
function firstLine(output: ReadableStream<Uint8Array>): Promise<string> {
  return new Promise((resolve, reject) => {
    readLines(output, resolve).then(
      (text) => reject(new Error(`a program ended before it was ready: ${text}`)),
      reject,
    );
  });
}

async function readLines(
  output: ReadableStream<Uint8Array>,
  onFirst: (line: string) => void,
): Promise<string> {
  const decoder = new TextDecoder();
  let first = "";
  let isWhole = false;
  for await (const chunk of output) {
    if (isWhole) continue;
    first += decoder.decode(chunk, { stream: true });
    const end = first.indexOf("\n");
    if (end === -1) continue;
    isWhole = true;
    onFirst(first.slice(0, end));
  }
  return first;
}

/** Throws when a promise takes longer. */
export async function within<Value>(
  deadlineMs: number,
  promise: Promise<Value>,
  what: string,
): Promise<Value> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${deadlineMs} ms for ${what}`)), deadlineMs);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
