import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";

const ROOT = join(import.meta.dir, "../..");
const MEMSYNC = join(ROOT, "daemon/cli/main.ts");

/** A program that has not said its line, or has not ended, by then is given up. */
const READY_DEADLINE_MS = 60_000;
const END_DEADLINE_MS = 10_000;

/** A process of this run. */
export interface Program {
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

  /** Starts a TypeScript program of this folder, or `memsync`, and waits for its first line. */
  async start(
    script: string | "memsync",
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    deadlineMs = READY_DEADLINE_MS,
  ): Promise<Program> {
    const path = script === "memsync" ? MEMSYNC : join(import.meta.dir, script);
    return await this.spawn([process.execPath, path, ...args], environment, deadlineMs);
  }

  /** Starts any program and waits for its first line. */
  async spawn(
    command: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    deadlineMs = READY_DEADLINE_MS,
  ): Promise<Program> {
    const child = Bun.spawn([...command], {
      cwd: ROOT,
      env: { ...cleanEnvironment(), ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    this.#running.add(child);
    const line = await within(
      deadlineMs,
      firstLine(child.stdout),
      `${command.join(" ")} to be ready`,
    );
    return {
      line,
      residentBytes: () => residentBytes(child.pid),
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

/** What a user of this machine has set must not reach what is measured. */
function cleanEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("MEMSYNC_"));
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

function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}
