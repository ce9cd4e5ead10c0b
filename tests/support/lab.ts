import { afterAll, beforeAll, test } from "bun:test";
import { within } from "../../daemon/home/within.ts";
import { realWorld } from "../../shared/world-real.ts";
import { DISK } from "./disk.ts";
import { EmulatorProcess, type EmulatorProcessOptions } from "./emulator-process.ts";
import { createGitSandbox, type GitSandbox } from "./git-sandbox.ts";
import { Machine, type ServiceConfig } from "./machine.ts";
import { leaveOut, type Need, unmetName } from "./needs.ts";
import { type NetworkLink, openNetworkLink } from "./network-link.ts";
import { orNotCarried, SERVICE_ARGS } from "./plain-service.ts";
import { PATIENCE } from "./wait-for.ts";

const TEST_DEADLINE_MS = 120_000;
/** Each scenario starts several processes. More at a time make each other late. */
const SCENARIOS_AT_ONCE = 5;
/** A scenario may wait this long for its turn, which its own deadline does not count. */
const TURN_DEADLINE_MS = 20 * 60_000;

/** What one test works with. All of it, processes and folders, is gone when the test is over. */
export class Lab {
  readonly git: GitSandbox;
  readonly #machines: Machine[] = [];
  readonly #emulators: EmulatorProcess[] = [];
  readonly #links: NetworkLink[] = [];

  /** `place`: where its folder is, if not where temporary ones are. */
  constructor(place?: string) {
    this.git = createGitSandbox(place);
  }

  /** A machine whose commands run in `folder`; made if it is not there. */
  machine(name: string, folder: string, service?: ServiceConfig): Machine {
    const { env } = this.git;
    const home = this.git.path(`home-${name}`);
    const machine = new Machine({ name, home, folder, env, service });
    this.#machines.push(machine);
    return machine;
  }

  /** A machine whose folder, a repository, is linked, and whose daemon has ended. */
  async stoppedMachine(service: ServiceConfig): Promise<Machine> {
    const machine = this.machine("a", await this.git.repository("a", { "README.md": "" }), service);
    await machine.up();
    await machine.down();
    return machine;
  }

  /** An emulator of this test's own, to be killed. */
  async emulator(dataDir?: string, args = SERVICE_ARGS): Promise<EmulatorProcess> {
    const { env, folder } = this.git;
    const options = { env, cwd: folder, args, ...(dataDir !== undefined && { dataDir }) };
    const emulator = await EmulatorProcess.start(options);
    this.#emulators.push(emulator);
    return emulator;
  }

  /** A way to a service that can be cut. */
  async network(service: ServiceConfig): Promise<NetworkLink & ServiceConfig> {
    const link = await openNetworkLink(service.url);
    this.#links.push(link);
    return { ...link, token: service.token };
  }

  /** Two clones, `a` and `b`, of one bare repository whose first commit holds `files`. */
  async clones(files: Readonly<Record<string, string>>): Promise<readonly [string, string]> {
    const { git } = this;
    await git.repository("first", files);
    await git.run(git.folder, "clone", "-q", "--bare", "first", "origin.git");
    for (const name of ["a", "b"]) await git.run(git.folder, "clone", "-q", "origin.git", name);
    return [git.path("a"), git.path("b")];
  }

  /** Two machines on one account, each with its clone; neither's daemon is started. */
  async twoMachines(
    service: ServiceConfig,
    files: Readonly<Record<string, string>>,
  ): Promise<readonly [Machine, Machine]> {
    const [a, b] = await this.clones(files);
    return [this.machine("a", a, service), this.machine("b", b, service)];
  }

  logs(): string {
    return [...this.#emulators, ...this.#machines].map((each) => each.logs()).join("\n");
  }

  async end(): Promise<void> {
    await Promise.all(this.#machines.map((machine) => machine.end()));
    await Promise.all(this.#emulators.map((emulator) => emulator.end("SIGKILL")));
    for (const link of this.#links) link.close();
    this.git.remove();
  }
}

export interface ScenarioOptions {
  readonly deadlineMs?: number;
  /** What its machine may lack; the scenario is then not run, and says so. */
  readonly needs?: Need;
  /** Where its folders are, if not where temporary ones are. */
  readonly place?: string;
}

/** A test in a lab of its own; when it fails, what its processes printed and logged is shown. */
export function scenario(
  name: string,
  body: (lab: Lab) => Promise<void>,
  { deadlineMs = TEST_DEADLINE_MS, needs, place }: ScenarioOptions = {},
): void {
  const isMet = needs?.isMet ?? true;
  const define = isMet ? test.concurrent : leaveOut;
  define(
    isMet ? name : unmetName(name, needs?.missing ?? ""),
    async () => {
      await inTurn(() => inLab(new Lab(place), { name, body, deadlineMs: deadlineMs * PATIENCE }));
    },
    TURN_DEADLINE_MS * PATIENCE,
  );
}

/** A scenario whose folders are on a disk, which gives an inode again. */
export const scenarioOnDisk: typeof scenario = (name, body, options) =>
  scenario(name, body, { ...options, place: DISK });

interface InLab {
  readonly name: string;
  readonly body: (lab: Lab) => Promise<void>;
  readonly deadlineMs: number;
}

async function inLab(lab: Lab, { name, body, deadlineMs }: InLab): Promise<void> {
  try {
    const work = orNotCarried(name, () => body(lab));
    if (await within(realWorld, deadlineMs, { work })) return;
    throw new Error(`the scenario took longer than ${deadlineMs} ms`);
  } catch (thrown) {
    process.stderr.write(`${lab.logs()}\n`);
    throw thrown;
  } finally {
    await lab.end();
  }
}

let running = 0;
const waiting: (() => void)[] = [];

/** Runs `work` once fewer than `SCENARIOS_AT_ONCE` others of this process are under way. */
async function inTurn(work: () => Promise<void>): Promise<void> {
  if (running >= SCENARIOS_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

/** One emulator, in memory, for all tests of a file; each takes an account of its own. */
export function sharedEmulator(options: Pick<EmulatorProcessOptions, "args" | "worksLong"> = {}): {
  account(name: string): ServiceConfig;
} {
  let emulator: EmulatorProcess | undefined;
  beforeAll(async () => {
    emulator = await EmulatorProcess.start({
      env: { PATH: process.env.PATH ?? "" },
      cwd: "/",
      args: SERVICE_ARGS,
      ...options,
    });
  });
  afterAll(async () => {
    await emulator?.end();
  });
  return {
    account(name) {
      if (emulator) return emulator.account(name);
      throw new Error("the emulator runs while tests do");
    },
  };
}
