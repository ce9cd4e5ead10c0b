import { stat } from "node:fs/promises";
import { AppError, messageOf } from "../shared/errors.ts";
import { type ProjectId, randomProjectId } from "../shared/ids.ts";
import type { Log } from "../shared/log.ts";
import type { ReplicaStore } from "../shared/replica/store.ts";
import { Sweeper } from "../shared/replica/sweeper.ts";
import { moveKeptConflicts } from "../shared/replica/text-conflicts.ts";
import { delay, type World } from "../shared/world.ts";
import { type Controlled, createControl } from "./gateway/control.ts";
import { forwardConnections } from "./gateway/forwarded-connections.ts";
import { type Gateway, openGateway } from "./gateway/gateway.ts";
import { LOCAL_ACCOUNT, LOCAL_USER, serviceStoreOf } from "./gateway/mount.ts";
import { createWithholding } from "./held/withholding.ts";
import type { Home } from "./home.ts";
import { drainInbox } from "./inbox.ts";
import { type Link, listLinks, putLink, removeLink } from "./links.ts";
import { keepMachineName, readMachineName } from "./machine-name.ts";
import { openReplica } from "./open-replica.ts";
import { keepLinks } from "./recovery/links-file.ts";
import { countSalvaged } from "./recovery/read-salvaged.ts";
import { settleSalvaged } from "./recovery/salvaged-memories.ts";
import { moveToProject } from "./relink.ts";
import type { Introduction } from "./service/introduction.ts";
import { forgetFollowed } from "./sources/follow-store.ts";
import { Followers } from "./sources/followers.ts";
import { identifyProject } from "./sources/identity.ts";
import { createGit } from "./sources/run-git.ts";
import { watchFolder } from "./sources/watch.ts";
import { realPathOf } from "./sources/working-tree.ts";
import { type DaemonStatus, isSynced, readStatus } from "./status.ts";
import { budgetsIn } from "./sync/budget-store.ts";
import { SyncEngine } from "./sync/engine.ts";
import { forgetOtherServices } from "./sync/positions.ts";
import type { Service } from "./sync/service.ts";
import { realSigns, WakeWatch } from "./sync/wake-watch.ts";
import type { DaemonTables } from "./tables.ts";

/** What a daemon works with: one home, and the one service that it syncs with. */
export interface DaemonOptions {
  readonly home: Home;
  readonly world: World;
  readonly log: Log;
  /** What this daemon says of itself to the command line. */
  readonly introduction: Introduction;
  /** Closed with the daemon. */
  readonly service: Service;
  /** Somebody asked for the daemon's end through the gateway. */
  readonly onStopRequest: () => void;
  /** Told when the home's database turns out to be damaged; `recoverHome` mends that. */
  readonly onDamage?: (thrown: unknown) => void;
}

/** Choices for one `link`; what is left out is derived from the folder or stays as it was. */
export interface LinkOptions {
  /** The project to link to, instead of the one that the folder's repository says. */
  readonly id?: ProjectId;
  /** Consent to write what git tracks, and to make a missing file; as before when left out. */
  readonly write?: boolean;
}

/** The answer to `sync`. */
export interface SyncResult {
  readonly synced: boolean;
  readonly status: DaemonStatus;
}

/** How often `sync` looks whether everything is acknowledged. */
const SYNC_POLL_MS = 100;
/** How often it tries again meanwhile what had failed. */
const SYNC_HURRY_MS = 2000;

/**
 * One machine's memsync: the local replica with its gateway, the followed files, and the
 * synchronisation with one service.
 */
export class Daemon implements Controlled {
  readonly #options: DaemonOptions;
  readonly #store: ReplicaStore<DaemonTables>;
  readonly #git = createGit();
  readonly #engine: SyncEngine;
  readonly #followers: Followers;
  readonly #sweeper: Sweeper;
  readonly #wakeWatch: WakeWatch;
  #gateway: Gateway | undefined;
  #links: Link[] = [];
  #lastChange: Promise<void> = Promise.resolve();
  #stopping = false;
  /** Whether memories of a damaged database wait for the service's word. */
  #salvagedWait = false;
  #settling: Promise<void> = Promise.resolve();

  private constructor(options: DaemonOptions, store: ReplicaStore<DaemonTables>) {
    const { world, log, service } = options;
    this.#options = options;
    this.#store = store;
    this.#sweeper = new Sweeper(store, world, log);
    this.#followers = new Followers({
      store,
      world,
      log,
      git: this.#git,
      watch: watchFolder,
      account: LOCAL_ACCOUNT,
      service: service.name,
    });
    this.#engine = new SyncEngine({
      store,
      service,
      budget: service.budget,
      world,
      log,
      account: LOCAL_ACCOUNT,
      user: LOCAL_USER,
      projects: () => new Map(this.#links.map((link) => [link.projectId, link.name])),
      onContact: () => this.#onContact(),
    });
    const onWake = (stoodStillMs: number) => void this.#engine.woke(stoodStillMs);
    this.#wakeWatch = new WakeWatch({ world, signs: realSigns, onWake });
  }

  /** Opens the home's replica, serves the gateway and begins to follow and to sync. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { home, world } = options;
    keepMachineName(home);
    const store = await openReplica(home.database, world, readMachineName(home), options.onDamage);
    const daemon = new Daemon(options, store);
    try {
      await daemon.#begin();
      return daemon;
    } catch (thrown) {
      await daemon.stop();
      throw thrown;
    }
  }

  async #begin(): Promise<void> {
    const options = this.#options;
    const store = this.#store;
    await store.write(({ db }) => forgetOtherServices(db, options.service.name));
    this.#takeLinks(await listLinks(store.reader));
    this.#salvagedWait = (await countSalvaged(store.reader)) > 0;
    this.#gateway = await openGateway({
      store: serviceStoreOf(store),
      world: options.world,
      log: options.log,
      home: options.home,
      connections: forwardConnections(options.service),
      withholding: createWithholding(),
      control: createControl(() => this),
    });
    await store.write(moveKeptConflicts);
    await this.drainInbox();
    for (const link of this.#links) await this.#followers.add(link);
    await options.service.budget?.keepIn(budgetsIn(store), options.log);
    this.#engine.start();
    this.#wakeWatch.start();
    this.#sweeper.start();
  }

  get introduction(): Introduction {
    return this.#options.introduction;
  }

  async status(): Promise<DaemonStatus> {
    const { home, service } = this.#options;
    return await readStatus({
      store: this.#store,
      service: service.name,
      home: home.dir,
      gatewayUrl: this.#gateway?.url ?? "",
      engine: this.#engine,
      budget: service.budget,
      links: this.#links,
      files: this.#followers.files(),
    });
  }

  /** Follows a folder's project from now on. Refuses a folder that is not there. */
  link(folder: string, options: LinkOptions = {}): Promise<Link> {
    return this.#inTurn(() => this.#link(folder, options));
  }

  async #link(folder: string, options: LinkOptions): Promise<Link> {
    const dir = await realPathOf(folder);
    if (!(await isFolder(dir))) {
      throw new AppError("invalid_request", `${folder} is not a folder`);
    }
    const identity = await identifyProject(this.#git, dir);
    const known = this.#links.find((link) => link.dir === dir);
    const derived = identity.kind === "none" ? known?.projectId : identity.projectId;
    const projectId = options.id ?? derived ?? randomProjectId(this.#options.world);
    const write = options.write ?? known?.write ?? false;
    const link: Link = { dir, projectId, name: identity.name, write };
    await this.#unfollowed(dir, () =>
      this.#store.write(async (context) => {
        await putLink(context.db, link, context.now);
        await moveToProject(context, LOCAL_ACCOUNT, known, link);
      }),
    );
    return link;
  }

  /** Stops following a folder; nothing is deleted anywhere. False: it was not linked. */
  unlink(folder: string): Promise<boolean> {
    return this.#inTurn(() => this.#unlink(folder));
  }

  async #unlink(folder: string): Promise<boolean> {
    const dir = await realPathOf(folder);
    return await this.#unfollowed(dir, () =>
      this.#store.write(async ({ db }) => {
        await forgetFollowed(db, dir);
        return await removeLink(db, dir);
      }),
    );
  }

  /** Changes a folder's link while nothing follows it by the former one; then follows it again. */
  async #unfollowed<Result>(dir: string, change: () => Promise<Result>): Promise<Result> {
    await this.#followers.remove(dir);
    try {
      return await change();
    } finally {
      this.#takeLinks(await listLinks(this.#store.reader));
      const link = this.#links.find((each) => each.dir === dir);
      if (link) await this.#followers.add(link);
      this.#engine.refresh();
    }
  }

  /** Syncs now, and for up to `waitSeconds` until the service has acknowledged everything. */
  async sync(waitSeconds: number): Promise<SyncResult> {
    const { world } = this.#options;
    const deadline = world.monotonic() + waitSeconds * 1000;
    await this.#followers.lookAll();
    await this.#engine.syncNow();
    let hurriedAt = world.monotonic();
    for (;;) {
      await this.#followers.lookAll();
      const status = await this.status();
      if (isSynced(status)) return { synced: true, status };
      const now = world.monotonic();
      if (this.#stopping || now >= deadline) return { synced: false, status };
      await delay(world, SYNC_POLL_MS);
      if (now - hurriedAt < SYNC_HURRY_MS) continue;
      this.#engine.hurry();
      hurriedAt = now;
    }
  }

  /** Takes over what was written while no daemon ran. */
  async drainInbox(): Promise<number> {
    const drained = await drainInbox(this.#store);
    // What is held of them may have been allowed.
    for (const file of this.#followers.files()) file.look();
    return drained;
  }

  requestStop(): void {
    this.#options.onStopRequest();
  }

  /** Ends in order: what was acknowledged is on the disk, and nothing is left open. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wakeWatch.stop();
    this.#options.service.abandonCalls?.();
    await this.#gateway?.close();
    await this.#followers.stop();
    await this.#engine.stop();
    await this.#settling;
    await this.#options.service.budget?.close();
    await this.#sweeper.stop();
    await this.#store.close();
    await this.#options.service.close();
  }

  /** Changes of what is followed are made one after another. */
  #inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = this.#lastChange.then(change);
    this.#lastChange = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  #takeLinks(links: Link[]): void {
    this.#links = links;
    keepLinks(this.#options.home, links, this.#options.log);
  }

  #onContact(): void {
    if (this.#salvagedWait) this.#settling = this.#settling.then(() => this.#settleSalvaged());
    this.#lookAtWaiting();
  }

  async #settleSalvaged(): Promise<void> {
    try {
      await settleSalvaged(this.#store, this.#options.service.name);
      this.#salvagedWait = (await countSalvaged(this.#store.reader)) > 0;
    } catch (thrown) {
      this.#options.log.warn({ reason: messageOf(thrown) }, "what was salvaged has to wait");
    }
  }

  #lookAtWaiting(): void {
    for (const file of this.#followers.files()) if (file.status.state === "waiting") file.look();
  }
}

async function isFolder(dir: string): Promise<boolean> {
  try {
    return (await stat(dir)).isDirectory();
  } catch {
    return false;
  }
}
