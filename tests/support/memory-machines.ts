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
import { join } from "node:path";
import * as Y from "yjs";
import { slugOf } from "../../daemon/assistants/claude-code/memory-folders.ts";
import { MemoryKeeper } from "../../daemon/assistants/memory-folders/memory-keeper.ts";
import { keyOfName } from "../../daemon/assistants/memory-folders/memory-names.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import type { AutoMemoryMode } from "../../daemon/home/auto-memory-switch.ts";
import type { Link } from "../../daemon/home/links.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { settleMemoryFile } from "../../daemon/home/memory-files.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { silentLog } from "../../shared/log.ts";
import { listRevisions } from "../../shared/replica/history/revisions.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { createDrivenWorld, type DrivenWorld } from "./driven-world.ts";
import { projectId } from "./project-id.ts";

export const MEMORY_PROJECT = projectId("shop");
const ADDRESS = { owner: LOCAL_ACCOUNT, name: MEMORY_PROJECT };
/** Long after the files of any test are written. */
const LATER = Date.parse("2030-01-01T00:00:00Z");

/** A machine with Claude Code's folders, a linked project and a replica, without a daemon. */
export class MemoryMachine {
  readonly folder: string;
  readonly config: string;
  readonly project: string;
  links: Link[];
  mode: AutoMemoryMode = "write";
  store!: ReplicaStore<DaemonTables>;
  keeper!: MemoryKeeper;
  readonly world: DrivenWorld;
  #saves = 0;

  private constructor(readonly name: string) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), "memsync-memories-")));
    this.config = join(this.folder, ".claude");
    this.project = join(this.folder, "shop");
    mkdirSync(this.config);
    mkdirSync(this.project);
    this.links = [this.linkTo(this.project)];
    this.world = createDrivenWorld(name);
    this.world.setClockBy(LATER - this.world.now());
  }

  static async start(name: string): Promise<MemoryMachine> {
    const machine = new MemoryMachine(name);
    await machine.begin();
    return machine;
  }

  linkTo(dir: string, project = MEMORY_PROJECT): Link {
    return { dir, projectId: project, name: project, write: false };
  }

  /** As a daemon does that starts. */
  async begin(): Promise<void> {
    const path = join(this.folder, "memsync.db");
    this.store = await openReplica(path, this.world, { machine: this.name });
    this.keeper = new MemoryKeeper({
      store: this.store,
      world: this.world,
      log: silentLog,
      git: createGit(),
      place: { configDir: this.config, stateFile: join(this.folder, ".claude.json") },
      links: () => this.links,
      accountOf: () => LOCAL_ACCOUNT,
      mode: () => this.mode,
    });
  }

  async end(): Promise<void> {
    await this.keeper.stop();
    await this.store.close();
  }

  async remove(): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The folder of the project's memories. */
  get memories(): string {
    return join(this.config, "projects", slugOf(this.project) ?? "", "memory");
  }

  /** Saves a file as an assistant does: later than all saves before, on any machine. */
  save(name: string, text: string | Uint8Array): void {
    mkdirSync(this.memories, { recursive: true });
    writeFileSync(join(this.memories, name), text);
    MemoryMachine.#clock += 60;
    this.#saves = MemoryMachine.#clock;
    utimesSync(join(this.memories, name), this.#saves, this.#saves);
  }

  static #clock = Date.parse("2029-01-01T00:00:00Z") / 1000;

  read(name: string): string | undefined {
    const path = join(this.memories, name);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  }

  drop(name: string): void {
    rmSync(join(this.memories, name), { recursive: true });
  }

  files(): string[] {
    return existsSync(this.memories) ? readdirSync(this.memories).sort() : [];
  }

  async look(): Promise<void> {
    await this.keeper.look();
    this.world.advance(6000);
    await this.keeper.look();
  }

  /** All values that stand for a file, the one that counts first. */
  async values(name: string): Promise<string[]> {
    return await this.store.write(async (context) => {
      const { document } = await context.open(ADDRESS);
      return document.memories.get(keyOfName(name)).map(({ value }) => String(value));
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
    const id = await this.store.write(async (context) => (await context.open(ADDRESS)).id);
    const asked = { kind: "memory", key: keyOfName(name) } as const;
    return (await listRevisions(this.store.reader, id, asked)).flatMap(({ value }) => value ?? []);
  }

  async update(): Promise<Uint8Array> {
    return await this.store.write(async (context) => {
      return Y.encodeStateAsUpdate((await context.open(ADDRESS)).document.ydoc);
    });
  }

  async apply(update: Uint8Array): Promise<void> {
    await this.store.write(async (context) => {
      (await context.open(ADDRESS)).applyUpdate(update);
    });
  }
}

/** Gives each machine what the others have. */
export async function exchangeMemories(...machines: readonly MemoryMachine[]): Promise<void> {
  for (const from of machines) {
    const update = await from.update();
    for (const to of machines) if (to !== from) await to.apply(update);
  }
}

/** Exchanges and looks until nothing is left to do. */
export async function settleMemories(...machines: readonly MemoryMachine[]): Promise<void> {
  for (let round = 0; round < 6; round++) {
    for (const machine of machines) await machine.look();
    await exchangeMemories(...machines);
  }
  for (const machine of machines) await machine.look();
}
