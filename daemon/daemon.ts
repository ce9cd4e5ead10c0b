import { AppError, messageOf } from "../shared/errors.ts";
import { type AccountId, type ProjectId, parseProjectId } from "../shared/ids.ts";
import type { Log } from "../shared/log.ts";
import { Sweeper } from "../shared/replica/history/sweeper.ts";
import { moveKeptConflicts } from "../shared/replica/merge/text-conflicts.ts";
import type { ReplicaStore } from "../shared/replica/store/store.ts";
import { delay, type World } from "../shared/world.ts";
import type { SyncUnit } from "./budget/sync-units.ts";
import { Followers } from "./files/followers.ts";
import { type Controlled, createControl } from "./gateway/control.ts";
import { forwardConnections } from "./gateway/forwarded-connections.ts";
import { type Gateway, openGateway } from "./gateway/gateway.ts";
import { heardAccounts } from "./gateway/heard-accounts.ts";
import { serviceStoreOf } from "./gateway/mount.ts";
import { routeServices } from "./gateway/routed-services.ts";
import { createWithholding } from "./gateway/withholding.ts";
import { createGit } from "./git/run-git.ts";
import { type Activity, logActivity, type OnActivity } from "./home/activity.ts";
import type { Home } from "./home/home.ts";
import { LOCAL_ACCOUNT } from "./home/local-account.ts";
import { currentMachineName, keepMachineName } from "./home/machine-name.ts";
import { openReplica } from "./home/open-replica.ts";
import { QuietTime } from "./home/quiet-time.ts";
import { type RemoteEnvironment, serviceNameOf } from "./home/remote.ts";
import type { DaemonTables } from "./home/tables.ts";
import { within } from "./home/within.ts";
import { drainInbox } from "./inbox/drain-inbox.ts";
import {
  type BoundLink,
  LinkedFolders,
  type LinkOptions,
  type MovedFolder,
} from "./links/linked-folders.ts";
import { parsePortableHome } from "./portable/format.ts";
import { type ImportResult, importHome } from "./portable/import-home.ts";
import { countSalvaged } from "./recovery/read-salvaged.ts";
import { settleSalvaged } from "./recovery/salvaged-memories.ts";
import { Audiences } from "./remotes/audiences.ts";
import type { Keyring } from "./remotes/keyring.ts";
import { OpenRemotes } from "./remotes/open-remotes.ts";
import {
  type ChangedRemote,
  describeRemotes,
  type ListedRemote,
  type RemoteChange,
} from "./remotes/remote-change.ts";
import { getDefault } from "./remotes/remote-view.ts";
import { TokenStore } from "./remotes/token-store.ts";
import type { Service, ServiceAnswer } from "./service/service.ts";
import { type AudienceView, readAudience } from "./status/audience-view.ts";
import { isOffline, isRefused } from "./status/refused-units.ts";
import { type DaemonStatus, readStatus } from "./status/status.ts";
import { isSynced } from "./status/synced-projects.ts";
import type { Introduction } from "./supervise/introduction.ts";
import { realSigns, WakeWatch } from "./sync/wake-watch.ts";
import { watchFolder } from "./watch/watched-folder.ts";

/** What a daemon works with: one home, and the services that its projects are bound to. */
export interface DaemonOptions {
  readonly home: Home;
  readonly world: World;
  readonly log: Log;
  /** What this daemon says of itself to the command line. */
  readonly introduction: Introduction;
  /** Called when something is bound to the embedded service; closed with the daemon. */
  readonly openEmbedded: () => Promise<Service>;
  readonly environment: RemoteEnvironment;
  /** The gateway's port; any free one when left out. */
  readonly gatewayPort?: number | undefined;
  /** Where tokens may be; undefined: there is none to use. */
  readonly keyring: Keyring | undefined;
  /** Somebody asked for the daemon's end through the gateway. */
  readonly onStopRequest: () => void;
  /** Told when the home's database turns out to be damaged; `recoverHome` mends that. */
  readonly onDamage?: (thrown: unknown) => void;
  /** Has the runtime give back what memory it can, as it may in a quiet time. */
  readonly shrinkRuntime?: (() => void) | undefined;
  /** Told of what the log says of syncs, files and services, as data. */
  readonly onActivity?: OnActivity | undefined;
  /** Called after each commit of the home's database. */
  readonly onCommit?: (() => void) | undefined;
}

/** The answer to `sync`. */
export interface SyncResult {
  readonly synced: boolean;
  /** What is left the services refuse, or can't be looked at: waiting for it brings nothing. */
  readonly refused: boolean;
  /** What is left is for services that can't be reached. */
  readonly offline: boolean;
  readonly status: DaemonStatus;
}

/** How long a sync is waited for, besides its time. */
export interface SyncWait {
  /** Whoever asked for it waits no more. */
  readonly signal?: AbortSignal | undefined;
  /** It ends at once where it turns out that only services are left that can't be reached. */
  readonly unlessOffline?: boolean;
}

/** Who does not wait for a sync gives the services so long to answer all the same. */
const SYNC_MS_MIN = 2000;
/** So long a service is waited for that is asked about a project before it is deleted. */
const VISIT_MS_MAX = 10_000;
/** How often `sync` looks whether everything is acknowledged. */
const SYNC_POLL_MS = 100;
/** It then pauses for so many times as long as the look took. */
const LOOKS_PAUSE = 4;
/** How often it tries again meanwhile what had failed. */
const SYNC_HURRY_MS = 2000;
const MS_PER_S = 1000;

/**
 * One machine's memsync: the local replica with its gateway, the followed files, and the
 * synchronisation of each project with the one service that it is bound to.
 */
export class Daemon implements Controlled {
  readonly #options: DaemonOptions;
  readonly #store: ReplicaStore<DaemonTables>;
  readonly #remotes: OpenRemotes;
  readonly #followers: Followers;
  readonly #folders: LinkedFolders;
  readonly #audiences: Audiences;
  readonly #sweeper: Sweeper;
  readonly #quietTime: QuietTime;
  readonly #wakeWatch: WakeWatch;
  #gateway: Gateway | undefined;
  #stopping = false;
  /** Whether memories of a damaged database wait for the service's word. */
  #salvagedWait = false;
  #settling: Promise<void> = Promise.resolve();

  private constructor(options: DaemonOptions, store: ReplicaStore<DaemonTables>) {
    const { home, world, log, environment, keyring, openEmbedded } = options;
    const git = createGit();
    const onActivity = (activity: Activity) => {
      logActivity(log, activity);
      options.onActivity?.(activity);
    };
    this.#options = options;
    this.#store = store;
    store.timeCommits((_, kept) => kept && options.onCommit?.());
    this.#sweeper = new Sweeper(store, world, log);
    this.#audiences = new Audiences({ store, world, log });
    this.#quietTime = new QuietTime({ store, world, shrinkRuntime: options.shrinkRuntime });
    this.#followers = new Followers({
      store,
      world,
      log,
      git,
      watch: watchFolder,
      onGone: (link) => this.#folders.onGone(link),
      onRepository: (link) => this.#folders.onRepository(link),
      onActivity,
      account: LOCAL_ACCOUNT,
      service: serviceNameOf(environment),
    });
    this.#remotes = new OpenRemotes({
      store,
      world,
      log,
      environment,
      tokens: new TokenStore({ home, world, keyring }),
      openEmbedded,
      links: () => this.#folders.links,
      onContact: (units, account) => this.#onContact(units, account),
      onActivity,
    });
    this.#folders = new LinkedFolders({
      home,
      log,
      store,
      book: { world, environment },
      git,
      followers: this.#followers,
      remotes: this.#remotes,
    });
    const onWake = (stoodStillMs: number) => {
      // Other systems may have written the disk meanwhile, and a network drive is another by now.
      if (stoodStillMs > 0) this.#followers.rescan();
      void this.#remotes.woke(stoodStillMs);
    };
    this.#wakeWatch = new WakeWatch({ world, signs: realSigns, onWake });
  }

  /** Opens the home's replica, serves the gateway and begins to follow and to sync. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { home, world } = options;
    keepMachineName(home);
    const machine = currentMachineName(home);
    const store = await openReplica(home.database, world, { machine, onDamage: options.onDamage });
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
    await this.#folders.load();
    this.#salvagedWait = (await countSalvaged(store.reader)) > 0;
    this.#gateway = await openGateway({
      store: serviceStoreOf(store),
      world: options.world,
      log: options.log,
      home: options.home,
      port: options.gatewayPort,
      connections: forwardConnections(() => this.#remotes),
      account: heardAccounts(store.reader, () => this.#remotes.view.remotes),
      withholding: createWithholding(),
      routes: routeServices(store, () => this.#remotes.view),
      control: createControl(() => this),
    });
    await store.write(moveKeptConflicts);
    await this.drainInbox();
    await this.#folders.followAll();
    this.#remotes.start();
    this.#wakeWatch.start();
    this.#sweeper.start();
  }

  get introduction(): Introduction {
    return this.#options.introduction;
  }

  async status(): Promise<DaemonStatus> {
    return await readStatus({
      store: this.#store,
      home: this.#options.home.dir,
      gatewayUrl: this.#gateway?.url ?? "",
      remotes: this.#remotes,
      links: this.#folders.links,
      files: this.#followers.files(),
      polled: (dir) => this.#followers.polled(dir),
      repositoryNote: (dir) => this.#folders.noteOf(dir),
      placeChange: (dir) => this.#folders.changeOf(dir),
      now: this.#options.world.now(),
    });
  }

  /** Follows a folder's project from now on. Refuses a folder that is not there. */
  async link(folder: string, options: LinkOptions = {}): Promise<BoundLink> {
    if (options.anew) {
      // A deletion that this machine has not heard of yet would come after the new beginning.
      await this.#folders.link(folder, { ...options, anew: false });
      await within(this.#options.world, SYNC_MS_MIN, { work: this.#remotes.syncNow() });
    }
    return await this.#folders.link(folder, options);
  }

  /** Stops following a folder; nothing is deleted anywhere. False: it was not linked. */
  unlink(folder: string): Promise<boolean> {
    return this.#folders.unlink(folder);
  }

  /**
   * Brings a project that is linked nowhere in step with its service once, should that answer in
   * time: who deletes it deletes what others have written meanwhile, too.
   */
  async visit(project: ProjectId): Promise<void> {
    await within(this.#options.world, VISIT_MS_MAX, { work: this.#remotes.visit(project) });
  }

  /** Somebody works in a folder: a linked one that was moved there is followed again. */
  found(folder: string): Promise<MovedFolder | undefined> {
    return this.#folders.found(folder);
  }

  /** Adds, binds or removes remotes; what is changed counts from now on. */
  changeRemotes(change: RemoteChange): Promise<ChangedRemote> {
    return this.#folders.changeRemotes(change);
  }

  async listRemotes(): Promise<ListedRemote[]> {
    return await describeRemotes(this.#store.reader, this.#options.environment);
  }

  /**
   * Syncs now, and for up to `waitSeconds` until the service has acknowledged everything or refuses
   * what is left, or until `signal` is aborted: it works for whoever waits alone.
   */
  sync(waitSeconds: number, options: SyncWait = {}): Promise<SyncResult> {
    return this.#untilSynced(this.#syncNow(), waitSeconds, options);
  }

  /** Waits like `sync` for what is under way and due; asks for no more, and looks at no file. */
  settle(waitSeconds: number, signal?: AbortSignal): Promise<SyncResult> {
    this.#remotes.hurry("person");
    return this.#untilSynced(this.#followers.settled(), waitSeconds, { signal });
  }

  async #untilSynced(
    begun: Promise<void>,
    waitSeconds: number,
    { signal, unlessOffline = false }: SyncWait,
  ): Promise<SyncResult> {
    const { world } = this.#options;
    const waitMs = waitSeconds * MS_PER_S;
    const deadline = world.monotonic() + waitMs;
    if (!(await within(world, Math.max(waitMs, SYNC_MS_MIN), { work: begun, signal }))) {
      return { synced: false, refused: false, offline: false, status: await this.status() };
    }
    let hurriedAt = world.monotonic();
    for (;;) {
      const lookedAt = world.monotonic();
      const status = await this.status();
      if (isSynced(status)) return { synced: true, refused: false, offline: false, status };
      const now = world.monotonic();
      const refused = isRefused(status);
      const offline = !refused && isOffline(status);
      const isOver = this.#stopping || signal?.aborted === true || now >= deadline;
      if (refused || isOver || (unlessOffline && offline)) {
        return { synced: false, refused, offline, status };
      }
      // With hundreds of projects a look takes longer than the pause would be, and what is waited
      // for needs time, too.
      await delay(world, Math.max(SYNC_POLL_MS, LOOKS_PAUSE * (now - lookedAt)));
      this.#lookAtWaiting(status);
      if (now - hurriedAt < SYNC_HURRY_MS) continue;
      this.#remotes.hurry();
      hurriedAt = now;
    }
  }

  /** Looks at the files and calls the services; what they answered is in the files then. */
  async #syncNow(): Promise<void> {
    await this.#followers.lookAll();
    await this.#remotes.syncNow();
    await this.#followers.settled();
  }

  /** Looks again at those files that wait for something else than their service. */
  #lookAtWaiting({ projects }: DaemonStatus): void {
    const contacted = new Set(projects.flatMap(({ id, contacted: is }) => (is ? [id] : [])));
    for (const file of this.#followers.files()) {
      if (file.status.state === "waiting" && contacted.has(file.link.projectId)) file.look();
    }
  }

  /** Takes over what was written while no daemon ran. */
  async drainInbox(): Promise<number> {
    const { account } = this.#remotes.view.default ?? {};
    const { writes, allows } = await drainInbox(this.#store, account);
    // Told of no write: something that is held was allowed or dropped, perhaps of a file.
    if (allows || writes === 0) for (const file of this.#followers.files()) file.look();
    return writes;
  }

  tokenOf(remote: string): string {
    if (this.#gateway) return this.#gateway.tokenOf(remote);
    throw new AppError("internal", "the gateway is not open yet: try again");
  }

  async importHome(document: unknown): Promise<ImportResult> {
    return await importHome(this.#store, parsePortableHome(document), {
      own: getDefault(this.#remotes.view).account,
    });
  }

  /** Asks the remote of the project that the path is about, else the default one. */
  async askService(path: string): Promise<ServiceAnswer> {
    const { searchParams } = new URL(path, "http://localhost");
    const project = parseProjectId(searchParams.get("project_id") ?? "");
    const bound = project && this.#remotes.bindingOf(project);
    const open = this.#remotes.find(bound ?? getDefault(this.#remotes.view).account);
    if (!open) throw new AppError("not_found", "no service is configured for it");
    return { service: open.service.name, ...(await open.service.forward("GET", path)) };
  }

  /** Who sees what is in the `global` of an account, for somebody who is about to write there. */
  async audience(account: string): Promise<AudienceView | null> {
    const open = this.#remotes.find(account as AccountId);
    const remote = open?.remote ?? this.#remotes.remoteOf(account as AccountId);
    if (!remote) throw new AppError("not_found", "no remote has this account");
    if (open) await this.#audiences.before(open);
    return await readAudience(this.#store.reader, remote);
  }

  requestStop(): void {
    this.#options.onStopRequest();
  }

  /** Ends in order: what was acknowledged is on the disk, and nothing is left open. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#folders.stop();
    this.#wakeWatch.stop();
    this.#quietTime.stop();
    this.#remotes.abandonCalls();
    await this.#gateway?.close();
    await this.#folders.settled();
    await this.#followers.stop();
    await this.#remotes.stop();
    await this.#audiences.settled();
    await this.#settling;
    await this.#sweeper.stop();
    await this.#store.close();
  }

  #onContact(units: readonly SyncUnit[], account: AccountId): void {
    this.#folders.onContact(units);
    const open = units.includes("own") ? this.#remotes.find(account) : undefined;
    if (open) this.#audiences.contacted(open);
    if (this.#salvagedWait) this.#settling = this.#settling.then(() => this.#settleSalvaged());
    // Of the others' first answers nothing is known yet, and a look costs several gits.
    for (const file of this.#followers.files()) {
      if (file.status.state === "waiting" && units.includes(file.link.projectId)) file.look();
    }
  }

  async #settleSalvaged(): Promise<void> {
    try {
      await settleSalvaged(this.#store, (account) =>
        serviceNameOf(this.#remotes.remoteOf(account as AccountId)),
      );
      this.#salvagedWait = (await countSalvaged(this.#store.reader)) > 0;
    } catch (thrown) {
      this.#options.log.warn({ reason: messageOf(thrown) }, "what was salvaged has to wait");
    }
  }
}
