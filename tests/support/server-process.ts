import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../../scripts/bundle.ts";
import { IS_ON_POSTGRES, newHostAddress } from "./host-address.ts";
import { MEMSYNC } from "./machine.ts";
import { type Ended, RunningProcess } from "./running-process.ts";

const ROOT = join(import.meta.dir, "..", "..");

/** What the command line can be run by. */
export type Runtime = "bun" | "node";

export const RUNTIMES: readonly Runtime[] = ["bun", "node"];

let bundled: Promise<string> | undefined;

/** The command line for Node, made of this checkout once; beside the packages that it loads. */
function nodeProgram(): Promise<string> {
  bundled ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), "memsync-node-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const programs = { [join(ROOT, "cli/main.ts")]: "main.mjs" };
    await bundle({ programs, target: "node", dist: folder });
    return join(folder, "main.mjs");
  })();
  return bundled;
}

/** The command line on a runtime, to be given its arguments. */
export async function commandOn(runtime: Runtime): Promise<readonly string[]> {
  return runtime === "bun" ? MEMSYNC : ["node", await nodeProgram()];
}

/** A folder with a server's database, and the commands on it. */
export class ServerFolder implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "memsync-server-"));
  readonly database = join(this.folder, "memsync-server.db");
  readonly #started = new Set<RunningProcess>();

  /** `address`: the PostgreSQL that has the data in place of a file, where there is one. */
  constructor(
    readonly command: readonly string[],
    readonly address?: string,
  ) {}

  static async create(runtime: Runtime = "bun", given?: string): Promise<ServerFolder> {
    const address = given ?? (IS_ON_POSTGRES ? await newHostAddress() : undefined);
    return new ServerFolder(await commandOn(runtime), address);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  spawn(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    worksLong = false,
  ): RunningProcess {
    const { PATH = "" } = process.env;
    const started = new RunningProcess([...this.command, ...args], {
      cwd: this.folder,
      env: {
        PATH,
        HOME: this.folder,
        MEMSYNC_HOME: this.path("home"),
        ...(this.address !== undefined && { MEMSYNC_SERVER_DATABASE_URL: this.address }),
        ...env,
      },
      worksLong,
    });
    this.#started.add(started);
    return started;
  }

  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return await this.spawn(args, env).ended();
  }

  /** What a command that does its work prints. */
  async memsync(...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(args);
    if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
    return stdout.trimEnd();
  }

  /** A token of an account that is made if it is new. */
  async token(account = "acme", ...args: readonly string[]): Promise<string> {
    await this.run(["server", "account", "create", account, "--plan", "team"]);
    return await this.memsync("server", "token", "create", "--account", account, ...args);
  }

  /** Starts `memsync server`, on any free port and without limits unless `args` say otherwise. */
  async server(...args: readonly string[]): Promise<RunningServer> {
    const started = this.spawn(["server", "--port", "0", "--limits", "off", ...args], {}, true);
    const url = await started.untilPrinted(/memsync server ready at (\S+)/);
    return { process: started, url, port: Number(new URL(url).port) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = [...this.#started].filter((each) => each.running);
    await Promise.all(running.map((each) => each.end("SIGKILL")));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface RunningServer {
  readonly process: RunningProcess;
  readonly url: string;
  readonly port: number;
}
