import { afterEach } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import {
  AUTO_MEMORY,
  AutoMemoryFolders,
} from "../../daemon/assistants/claude-code/auto-memory-folders.ts";
import { slugOf } from "../../daemon/assistants/claude-code/memory-folders.ts";
import type { FolderFormat } from "../../daemon/assistants/folders/folder-format.ts";
import type { FolderSource } from "../../daemon/assistants/folders/owned-folder.ts";
import { MemoryKeeper } from "../../daemon/assistants/memory-folders/memory-keeper.ts";
import { keyOfName } from "../../daemon/assistants/memory-folders/memory-names.ts";
import { FolderProjects } from "../../daemon/assistants/sessions/project-of-folder.ts";
import { createGit, type Git } from "../../daemon/git/run-git.ts";
import type { FolderMode } from "../../daemon/home/folder-switches.ts";
import type { Link } from "../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { settleMemoryFile } from "../../daemon/home/memory-files.ts";
import { silentLog } from "../../shared/log.ts";
import { createDrivenWorld, type DrivenWorld } from "./driven-world.ts";
import { openTestReplica } from "./empty-home.ts";
import { KeeperMachine, settleKept } from "./keeper-machine.ts";
import { type Life, mortalStore } from "./mortal-store.ts";
import { projectId } from "./project-id.ts";
import { remembering } from "./remembered-git.ts";

export const MEMORY_PROJECT = projectId("shop");
const ADDRESS = { owner: LOCAL_ACCOUNT, name: MEMORY_PROJECT };
/** Long after the files of any test are written. */
const LATER = Date.parse("2030-01-01T00:00:00Z");

/** Whose folder of a project a test is about. */
export interface TestedFormat {
  /** Its folder, where that is known. */
  readonly folderOf: (machine: MemoryMachine) => string;
  readonly sourceOf: (machine: MemoryMachine, git: Git) => FolderSource;
  readonly format: FolderFormat;
}

const AUTO_MEMORY_FORMAT: TestedFormat = {
  format: AUTO_MEMORY,
  folderOf: ({ config, project }) => join(config, "projects", slugOf(project) ?? "", "memory"),
  sourceOf({ config, folder }, git) {
    const place = { configDir: config, stateFile: join(folder, ".claude.json") };
    return new AutoMemoryFolders(git, place, new FolderProjects(git));
  },
};

/** A machine with an assistant's folders, a linked project and a replica, without a daemon. */
export class MemoryMachine extends KeeperMachine {
  readonly folder: string;
  readonly config: string;
  readonly project: string;
  links: Link[];
  mode: FolderMode = "write";
  keeper!: MemoryKeeper;
  readonly world: DrivenWorld;
  /** How often git was run. */
  readonly gitRuns = { count: 0 };
  #saves = 0;
  readonly #heard = new Map<string, (name: string, cameOrWent: boolean) => void>();
  /** Transactions until the keeper is killed. */
  readonly #life: Life = { left: Number.POSITIVE_INFINITY };

  private constructor(
    readonly name: string,
    readonly tested: TestedFormat,
  ) {
    super(ADDRESS);
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), "memsync-memories-")));
    this.config = join(this.folder, ".claude");
    this.project = join(this.folder, "shop");
    mkdirSync(this.config);
    mkdirSync(this.project);
    this.links = [this.linkTo(this.project)];
    this.world = createDrivenWorld(name);
    this.world.setClockBy(LATER - this.world.now());
  }

  static async start(name: string, tested = AUTO_MEMORY_FORMAT): Promise<MemoryMachine> {
    // The worlds of a test begin anew.
    MemoryMachine.#clock = 0;
    const machine = new MemoryMachine(name, tested);
    await machine.begin();
    return machine;
  }

  linkTo(dir: string, project = MEMORY_PROJECT): Link {
    return { dir, projectId: project, name: project, write: false };
  }

  /** As a daemon does that starts. */
  async begin(): Promise<void> {
    const path = join(this.folder, "memsync.db");
    this.store = await openTestReplica(path, this.world, { machine: this.name, homeId: this.name });
    const run = remembering(createGit());
    const git: Git = (folder, args) => {
      this.gitRuns.count += 1;
      return run(folder, args);
    };
    this.keeper = new MemoryKeeper({
      store: mortalStore(this.store, this.#life),
      world: this.world,
      log: silentLog,
      git,
      sources: [this.tested.sourceOf(this, git)],
      links: () => this.links,
      accountOf: () => LOCAL_ACCOUNT,
      modeOf: () => this.mode,
      events: (folder, { heard }) => {
        this.#heard.set(folder, heard);
        return { close: async () => void this.#heard.delete(folder) };
      },
    });
  }

  async end(): Promise<void> {
    await this.keeper.stop();
    await this.store.close();
  }

  /** Ends it as a kill does, after so many more transactions of a look. */
  async killIn(transactions: number): Promise<void> {
    this.#life.left = transactions;
    await this.keeper.look();
    this.#life.left = 0;
    await this.keeper.stop().catch(() => undefined);
    await this.store.close();
    this.#life.left = Number.POSITIVE_INFINITY;
  }

  async remove(): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The folder of the project's memories. */
  get memories(): string {
    return this.tested.folderOf(this);
  }

  /** Saves a file as an assistant does: later than all saves before, on any machine. */
  save(name: string, text: string | Uint8Array): void {
    mkdirSync(dirname(join(this.memories, name)), { recursive: true });
    writeFileSync(join(this.memories, name), text);
    MemoryMachine.#clock = Math.max(MemoryMachine.#clock + 0.001, this.world.now() / 1000 - 0.5);
    this.#saves = MemoryMachine.#clock;
    utimesSync(join(this.memories, name), this.#saves, this.#saves);
  }

  /** The same, and the system tells of it. */
  async saveHeard(name: string, text: string): Promise<void> {
    this.save(name, text);
    this.#heard.get(this.memories)?.(name, true);
    await this.keeper.glimpsed();
  }

  /**
   * Saves a file of which the system tells late: it is read for that after a look has asked what
   * was read, and before that look writes into it.
   */
  async saveHeardLate(name: string, text: string): Promise<void> {
    this.save(name, text);
    this.#life.asked = () => this.#heard.get(this.memories)?.(name, true);
    await this.keeper.look();
    this.#life.asked = undefined;
    await this.keeper.glimpsed();
  }

  static #clock = 0;

  read(name: string): string | undefined {
    const path = join(this.memories, name);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  }

  drop(name: string): void {
    rmSync(join(this.memories, name), { recursive: true });
  }

  files(): string[] {
    return existsSync(this.memories) ? listed(this.memories) : [];
  }

  async look(): Promise<void> {
    await this.keeper.look();
    this.world.advance(6000);
    await this.keeper.look();
  }

  keyOf(name: string): string {
    return keyOfName(this.tested.format, name);
  }

  /** All values that stand for a file, the one that counts first. */
  async values(name: string): Promise<string[]> {
    return await this.store.write(async (context) => {
      const { document } = await context.open(ADDRESS);
      return document.memories.get(this.keyOf(name)).map(({ value }) => String(value));
    });
  }

  async writeMemory(key: string, value: string | undefined): Promise<void> {
    await this.store.write(async (context) => {
      const { document } = await context.open(ADDRESS);
      if (value === undefined) document.deleteEntry("memories", key);
      else document.setEntry("memories", key, { value, now: context.now });
    });
  }

  async settle(name: string, as: "delete" | "restore"): Promise<void> {
    const place = { folder: this.memories, name };
    await this.store.write(({ db }) => settleMemoryFile(db, place, as));
    await this.keeper.lookAnew();
  }

  /** Every former value of a file that the history keeps. */
  async history(name: string): Promise<string[]> {
    return await this.pastValues(this.keyOf(name));
  }
}

/** The paths of all files below a folder. */
function listed(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  const names = all.flatMap((each) => {
    const path = relative(folder, join(each.parentPath, each.name)).split(sep).join("/");
    return each.isDirectory() ? [] : [path];
  });
  return names.sort();
}

/** For the tests of a file: starts machines that are removed after each. */
export function memoriesOfEach(): typeof MemoryMachine.start {
  const started: MemoryMachine[] = [];
  afterEach(async () => {
    for (const machine of started.splice(0)) await machine.remove();
  });
  return async (name, tested) => {
    const machine = await MemoryMachine.start(name, tested);
    started.push(machine);
    return machine;
  };
}

/** Exchanges and looks until nothing is left to do. */
export async function settleMemories(...machines: readonly MemoryMachine[]): Promise<void> {
  await settleKept(machines, 6);
}
