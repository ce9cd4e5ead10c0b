import { join } from "node:path";
import { MEMSYNC, type ServiceConfig } from "./machine.ts";
import { ON_PLAIN_SERVICE } from "./plain-service.ts";
import { type Ended, RunningProcess } from "./running-process.ts";

/** A plain service is asked all the time, which no plan allows. */
const EMULATOR: readonly string[] = ON_PLAIN_SERVICE
  ? [process.execPath, join(import.meta.dir, "raised-emulator.ts")]
  : [...MEMSYNC, "emulator", "--limits", "off"];

export interface EmulatorProcessOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Folder to keep the data in; in memory when left out. */
  readonly dataDir?: string;
  /** Further options of the command. */
  readonly args?: readonly string[];
  /** As a process's; most tell two machines a few things. */
  readonly worksLong?: boolean;
}

/** `memsync emulator` as a process of its own, on one port for all of its starts. */
export class EmulatorProcess {
  #options: EmulatorProcessOptions;
  #process: RunningProcess;
  #url: string;

  private constructor(options: EmulatorProcessOptions, started: RunningProcess, url: string) {
    this.#options = options;
    this.#process = started;
    this.#url = url;
  }

  static async start(options: EmulatorProcessOptions): Promise<EmulatorProcess> {
    const started = spawn(options, "0");
    return new EmulatorProcess(options, started, await readyUrl(started));
  }

  get url(): string {
    return this.#url;
  }

  /** An account that nobody else uses. */
  account(name: string): ServiceConfig {
    return { url: this.#url, token: `mst_dev_${name}` };
  }

  async end(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<Ended | undefined> {
    return this.#process.running ? await this.#process.end(signal) : undefined;
  }

  /** Stops it where it stands, until it is thawed: connections are taken, and nothing answered. */
  freeze(): void {
    this.#process.freeze();
  }

  thaw(): void {
    this.#process.thaw();
  }

  /** Starts it again on the same port, with other options if any are named. */
  async again(args?: readonly string[]): Promise<void> {
    if (args) this.#options = { ...this.#options, args };
    this.#process = spawn(this.#options, new URL(this.#url).port);
    this.#url = await readyUrl(this.#process);
  }

  logs(): string {
    return `--- the emulator printed\n${this.#process.stdout}${this.#process.stderr}`;
  }
}

function spawn(options: EmulatorProcessOptions, port: string): RunningProcess {
  const { dataDir, args = [], ...process } = options;
  const place = dataDir === undefined ? [] : ["--data-dir", dataDir];
  return new RunningProcess([...EMULATOR, "--port", port, ...place, ...args], process);
}

async function readyUrl(started: RunningProcess): Promise<string> {
  return await started.untilPrinted(/memsync emulator ready at (\S+)/);
}
