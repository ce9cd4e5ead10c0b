import { mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Home, homeOf } from "../../../daemon/home/home.ts";
import { LOCAL_ACCOUNT } from "../../../daemon/home/local-account.ts";
import { openHomeDatabase } from "../../../daemon/home/open-home.ts";
import { openReplica } from "../../../daemon/home/open-replica.ts";
import { SECOND_GLANCE_MS, type WatchFolder } from "../../../daemon/watch/watched-folder.ts";
import type { ProjectId } from "../../../shared/ids.ts";
import { type DocumentAddress, projectOf } from "../../../shared/replica/document/address.ts";
import { connectBy } from "./disk/http-service.ts";
import { mountDisk, mountVolume } from "./disk/mounted.ts";
import { readDatabase, SqliteDisk, writeDatabase } from "./disk/sqlite-disk.ts";
import { type OnPut, Volume } from "./disk/volume.ts";
import type { ObjectStores } from "./git/repository.ts";
import { createSimGit } from "./git/sim-git.ts";
import { MachineCalls } from "./machine-calls.ts";
import type { Network } from "./network.ts";
import { SimProcess, WallClock } from "./process.ts";
import { readDocuments } from "./read-documents.ts";
import { SERVER, urlOf } from "./server-node.ts";
import { Shadow, type ShadowListener } from "./shadow.ts";
import { unwire, type Wired, wire } from "./wiring.ts";

const WATCH_MS_MAX = 300;
const DISK_MS_MAX = 3;

/** A daemon that runs. */
interface Running extends Wired {
  readonly process: SimProcess;
}

/** What a machine stands in, and whom it tells. */
export interface MachineOptions {
  readonly name: string;
  /** A real folder, for its home. */
  readonly folder: string;
  readonly projects: readonly ProjectId[];
  readonly network: Network;
  readonly clockIsWrong: boolean;
  readonly stores: ObjectStores;
  readonly batches: boolean;
  /** Whether files that git tracks are written, too. */
  readonly write: boolean;
  readonly listener: ShadowListener;
  /** A line for whoever reads how a run went. */
  readonly note: (line: string) => void;
  /** A program put a text where a name leads. */
  readonly onFileWritten: (machine: Machine, ...put: Parameters<OnPut>) => void;
}

/** One developer's machine: a daemon with its home, and the project folders that it follows. */
export class Machine {
  readonly name: string;
  readonly clock: WallClock;
  readonly disk: SqliteDisk;
  readonly volume: Volume;
  readonly shadow: Shadow;
  readonly #options: MachineOptions;
  readonly #watched = new Map<string, () => void>();
  /** By project, all folders that were ever its own, the last one now. */
  readonly #folders = new Map<ProjectId, string[]>();
  #homes = 1;
  #restored = false;
  #calls: MachineCalls | undefined;
  #process: SimProcess | undefined;
  #running: Running | undefined;

  constructor(options: MachineOptions) {
    const { name, folder, network, listener } = options;
    const { dice, scheduler } = network;
    this.name = name;
    this.#options = options;
    this.clock = new WallClock(dice, options.clockIsWrong);
    this.disk = new SqliteDisk(folder, dice.fork(), () => this.#process?.end());
    const put: OnPut = (path, text, how) => options.onFileWritten(this, path, text, how);
    const now = () => this.clock.at(scheduler.now);
    this.volume = new Volume(join("/volumes", name), dice.fork(), now, put);
    this.shadow = new Shadow(name, listener);
    mountDisk(this.disk);
    mountVolume(this.volume);
    for (const project of options.projects) {
      const dir = join("/volumes", name, project);
      this.#folders.set(project, [dir]);
      this.volume.makeFolder(dir);
    }
    this.volume.flushFolder(join("/volumes", name));
  }

  /** Undefined while it is down or starting. */
  get running(): Running | undefined {
    return this.#process?.alive ? this.#running : undefined;
  }

  get process(): SimProcess | undefined {
    return this.#process?.alive ? this.#process : undefined;
  }

  get projects(): readonly ProjectId[] {
    return this.#options.projects;
  }

  folderOf(project: ProjectId): string {
    return this.#folders.get(project)?.at(-1) ?? "";
  }

  get home(): Home {
    return homeOf({ MEMSYNC_HOME: join(this.#options.folder, `home-${this.#homes}`) });
  }

  get databasePath(): string {
    return this.home.database;
  }

  get isStopped(): boolean {
    return this.disk.isStopped;
  }

  async prepare(): Promise<void> {
    mkdirSync(this.home.dir);
    writeDatabase(this.databasePath, await emptyDatabase(this.databasePath));
  }

  /** The home's folder gets another name; no daemon runs. */
  moveHome(): void {
    const from = this.home.dir;
    this.#homes += 1;
    renameSync(from, this.home.dir);
  }

  /** The bytes of a copy of everything that is committed. */
  copyHome(): Uint8Array {
    return readDatabase(this.databasePath);
  }

  /** The home's database is put back to a copy; no daemon runs. */
  restoreHome(copy: Uint8Array): void {
    writeDatabase(this.databasePath, copy);
    this.#restored = true;
  }

  /** A project's folder gets another name. */
  moveFolder(project: ProjectId): void {
    const from = this.folderOf(project);
    const former = this.#folders.get(project) ?? [];
    const to = join(dirname(from), `${project}-${former.length + 1}`);
    this.volume.moveFolder(from, to);
    this.#folders.set(project, [...former, to]);
    this.saved(project);
  }

  /** Begins as `Daemon.start` does. Rejects when the disk fails meanwhile; it is down then. */
  async start(): Promise<void> {
    const { network, stores } = this.#options;
    const process = new SimProcess(network.scheduler, network.dice.fork(), this.clock);
    this.#process = process;
    const { world } = process;
    const pause = () => network.dice.between(0, DISK_MS_MAX);
    this.volume.pause = () => network.scheduler.pause(pause(), process);
    const store = await openReplica(this.databasePath, world, {
      machine: this.name,
      homeId: this.name,
    });
    this.shadow.load(await readDocuments(store.reader, isOfRun), this.#restored);
    this.#restored = false;
    store.onCommit((rows) => {
      if (process.alive) this.shadow.take(rows.filter(({ address }) => isOfRun(address)));
    });
    const calls = this.#newCalls(process);
    connectBy(world, (options) => calls.connect(options));
    const wired = await wire({
      ...{ home: this.home, store, world, calls: calls.watches, url: urlOf(SERVER) },
      git: createSimGit(this.volume, stores),
      watch: this.#watch,
      links: this.projects.map((projectId) => ({
        dir: this.folderOf(projectId),
        projectId,
        name: projectId,
        write: this.#options.write,
      })),
    });
    this.#running = { ...wired, process };
  }

  #newCalls(process: SimProcess): MachineCalls {
    const { network, batches, listener, note } = this.#options;
    const told = { report: listener.report, note };
    const calls = new MachineCalls({ ...told, name: this.name, network, batches, process });
    this.#calls = calls;
    return calls;
  }

  /** Ends in order. */
  async stop(): Promise<void> {
    const running = this.running;
    if (!running) return;
    this.#running = undefined;
    await unwire(running);
    this.crash(false);
  }

  /** Ends at once, wherever it is. `power`: the whole machine, and what it had not flushed. */
  crash(power: boolean): void {
    this.#process?.end();
    this.#process = undefined;
    this.#running = undefined;
    this.#watched.clear();
    this.#calls?.abandon();
    this.#calls = undefined;
    this.disk.crash(power);
    if (power) this.volume.cutPower();
    this.volume.failing = 0;
    this.volume.pause = () => Promise.resolve();
  }

  cutNetwork(): void {
    this.#options.network.cut(this.name);
    this.#calls?.cut();
  }

  /** Something in the folder was changed: the system says so, mostly, else it is seen. */
  saved(project: ProjectId): void {
    const { network } = this.#options;
    const process = this.#process;
    if (!process) return;
    const isLost = network.dice.chance(network.weather.lostEvent);
    const delayMs = network.dice.between(0, isLost ? SECOND_GLANCE_MS : WATCH_MS_MAX);
    network.scheduler.after(delayMs, process, () => {
      for (const dir of this.#folders.get(project) ?? []) this.#watched.get(dir)?.();
    });
  }

  readonly #watch: WatchFolder = ({ dir, changed }) => {
    const told = () => changed();
    this.#watched.set(dir, told);
    return {
      close: async () => {
        if (this.#watched.get(dir) === told) this.#watched.delete(dir);
      },
    };
  };
}

/** A second service's own documents are nobody's here. */
function isOfRun(address: DocumentAddress): boolean {
  return address.owner === LOCAL_ACCOUNT || projectOf(address.name) !== undefined;
}

let empty: Uint8Array | undefined;

/** Made once; most of a start's time would go there. */
async function emptyDatabase(path: string): Promise<Uint8Array> {
  if (empty) return empty;
  const database = await openHomeDatabase(path);
  await database.close();
  empty = readDatabase(path);
  return empty;
}
