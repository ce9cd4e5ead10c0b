// The daemon: puts the rooms below `daemon/` together, and ends them in order.
// Only `cli/` imports it.

import type { Kysely } from "kysely";
import { AppError, messageOf } from "../shared/errors.ts";
import { type AccountId, type ProjectId, parseProjectId } from "../shared/ids.ts";
import type { Log } from "../shared/log.ts";
import type { Reason } from "../shared/reasons.ts";
import { Sweeper } from "../shared/replica/history/sweeper.ts";
import { moveKeptConflicts } from "../shared/replica/merge/text-conflicts.ts";
import type { ReplicaStore } from "../shared/replica/store/store.ts";
import type { World } from "../shared/world.ts";
import type { SyncUnit } from "./budget/sync-units.ts";
import { Followers, type LookedFolders } from "./files/followers.ts";
import { type Controlled, createControl } from "./gateway/control.ts";
import { forwardConnections } from "./gateway/forwarded-connections.ts";
import { type Gateway, openGateway } from "./gateway/gateway.ts";
import { heardAccounts } from "./gateway/heard-accounts.ts";
import { serviceStoreOf } from "./gateway/mount.ts";
import { routeServices } from "./gateway/routed-services.ts";
import { createWithholding } from "./gateway/withholding.ts";
import { createGit, type Git } from "./git/run-git.ts";
import { type Activity, logActivity, type OnActivity } from "./home/activity.ts";
import { type FolderKind, folderMode } from "./home/folder-switches.ts";
import type { Home } from "./home/home.ts";
import { HomeId } from "./home/home-id.ts";
import { LOCAL_ACCOUNT } from "./home/local-account.ts";
import { currentMachineName, keepMachineName } from "./home/machine-name.ts";
import { openReplica } from "./home/open-replica.ts";
import { QuietTime } from "./home/quiet-time.ts";
import { type Remote, type RemoteEnvironment, serviceNameOf } from "./home/remote.ts";
import { forgetKeptSessions } from "./home/session-records.ts";
import { recordsSessions } from "./home/session-switch.ts";
import type { DaemonTables } from "./home/tables.ts";
import { within } from "./home/within.ts";
import { drainInbox } from "./inbox/drain-inbox.ts";
import { Keepers, type KeepersOptions } from "./keepers.ts";
import { type BoundLink, LinkedFolders, type MovedFolder } from "./links/linked-folders.ts";
import type { LinkOptions } from "./links/make-link.ts";
import { parsePortableHome } from "./portable/format.ts";
import { type ImportResult, importHome } from "./portable/import-home.ts";
import { readConnections } from "./reading/connected-projects.ts";
import { SalvageSettler } from "./recovery/salvage-settler.ts";
import { Audiences } from "./remotes/audiences.ts";
import type { Keyring } from "./remotes/keyring.ts";
import { type OpenRemote, OpenRemotes } from "./remotes/open-remotes.ts";
import { OthersWrites } from "./remotes/others-writes.ts";
import {
  type ChangedRemote,
  describeRemotes,
  type ListedRemote,
  type RemoteChange,
} from "./remotes/remote-change.ts";
import { getDefault } from "./remotes/remote-view.ts";
import { TokenStore } from "./remotes/token-store.ts";
import type { Failure } from "./service/failure.ts";
import type { Service, ServiceAnswer } from "./service/service.ts";
import { type AudienceView, readAudience } from "./status/audience-view.ts";
import { type MemoryFoldersStatus, memoryFoldersStatus } from "./status/memory-status.ts";
import { personalStatus } from "./status/personal-status.ts";
import { readStatus } from "./status/read-status.ts";
import type { DaemonStatus } from "./status/status.ts";
import { SYNC_MS_MIN, type SyncResult, type SyncWait, SyncWaiter } from "./status/wait-for-sync.ts";
import type { Introduction } from "./supervise/introduction.ts";
import { watchForCopies } from "./sync/copied-home.ts";
import { realSigns, WakeWatch } from "./sync/wake-watch.ts";
import { watchFolder } from "./watch/watched-folder.ts";

/** What a daemon works with: one home, and what connects it to its services. */
export interface DaemonOptions extends Pick<KeepersOptions, "assistants" | "memoryFolders"> {
  readonly home: Home;
  readonly world: World;
  readonly log: Log;
  /** What this daemon says of itself to the command line. */
  readonly introduction: Introduction;
  /** Called when a project is bound to the embedded service. The daemon closes what it opened. */
  readonly openEmbedded: () => Promise<Service>;
  readonly environment: RemoteEnvironment;
  /** The gateway's port; any free one when left out. */
  readonly gatewayPort?: number | undefined;
  /** The system's keyring, where tokens may be; undefined: there is none to use. */
  readonly keyring: Keyring | undefined;
  /** Called when it begins to follow, with what counts the folders that were looked at. */
  readonly onBegin?: ((looked: () => LookedFolders) => void) | undefined;
  /** Called when somebody asks through the gateway that the daemon ends. */
  readonly onStopRequest: () => void;
  /** Called when the home's database turns out to be damaged. `recoverHome` mends it. */
  readonly onDamage?: (thrown: unknown) => void;
  /** Asks the runtime to give back memory. Called in a quiet time. */
  readonly shrinkRuntime?: (() => void) | undefined;
  /** Called with each event that the log tells of syncs, files and services. */
  readonly onActivity?: OnActivity | undefined;
  /** Called after each commit of the home's database. */
  readonly onCommit?: (() => void) | undefined;
}

/** Before a project is deleted, its service is waited for this long. */
const VISIT_MS_MAX = 10_000;
/** A first call about a project waits this long for its files. */
const LOOK_MS_MAX = 2000;

/**
 * One machine's memsync: the local replica with its gateway, the followed files, and the
 * synchronisation of each project with the one service that it is bound to. It starts and ends in a
 * fixed order each, and has no other states.
 *
 * ```
 * const daemon = await Daemon.start(options);
 * await daemon.link("/projects/shop");
 * const { synced } = await daemon.sync(10);
 * await daemon.stop();
 * ```
 */
export class Daemon implements Controlled {
  readonly #options: DaemonOptions;
  readonly #store: ReplicaStore<DaemonTables>;
  readonly #remotes: OpenRemotes;
  readonly #followers: Followers;
  readonly #folders: LinkedFolders;
  readonly #audiences: Audiences;
  readonly #others: OthersWrites;
  #isBeginning = true;
  readonly #sweeper: Sweeper;
  readonly #quietTime: QuietTime;
  readonly #wakeWatch: WakeWatch;
  readonly #syncWaiter: SyncWaiter;
  readonly #salvage: SalvageSettler;
  readonly #keepers: Keepers;
  #gateway: Gateway | undefined;

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
      onIgnored: () => {
        void this.#keepers.memories.look();
        void this.#keepers.sessions.heedIgnored();
      },
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
      onAccount: (open, told) => this.#audiences.told(open, told),
      lookAtFiles: (project) => this.#lookAtFiles(project),
      sendsSessions: () => recordsSessions(home),
      isLinking: () => this.#folders.isLinking,
      isTextAwaited: (project) => this.#followers.isWaiting(project),
      onActivity,
    });
    const [remotes, audiences] = [this.#remotes, this.#audiences];
    this.#others = new OthersWrites({ home, store, environment, remotes, audiences });
    this.#folders = new LinkedFolders({
      home,
      log,
      store,
      book: { world, environment },
      git,
      followers: this.#followers,
      remotes: this.#remotes,
    });
    this.#salvage = new SalvageSettler({
      store,
      log,
      serviceOf: (account) => serviceNameOf(this.#remotes.remoteOf(account)),
    });
    this.#keepers = this.#createKeepers(git);
    this.#syncWaiter = new SyncWaiter({
      world,
      followers: this.#followers,
      lookAtKept: () => this.#keepers.lookAtFiles(),
      remotes: this.#remotes,
      status: () => this.status(),
    });
    const onWake = (stoodStillMs: number) => {
      // The disk may have been written by another system meanwhile, and a network drive replaced.
      if (stoodStillMs > 0) this.#followers.rescan();
      void this.#remotes.woke(stoodStillMs);
    };
    const onCopied = () => this.#renewIds();
    this.#wakeWatch = new WakeWatch({ world, signs: realSigns, onWake, onCopied });
  }

  #createKeepers(git: Git): Keepers {
    const { home, world, log, assistants, memoryFolders } = this.#options;
    return new Keepers({
      home,
      world,
      log,
      assistants,
      memoryFolders,
      store: this.#store,
      git,
      remotes: this.#remotes,
      links: () => this.#folders.links,
      whose: (account) => this.#others.whose(account),
    });
  }

  #renewIds(): void {
    const { log } = this.#options;
    const renewed = this.#store.write(async (context) => context.renewIds());
    renewed.catch((thrown) => log.error({ reason: messageOf(thrown) }, "no other ids were taken"));
  }

  /** Opens the home's replica, serves the gateway, and begins to follow files and to sync. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { home, world } = options;
    keepMachineName(home);
    const machine = currentMachineName(home);
    const homeId = new HomeId(home, world);
    const store = await openReplica(home.database, world, {
      machine,
      homeId: () => homeId.current,
      onDamage: options.onDamage,
    });
    watchForCopies({ store, homeId, log: options.log });
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
    options.onBegin?.(() => this.#followers.looked(this.#folders.links));
    await this.#salvage.load();
    this.#gateway = await openGateway({
      store: serviceStoreOf(store),
      world: options.world,
      log: options.log,
      home: options.home,
      port: options.gatewayPort,
      connections: forwardConnections(() => this.#remotes),
      connected: readConnections,
      account: heardAccounts(store.reader, () => this.#remotes.view.remotes),
      withholding: createWithholding(),
      routes: routeServices({
        store,
        view: () => this.#remotes.view,
        refuse: (account, layer) => this.#others.refuse(account, layer),
      }),
      control: createControl(() => this),
    });
    await store.write(moveKeptConflicts);
    await this.drainInbox();
    await this.#folders.followAll();
    this.#isBeginning = false;
    this.#remotes.start();
    this.#wakeWatch.start();
    this.#sweeper.start();
    await this.#keepers.start();
  }

  get introduction(): Introduction {
    const { default: remote } = this.#remotes.view;
    if (!remote) return this.#options.introduction;
    const { account, url = null } = remote;
    const { tokenDigest: token = null, blockedBy } = this.#remotes.find(account)?.service ?? {};
    const isOthers = blockedBy?.code === "token-of-another";
    const another = isOthers ? { account, message: blockedBy.message } : undefined;
    return { ...this.#options.introduction, service: { url, token, another } };
  }

  async status(): Promise<DaemonStatus> {
    return await readStatus({
      store: this.#store,
      home: this.#options.home,
      gatewayUrl: this.#gateway?.url ?? "",
      remotes: this.#remotes,
      links: this.#folders.links,
      files: this.#followers.files(),
      polled: (dir) => this.#followers.polled(dir),
      repositoryNote: (dir) => this.#folders.noteOf(dir),
      placeChange: (dir) => this.#folders.changeOf(dir),
      personal: personalStatus(this.#keepers.personal.status),
      memoryFolders: (kind) => this.#memoryStatus(kind),
      isBeginning: this.#isBeginning,
      audience: (open) => this.#readAudience(open.remote, open),
      now: this.#options.world.now(),
    });
  }

  #memoryStatus(kind: FolderKind): MemoryFoldersStatus {
    return memoryFoldersStatus(
      folderMode(this.#options.home, kind),
      kind,
      this.#keepers.memories.status,
    );
  }

  /** Follows a folder's project from now on. Refuses a folder that does not exist. */
  async link(folder: string, options: LinkOptions = {}): Promise<BoundLink> {
    if (options.anew) {
      // Fetch first: a deletion that this machine has not seen yet would delete the new beginning,
      // too.
      await this.#folders.link(folder, { ...options, anew: false });
      await within(this.#options.world, SYNC_MS_MIN, { work: this.#remotes.syncNow() });
    }
    const link = await this.#folders.link(folder, options);
    // Whoever links a folder is told of a file that is not followed.
    const work = this.#followers.settledIn(link.dir);
    if (!options.more) await within(this.#options.world, LOOK_MS_MAX, { work });
    void this.#keepers.sessions.look();
    void this.#keepers.memories.look();
    return link;
  }

  /** Stops following a folder. Nothing is deleted anywhere. False: it was not linked. */
  unlink(folder: string): Promise<boolean> {
    return this.#folders.unlink(folder);
  }

  /**
   * Syncs a project that is not linked here with its service once, if that answers in time. Called
   * before a deletion, so that it covers what others have written meanwhile.
   */
  async visit(project: ProjectId): Promise<void> {
    await within(this.#options.world, VISIT_MS_MAX, { work: this.#remotes.visit(project) });
  }

  /**
   * Somebody works in `folder`. If it is a linked folder that was moved, it is followed here again.
   */
  found(folder: string): Promise<MovedFolder | undefined> {
    return this.#folders.found(folder);
  }

  /** Adds, binds or removes remotes, with effect at once. */
  changeRemotes(change: RemoteChange): Promise<ChangedRemote> {
    return this.#folders.changeRemotes(change);
  }

  /** Reads the home's database until the daemon is stopped. */
  get reader(): Kysely<DaemonTables> {
    return this.#store.reader;
  }

  async listRemotes(): Promise<ListedRemote[]> {
    return await describeRemotes(this.#store.reader, this.#options.environment);
  }

  /**
   * Syncs now, then waits up to `waitSeconds` until the services have acknowledged everything or
   * refuse what is left, or until `signal` is aborted.
   */
  async sync(waitSeconds: number, options: SyncWait = {}): Promise<SyncResult> {
    await this.#store.write(({ db }) => forgetKeptSessions(db));
    return await this.#syncWaiter.sync(waitSeconds, options);
  }

  /** Waits like `sync` for what is due already, but looks at no file and asks for nothing new. */
  waitForDue(waitSeconds: number, options: SyncWait = {}): Promise<SyncResult> {
    return this.#syncWaiter.waitForDue(waitSeconds, options);
  }

  /** Applies the writes that commands left in the inbox. */
  async drainInbox(): Promise<number> {
    const { account } = this.#remotes.view.default ?? {};
    const { writes, allows } = await drainInbox(this.#store, account);
    // A held write was allowed or dropped. It may be that of a followed file.
    if (allows || writes === 0) for (const file of this.#followers.files()) file.look();
    void this.#keepers.memories.lookAnew();
    // Whoever has turned a file on or off wants to see it.
    await within(this.#options.world, LOOK_MS_MAX, { work: this.#keepers.personal.lookAnew() });
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

  /** Asks the remote of the project that `path` names, else the default one. */
  async askService(path: string): Promise<ServiceAnswer> {
    const { searchParams } = new URL(path, "http://localhost");
    const project = parseProjectId(searchParams.get("project_id") ?? "");
    const open = this.#openRemoteOf(project);
    if (!open) throw new AppError("not_found", "no service is configured for it");
    return { service: open.service.name, ...(await open.service.forward("GET", path)) };
  }

  #openRemoteOf(project: ProjectId | undefined) {
    const bound = project && this.#remotes.bindingOf(project);
    return this.#remotes.find(bound ?? getDefault(this.#remotes.view).account);
  }

  lookAtSessions(ended?: string): void {
    void (ended === undefined ? this.#keepers.sessions.look() : this.#keepers.sessions.end(ended));
  }

  /** Who can read `global` of an account. The service is asked where somebody is about to write. */
  async audience(account: AccountId, isWritten: boolean): Promise<AudienceView | null> {
    const open = this.#remotes.find(account);
    const remote = open?.remote ?? this.#remotes.remoteOf(account);
    if (!remote) throw new AppError("not_found", "no remote has this account");
    if (open && isWritten) await this.#audiences.before(open);
    return await this.#readAudience(remote, open);
  }

  async #readAudience(remote: Remote, open: OpenRemote | undefined): Promise<AudienceView | null> {
    const isCurrent = open !== undefined && this.#audiences.isCurrent(open);
    const now = isCurrent ? this.#options.world.now() : undefined;
    return await readAudience(this.#store.reader, remote, now);
  }

  refusal(project: ProjectId): Reason | null {
    return this.#openRemoteOf(project)?.engine.refusal(project) ?? null;
  }

  blocked(account: AccountId): Failure | null {
    return this.#remotes.find(account)?.service.blockedBy ?? null;
  }

  requestStop(): void {
    this.#options.onStopRequest();
  }

  /** Ends in order: everything acknowledged is on the disk, and nothing stays open. */
  async stop(): Promise<void> {
    this.#syncWaiter.stop();
    this.#folders.stop();
    this.#wakeWatch.stop();
    this.#quietTime.stop();
    await this.#keepers.stop();
    this.#remotes.abandonCalls();
    await this.#gateway?.close();
    await this.#folders.settled();
    await this.#followers.stop();
    await this.#remotes.stop();
    await this.#audiences.settled();
    await this.#salvage.settled();
    await this.#sweeper.stop();
    await this.#store.close();
  }

  #onContact(units: readonly SyncUnit[], account: AccountId): void {
    this.#folders.onContact(units);
    const open = units.includes("own") ? this.#remotes.find(account) : undefined;
    if (open) this.#audiences.contacted(open);
    this.#salvage.answered();
    this.#keepers.contacted(units, account);
    // Only files of units that were answered: a look costs several git processes.
    for (const file of this.#followers.files()) {
      if (file.status.state === "waiting" && units.includes(file.link.projectId)) file.look();
    }
  }

  /** Looks at a project's files; not for long, since calls wait for it. */
  async #lookAtFiles(project: ProjectId): Promise<void> {
    const files = this.#followers.files().filter(({ link }) => link.projectId === project);
    for (const file of files) file.look();
    const looks = [this.#keepers.memories.look(), this.#keepers.sessions.heedIgnored()];
    const work = Promise.all([...looks, ...files.map((file) => file.settled())]);
    await within(this.#options.world, LOOK_MS_MAX, { work });
  }
}
