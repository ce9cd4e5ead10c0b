import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MEMSYNC } from "../support/machine.ts";
import { RunningProcess } from "../support/running-process.ts";

/** What the command line shows of everything in a home. */
export interface HomeState {
  readonly memories: readonly unknown[];
  readonly doc: string;
}

const PROJECT = "proj_released";

/** The command line on one home; that of this checkout, unless `memsync` is another. */
export class HomeCommands {
  readonly folder = mkdtempSync(join(tmpdir(), "memsync-released-"));
  readonly home = join(this.folder, "home");
  readonly project = join(this.folder, "project");

  readonly #memsync: readonly string[];

  constructor(memsync: readonly string[] = MEMSYNC) {
    this.#memsync = memsync;
    mkdirSync(this.home, { mode: 0o700 });
    mkdirSync(this.project);
  }

  spawn(...args: readonly string[]): RunningProcess {
    const { PATH = "" } = process.env;
    const env = { PATH, HOME: this.folder, MEMSYNC_HOME: this.home };
    return new RunningProcess([...this.#memsync, ...args], { cwd: this.project, env });
  }

  async run(...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.spawn(...args).ended();
    if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** Fills the home: a followed file, memories of each layer, and one that waits in the inbox. */
  async fill(): Promise<void> {
    writeFileSync(join(this.project, "CLAUDE.md"), "# Released\n\nIt's kept.\n");
    const daemon = this.spawn("up");
    await daemon.untilPrinted(/memsync is up/);
    await this.run("link", "--id", PROJECT);
    for (const layer of ["project", "user", "global"]) {
      await this.run("set", "--layer", layer, `key-${layer}`, `value of ${layer}\nin two lines`);
      await this.run("set", "--layer", layer, `key-${layer}`, `newer value of ${layer}`);
    }
    await this.run("rm", "--layer", "global", "key-global");
    await this.run("sync", "--wait", "20");
    await this.run("stop");
    await daemon.ended();
    await this.run("set", "--project", PROJECT, "in-the-inbox", "saved without a daemon");
  }

  async read(): Promise<HomeState> {
    const listed = await this.run("list", "--project", PROJECT, "--json");
    const memories = JSON.parse(listed) as readonly Record<string, unknown>[];
    const doc = await this.run("doc", "--project", PROJECT);
    return { memories: memories.map(({ saved: _, ...memory }) => memory), doc };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}
