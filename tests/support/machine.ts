import { readFileSync } from "node:fs";
import { join } from "node:path";
import { homeOf } from "../../daemon/home/home.ts";
import type { DaemonStatus } from "../../daemon/status/status.ts";
import { findHolder } from "../../daemon/supervise/daemon-record.ts";
import { keepAsking, ON_PLAIN_SERVICE } from "./plain-service.ts";
import { type Ended, RunningProcess } from "./running-process.ts";
import { SHORT_LIVED } from "./short-lived.ts";
import { PATIENCE, waitFor } from "./wait-for.ts";

const PROGRAM = join(import.meta.dir, "..", "..", "cli", "main.ts");

const { MEMSYNC_TEST_BINARY } = process.env;

/** The command line from its sources, for what replaces one of its modules or loads one besides. */
export const SOURCES = [process.execPath, PROGRAM] as const;

/** The command line of this checkout, or a binary made of it, to be given its arguments. */
export const MEMSYNC: readonly string[] =
  MEMSYNC_TEST_BINARY === undefined ? SOURCES : [MEMSYNC_TEST_BINARY];

/** The service that a machine is configured for; the embedded one when there is none. */
export interface ServiceConfig {
  readonly url: string;
  readonly token: string;
}

export interface MachineOptions {
  readonly name: string;
  /** `MEMSYNC_HOME`: all that makes it a machine of its own. */
  readonly home: string;
  /** Where commands run unless they say otherwise. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly service: ServiceConfig | undefined;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly stdin?: string | Uint8Array;
  /** Besides the machine's own environment, or instead of some of it. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A memory as `list --json` prints it. */
export interface ListedMemory {
  readonly key: string;
  readonly value: string;
  readonly layer: string;
  readonly saved: "inbox" | "replica";
}

const SYNC_SECONDS = 20;
/** A daemon that is stopped while it waits answers nothing, and is asked again. */
const WAITED_SECONDS = 5;

/** One developer's machine: a home, a folder to work in, and a daemon that may run or not. */
export class Machine {
  readonly name: string;
  readonly home: string;
  readonly folder: string;
  service: ServiceConfig | undefined;
  /** Its processes have so much to do that code is worth to be made faster. */
  worksLong = false;
  /** Of its own, besides those of all machines of its lab. */
  variables: Readonly<Record<string, string>> = {};
  readonly #env: Readonly<Record<string, string>>;
  readonly #running = new Set<RunningProcess>();
  #daemon: RunningProcess | undefined;

  constructor(options: MachineOptions) {
    this.name = options.name;
    this.home = options.home;
    this.folder = options.folder;
    this.service = options.service;
    this.#env = options.env;
  }

  /** The daemon's process, if it was started; it may have ended. */
  get daemon(): RunningProcess | undefined {
    return this.#daemon;
  }

  /** Starts a command without waiting for it. */
  spawn(args: readonly string[], options: CommandOptions = {}): RunningProcess {
    return this.spawnOther([...MEMSYNC, ...args], options);
  }

  /** The environment of its commands. */
  environment(): Readonly<Record<string, string>> {
    const { service } = this;
    return {
      ...this.#env,
      ...this.variables,
      MEMSYNC_HOME: this.home,
      // The keyring of whoever runs the tests is none of theirs.
      MEMSYNC_KEYRING: "off",
      ...(this.worksLong ? {} : SHORT_LIVED),
      ...(service && { MEMSYNC_URL: service.url, MEMSYNC_TOKEN: service.token }),
    };
  }

  /** Starts another program in the machine's environment. */
  spawnOther(command: readonly string[], options: CommandOptions = {}): RunningProcess {
    const all = { ...this.environment(), ...options.env };
    const { folder: cwd, worksLong } = this;
    const started = new RunningProcess(command, { cwd, worksLong, ...options, env: all });
    this.#running.add(started);
    void started.ended().then(() => this.#running.delete(started));
    return started;
  }

  /** Runs one command to its end, however that is. */
  async run(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
    return await this.spawn(args, options).ended();
  }

  /** What a command prints. Rejects unless its exit status is 0. */
  async memsync(...args: readonly string[]): Promise<string> {
    return await this.memsyncWith({}, ...args);
  }

  async memsyncWith(options: CommandOptions, ...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(args, options);
    if (status === 0) return stdout;
    throw new Error(`${this.name}: memsync ${args.join(" ")} ended with ${status}: ${stderr}`);
  }

  /** `up`, until the daemon says it is; follows the machine's folder unless others are named. */
  async up(...folders: readonly string[]): Promise<void> {
    this.begin(...folders);
    await this.#daemon?.untilPrinted(/memsync is up/);
  }

  /** `up` without waiting for anything. */
  begin(...folders: readonly string[]): RunningProcess {
    const daemon = this.spawn(["up", ...folders]);
    this.#daemon = daemon;
    if (ON_PLAIN_SERVICE) void keepAsking(() => this.syncOnce(), daemon);
    return daemon;
  }

  /** Ends the daemon as a user does, or so that nothing of it can react. */
  async down(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<Ended | undefined> {
    return this.#daemon?.running ? await this.#daemon.end(signal) : undefined;
  }

  /** Kills whatever of it still runs, in the background, too. */
  async end(): Promise<void> {
    await Promise.all([...this.#running].map((process) => process.end("SIGKILL")));
    const pid = this.holder();
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  }

  /** The process that holds the home's lock, if it is a daemon. */
  holder(): number | undefined {
    return findHolder(homeOf({ MEMSYNC_HOME: this.home }))?.pid;
  }

  async status(): Promise<DaemonStatus> {
    return (await this.ask("GET", "/_memsync/status")) as DaemonStatus;
  }

  /** An answer of the gateway on the home's socket. */
  async gateway(method: string, path: string, body?: unknown): Promise<Response> {
    return await fetch(`http://localhost${path}`, {
      unix: join(this.home, "daemon.sock"),
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** The body of the gateway's answer. Rejects unless it is a 200. */
  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await this.gateway(method, path, body);
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    throw new Error(`${this.name}: ${method} ${path} answered ${response.status}: ${text}`);
  }

  /**
   * Has the daemon look at its files and call the service now; true when all is synced, then or
   * within `waitSeconds`.
   */
  async syncOnce(waitSeconds = 0): Promise<boolean> {
    const answer = await this.ask("POST", "/_memsync/sync", { wait_seconds: waitSeconds });
    return (answer as { synced: boolean }).synced;
  }

  /** Syncs as a user does, and waits for it. Rejects when that takes too long. */
  async sync(): Promise<void> {
    await this.memsync("sync", "--wait", `${SYNC_SECONDS * PATIENCE}`);
  }

  /** The project that a folder is linked to. */
  async projectOf(folder = this.folder): Promise<DaemonStatus["projects"][number]> {
    const { projects } = await this.status();
    const found = projects.find(({ folders }) => folders.some(({ dir }) => dir === folder));
    if (found) return found;
    throw new Error(`${this.name}: ${folder} is not linked`);
  }

  /** How `status` says that the followed file of a folder stands. */
  async fileStatus(folder = this.folder) {
    const { folders } = await this.projectOf(folder);
    return folders.find(({ dir }) => dir === folder);
  }

  /** The merged description document of a project. */
  async doc(projectId: string): Promise<string> {
    const project = await this.ask("GET", `/api/projects/${projectId}`);
    return (project as { claude_md_content: string }).claude_md_content;
  }

  async list(...args: readonly string[]): Promise<ListedMemory[]> {
    return JSON.parse(await this.memsync("list", "--json", ...args)) as ListedMemory[];
  }

  /** Waits until everything local is acknowledged. */
  async untilSynced(): Promise<void> {
    // The daemon waits for less than a look at every file costs.
    await waitFor(`${this.name} to be synced`, () => this.syncOnce(WAITED_SECONDS));
  }

  /** What its daemon printed and logged. */
  logs(): string {
    const printed = this.#daemon ? `${this.#daemon.stdout}${this.#daemon.stderr}` : "";
    return `--- ${this.name} printed\n${printed}\n--- ${this.name} logged\n${this.#logged()}`;
  }

  #logged(): string {
    try {
      return readFileSync(join(this.home, "daemon.log"), "utf8");
    } catch {
      return "";
    }
  }
}
