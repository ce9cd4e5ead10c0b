import { join } from "node:path";
import { LOCAL_ACCOUNT, LOCAL_USER, serviceStoreOf } from "../../../daemon/gateway/mount.ts";
import { drainInbox } from "../../../daemon/drain-inbox.ts";
import { type Link, listLinks, putLink } from "../../../daemon/links.ts";
import { openHomeDatabase } from "../../../daemon/open-home.ts";
import { openReplica } from "../../../daemon/open-replica.ts";
import { Followers } from "../../../daemon/sources/followers.ts";
import type { Git } from "../../../daemon/sources/run-git.ts";
import { SECOND_GLANCE_MS, type WatchFolder } from "../../../daemon/sources/watched-folder.ts";
import { budgetsIn } from "../../../daemon/sync/budget-store.ts";
import { SyncEngine } from "../../../daemon/sync/engine.ts";
import { createCalls } from "../../../daemon/sync/http-service.ts";
import { forgetOtherServices } from "../../../daemon/sync/positions.ts";
import { RequestBudget } from "../../../daemon/sync/request-budget.ts";
import type { LiveHandlers, Service } from "../../../daemon/sync/service.ts";
import type { DaemonTables } from "../../../daemon/tables.ts";
import { RequestLimits } from "../../../server/limits/request-limits.ts";
import { createServices } from "../../../server/services/create-services.ts";
import type { Services } from "../../../server/services/services.ts";
import type { ProjectId } from "../../../shared/ids.ts";
import { silentLog } from "../../../shared/log.ts";
import type { ReplicaStore } from "../../../shared/replica/store.ts";
import { CallWatch } from "./call-watch.ts";
import { mountDisk, mountVolume } from "./disk/mounted.ts";
import { readDatabase, SqliteDisk, writeDatabase } from "./disk/sqlite-disk.ts";
import { Volume } from "./disk/volume.ts";
import { LiveWire } from "./live-wire.ts";
import type { Network } from "./network.ts";
import { SimProcess, WallClock } from "./process.ts";
import { readDocuments } from "./read-documents.ts";
import { Shadow, type ShadowListener } from "./shadow.ts";

const BASE = "http://localhost";
const TOKEN = "mst_dev_simulation";
const SERVICE_NAME = "the service";
const WATCH_MS_MAX = 300;
const DISK_MS_MAX = 3;

/** A daemon that runs: what `Daemon` puts together, without its gateway's sockets. */
interface Running {
  readonly process: SimProcess;
  readonly store: ReplicaStore<DaemonTables>;
  readonly services: Services;
  readonly engine: SyncEngine;
  readonly budget: RequestBudget;
  readonly followers: Followers;
  readonly calls: CallWatch;
}

/** What a machine stands in, and whom it tells. */
export interface MachineOptions {
  readonly name: string;
  /** A real folder, for its database. */
  readonly folder: string;
  readonly projects: readonly ProjectId[];
  readonly network: Network;
  readonly clockIsWrong: boolean;
  readonly listener: ShadowListener;
  /** A line for whoever reads how a run went. */
  readonly note: (line: string) => void;
  /** A program put a text where a name leads. */
  readonly onFileWritten: (machine: Machine, path: string, text: string) => void;
}

/** One developer's machine: a daemon with its home, and the project folders that it follows. */
export class Machine {
  readonly name: string;
  readonly clock: WallClock;
  readonly disk: SqliteDisk;
  readonly volume: Volume;
  readonly shadow: Shadow;
  readonly #options: MachineOptions;
  readonly #path: string;
  readonly #watched = new Map<string, () => void>();
  #wires: LiveWire[] = [];
  #process: SimProcess | undefined;
  #running: Running | undefined;

  constructor(options: MachineOptions) {
    const { name, folder, network, listener } = options;
    const { dice, scheduler } = network;
    this.name = name;
    this.#options = options;
    this.#path = join(folder, "memsync.db");
    this.clock = new WallClock(dice, options.clockIsWrong);
    this.disk = new SqliteDisk(folder, dice.fork(), () => this.#process?.end());
    const put = (path: string, text: string) => options.onFileWritten(this, path, text);
    const now = () => this.clock.at(scheduler.now);
    this.volume = new Volume(join("/volumes", name), dice.fork(), now, put);
    this.shadow = new Shadow(name, listener);
    mountDisk(this.disk);
    mountVolume(this.volume);
    for (const project of options.projects) this.volume.makeFolder(this.folderOf(project));
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
    return join("/volumes", this.name, project);
  }

  get databasePath(): string {
    return this.#path;
  }

  get isStopped(): boolean {
    return this.disk.isStopped;
  }

  async prepare(): Promise<void> {
    writeDatabase(this.#path, await emptyDatabase(this.#path));
  }

  /** Begins as `Daemon.start` does. Rejects when the disk fails meanwhile; it is down then. */
  async start(): Promise<void> {
    const { network, listener } = this.#options;
    const process = new SimProcess(network.scheduler, network.dice.fork(), this.clock);
    this.#process = process;
    const { world } = process;
    const pause = () => network.dice.between(0, DISK_MS_MAX);
    this.volume.pause = () => network.scheduler.pause(pause(), process);
    const store = await openReplica(this.#path, world);
    this.shadow.load(await readDocuments(store.reader), false);
    store.onCommit((rows) => {
      if (process.alive) this.shadow.take(rows);
    });
    const calls = new CallWatch(
      () => network.scheduler.now,
      (problem) => listener.report(`${this.name} ${problem}`),
      (line) => this.#options.note(`${this.name} ${line}`),
    );
    const budget = new RequestBudget(SERVICE_NAME, world);
    const service = this.#service(process, calls, budget);
    await store.write(({ db }) => forgetOtherServices(db, LOCAL_ACCOUNT, service.name));
    const links = await this.#links(store);
    const shared = { store, world, log: silentLog, account: LOCAL_ACCOUNT };
    const watch: WatchFolder = (dir, _gitDir, _world, _log, changed) => this.#watch(dir, changed);
    const git = noGit;
    const followers = new Followers({ ...shared, git, service: service.name, watch });
    await budget.keepIn(budgetsIn(store), silentLog);
    const engine = new SyncEngine({
      ...shared,
      budget,
      log: { ...silentLog, warn: () => calls.failed() },
      service,
      user: LOCAL_USER,
      projects: () => new Map(links.map((link) => [link.projectId, link.name])),
      onContact: () => {
        for (const file of followers.files()) if (file.status.state === "waiting") file.look();
      },
    });
    await drainInbox(store);
    const services = createServices(serviceStoreOf(store), world, new RequestLimits(world));
    for (const link of links) await followers.add(link);
    engine.start();
    this.#running = { process, store, services, engine, budget, followers, calls };
  }

  /** Ends in order. */
  async stop(): Promise<void> {
    const running = this.running;
    if (!running) return;
    this.#running = undefined;
    await running.followers.stop();
    await running.engine.stop();
    await running.budget.close();
    await running.store.close();
    this.crash(false);
  }

  /** Ends at once, wherever it is. `power`: the whole machine, and what it had not flushed. */
  crash(power: boolean): void {
    this.#process?.end();
    this.#process = undefined;
    this.#running = undefined;
    this.#watched.clear();
    for (const wire of this.#wires) wire.abandon();
    this.#wires = [];
    this.disk.crash(power);
    if (power) this.volume.cutPower();
    this.volume.failing = 0;
    this.volume.pause = () => Promise.resolve();
  }

  cutNetwork(): void {
    this.#options.network.cut(this.name);
    for (const wire of this.#wires) wire.cut();
  }

  /** A file in the folder was saved: the operating system says so, mostly, else it is seen. */
  saved(dir: string): void {
    const { network } = this.#options;
    const process = this.#process;
    if (!process) return;
    const isLost = network.dice.chance(network.weather.lostEvent);
    const delayMs = network.dice.between(0, isLost ? SECOND_GLANCE_MS : WATCH_MS_MAX);
    network.scheduler.after(delayMs, process, () => {
      this.#watched.get(dir)?.();
    });
  }

  #watch(dir: string, changed: () => void) {
    this.#watched.set(dir, changed);
    return {
      close: async () => {
        this.#watched.delete(dir);
      },
    };
  }

  #service(process: SimProcess, calls: CallWatch, budget: RequestBudget): Service {
    const { network } = this.#options;
    const { world } = process;
    const send = calls.count((request) => network.send(this.name, process, request));
    const made = createCalls({ send, base: BASE, token: TOKEN, world, budget });
    return {
      ...made,
      name: SERVICE_NAME,
      exchange: calls.watch(made.exchange),
      openLive: (handlers) => {
        budget.sent();
        let isLive = false;
        const frame: LiveHandlers["frame"] = (each) => {
          if (each.type === "subscribed" && !isLive) calls.hurried();
          isLive ||= each.type === "subscribed";
          handlers.frame(each);
        };
        const wire = new LiveWire(network, this.name, process, TOKEN, { ...handlers, frame });
        this.#wires.push(wire);
        return wire;
      },
      close: async () => {},
    };
  }

  async #links(store: ReplicaStore<DaemonTables>): Promise<Link[]> {
    const known = await listLinks(store.reader);
    if (known.length > 0) return known;
    const links = this.#options.projects.map((projectId) => ({
      dir: this.folderOf(projectId),
      projectId,
      name: projectId,
      write: true,
    }));
    await store.write(async ({ db, now }) => {
      for (const link of links) await putLink(db, link, now);
    });
    return links;
  }
}

/** Every folder is one without git. */
const noGit: Git = async () => ({
  kind: "refused",
  exitCode: 128,
  message: "fatal: not a git repository (or any of the parent directories): .git",
});

let empty: Uint8Array | undefined;

/** Made once; most of a start's time would go there. */
async function emptyDatabase(path: string): Promise<Uint8Array> {
  if (empty) return empty;
  const database = await openHomeDatabase(path);
  await database.close();
  empty = readDatabase(path);
  return empty;
}
