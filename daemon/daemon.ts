import { stat } from "node:fs/promises";
import { AppError, messageOf } from "../shared/errors.ts";
import { type AccountId, type ProjectId, parseProjectId, randomProjectId } from "../shared/ids.ts";
import type { Log } from "../shared/log.ts";
import type { ReplicaStore } from "../shared/replica/store.ts";
import { Sweeper } from "../shared/replica/sweeper.ts";
import { moveKeptConflicts } from "../shared/replica/text-conflicts.ts";
import { delay, type World } from "../shared/world.ts";
import { chooseProject, repositoryNote } from "./choose-project.ts";
import { drainInbox } from "./drain-inbox.ts";
import { type Controlled, createControl } from "./gateway/control.ts";
import { forwardConnections } from "./gateway/forwarded-connections.ts";
import { routeServices } from "./gateway/routed-services.ts";
import { type Gateway, openGateway } from "./gateway/gateway.ts";
import { serviceStoreOf } from "./gateway/mount.ts";
import { createWithholding } from "./held/withholding.ts";
import type { Home } from "./home.ts";
import { keepPlace, readLinkFacts } from "./link-facts.ts";
import { type Link, listLinks, putLink, removeLink } from "./links.ts";
import { LOCAL_ACCOUNT } from "./local-account.ts";
import { keepMachineName, readMachineName } from "./machine-name.ts";
import { findMovedLink, findNewFolder, moveLink } from "./move-link.ts";
import { openReplica } from "./open-replica.ts";
import { QuietTime } from "./quiet-time.ts";
import { parsePortableHome } from "./portable/format.ts";
import { type ImportResult, importHome } from "./portable/import-home.ts";
import { keepLinks, readLinksToKeep } from "./recovery/links-file.ts";
import { countSalvaged } from "./recovery/read-salvaged.ts";
import { settleSalvaged } from "./recovery/salvaged-memories.ts";
import { moveToProject } from "./relink.ts";
import { bindLinks, bindProject } from "./remotes/bind-project.ts";
import type { Keyring } from "./remotes/keyring.ts";
import { OpenRemotes } from "./remotes/open-remotes.ts";
import { type RemoteEnvironment, serviceNameOf } from "./remotes/remote.ts";
import { type BookOptions, nameEnvironment } from "./remotes/remote-book.ts";
import {
  type ChangedRemote,
  changeRemote,
  describeRemotes,
  type ListedRemote,
  type RemoteChange,
} from "./remotes/remote-change.ts";
import { getDefault } from "./remotes/remote-view.ts";
import { TokenStore } from "./remotes/token-store.ts";
import type { Introduction } from "./service/introduction.ts";
import { forgetFollowed } from "./sources/follow-store.ts";
import { Followers } from "./sources/followers.ts";
import { identifyProject, type ProjectIdentity } from "./sources/identity.ts";
import { findKnownPlace, forgetKnownPlace } from "./sources/place-store.ts";
import { createGit } from "./sources/run-git.ts";
import { watchFolder } from "./sources/watched-folder.ts";
import { realPathOf } from "./sources/working-tree.ts";
import { type DaemonStatus, isSynced, readStatus } from "./status.ts";
import type { Service, ServiceAnswer } from "./sync/service.ts";
import { realSigns, WakeWatch } from "./sync/wake-watch.ts";
import type { DaemonTables } from "./tables.ts";

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
  /** Where tokens may be; undefined: there is none to use. */
  readonly keyring: Keyring | undefined;
  /** Somebody asked for the daemon's end through the gateway. */
  readonly onStopRequest: () => void;
  /** Told when the home's database turns out to be damaged; `recoverHome` mends that. */
  readonly onDamage?: (thrown: unknown) => void;
  /** Has the runtime clean up now, as it may in a quiet time. */
  readonly collectGarbage?: (() => void) | undefined;
}

/** Choices for one `link`; what is left out is derived from the folder or stays as it was. */
export interface LinkOptions {
  /** The project to link to, instead of the one that the folder's repository says. */
  readonly id?: ProjectId;
  /** Consent to write what git tracks, and to make a missing file; as before when left out. */
  readonly write?: boolean;
  /** Name of the remote to bind the project to; as it is, or else the default, when left out. */
  readonly remote?: string;
}

/** A link, with the name of the remote that its project is bound to. */
export interface BoundLink extends Link {
  readonly remote: string;
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
 * synchronisation of each project with the one service that it is bound to.
 */
export class Daemon implements Controlled {
  readonly #options: DaemonOptions;
  readonly #store: ReplicaStore<DaemonTables>;
  readonly #git = createGit();
  readonly #remotes: OpenRemotes;
  readonly #followers: Followers;
  readonly #sweeper: Sweeper;
  readonly #quietTime: QuietTime;
  readonly #wakeWatch: WakeWatch;
  #gateway: Gateway | undefined;
  #links: Link[] = [];
  /** By folder: what its repository says of its project that is not so. */
  readonly #repositoryNotes = new Map<string, string>();
  #lastNote: Promise<void> = Promise.resolve();
  #lastChange: Promise<void> = Promise.resolve();
  #stopping = false;
  /** Whether memories of a damaged database wait for the service's word. */
  #salvagedWait = false;
  #settling: Promise<void> = Promise.resolve();

  private constructor(options: DaemonOptions, store: ReplicaStore<DaemonTables>) {
    const { home, world, log, environment, keyring, openEmbedded } = options;
    this.#options = options;
    this.#store = store;
    this.#sweeper = new Sweeper(store, world, log);
    this.#quietTime = new QuietTime({ store, world, collectGarbage: options.collectGarbage });
    this.#followers = new Followers({
      store,
      world,
      log,
      git: this.#git,
      watch: watchFolder,
      onGone: (link) => this.#onGone(link),
      onRepository: (link) => this.#onRepository(link),
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
      links: () => this.#links,
      onContact: () => this.#onContact(),
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
    await store.write(async (context) => {
      await bindLinks(context, this.#book);
      await nameEnvironment(context, this.#book);
    });
    await this.#takeBindings();
    this.#salvagedWait = (await countSalvaged(store.reader)) > 0;
    this.#gateway = await openGateway({
      store: serviceStoreOf(store),
      world: options.world,
      log: options.log,
      home: options.home,
      connections: forwardConnections(() => this.#remotes),
      withholding: createWithholding(),
      routes: routeServices(store, () => this.#remotes.view),
      control: createControl(() => this),
    });
    await store.write(moveKeptConflicts);
    await this.drainInbox();
    for (const link of this.#links) await this.#follow(link);
    for (const link of this.#links) this.#onRepository(link);
    this.#remotes.start();
    this.#wakeWatch.start();
    this.#sweeper.start();
  }

  get introduction(): Introduction {
    return this.#options.introduction;
  }

  get #book(): BookOptions {
    return { world: this.#options.world, environment: this.#options.environment };
  }

  async status(): Promise<DaemonStatus> {
    return await readStatus({
      store: this.#store,
      home: this.#options.home.dir,
      gatewayUrl: this.#gateway?.url ?? "",
      remotes: this.#remotes,
      links: this.#links,
      files: this.#followers.files(),
      polled: (dir) => this.#followers.polled(dir),
      repositoryNote: (dir) => this.#repositoryNotes.get(dir),
    });
  }

  /** Follows a folder's project from now on. Refuses a folder that is not there. */
  link(folder: string, options: LinkOptions = {}): Promise<BoundLink> {
    return this.#inTurn(() => this.#link(folder, options));
  }

  async #link(folder: string, options: LinkOptions): Promise<BoundLink> {
    const dir = await realPathOf(folder);
    if (!(await isFolder(dir))) {
      throw new AppError("invalid_request", `${folder} is not a folder`);
    }
    const identity = await identifyProject(this.#git, dir);
    await this.#bringMoved(dir, identity);
    const former = this.#links.find((link) => link.dir === dir);
    const facts = await readLinkFacts(this.#store.reader, this.#git, dir, identity, former);
    const chosen = chooseProject({ ...facts, asked: options.id });
    const projectId = chosen.projectId ?? randomProjectId(this.#options.world);
    const write = options.write ?? former?.write ?? false;
    const link: Link = { dir, projectId, name: identity.name, write };
    const others = this.#links.filter((each) => each.dir !== dir && each.projectId === projectId);
    const binding = { project: projectId, remote: options.remote, former, others };
    const dirs = [dir, ...(options.remote === undefined ? [] : others.map((each) => each.dir))];
    const account = await this.#unfollowed(dirs, () =>
      this.#store.write(async (context) => {
        const bound = await bindProject(context, this.#book, binding);
        await putLink(context.db, link, context.now);
        await moveToProject(context, bound, former, link, chosen.bringsMemories);
        await keepPlace(context.db, facts, chosen);
        return bound;
      }),
    );
    return { ...link, remote: this.#remotes.remoteOf(account)?.name ?? "" };
  }

  /** A folder that was moved to `dir` brings its link along. */
  async #bringMoved(dir: string, identity: ProjectIdentity): Promise<void> {
    if (this.#links.some((link) => link.dir === dir)) return;
    const derivedId = identity.kind === "none" ? undefined : identity.projectId;
    const moved = await findMovedLink(this.#store.reader, this.#links, dir, derivedId);
    if (moved) await this.#moveLink(moved.dir, dir);
  }

  /** Looks for a linked folder that is gone, and follows it where it is now. */
  #onGone(link: Link): void {
    const move = this.#inTurn(async () => {
      if (this.#stopping || !this.#links.some(({ dir }) => dir === link.dir)) return;
      const to = await findNewFolder(this.#store.reader, link);
      if (to === undefined || this.#links.some(({ dir }) => dir === to)) return;
      await this.#moveLink(link.dir, to);
    });
    move.catch((thrown) => {
      this.#options.log.warn({ reason: messageOf(thrown) }, "a moved folder was not followed");
    });
  }

  async #moveLink(from: string, to: string): Promise<void> {
    const move = () => this.#store.write(({ db }) => moveLink(db, from, to));
    await this.#unfollowed([from, to], move);
    this.#options.log.info({ from, to }, "a linked folder was moved, and its link with it");
  }

  /** Finds out whether git still says that the folder is the project that it is linked to. */
  #onRepository(link: Link): void {
    const look = this.#lastNote.then(async () => {
      const { dir } = link;
      if (this.#stopping) return;
      const known = await findKnownPlace(this.#store.reader, dir);
      const note = repositoryNote(link, await identifyProject(this.#git, dir), known);
      if (note === undefined) this.#repositoryNotes.delete(dir);
      else this.#repositoryNotes.set(dir, note);
    });
    this.#lastNote = look.catch((thrown) => {
      this.#options.log.warn({ reason: messageOf(thrown) }, "a repository was not looked at");
    });
  }

  /** Stops following a folder; nothing is deleted anywhere. False: it was not linked. */
  unlink(folder: string): Promise<boolean> {
    return this.#inTurn(() => this.#unlink(folder));
  }

  async #unlink(folder: string): Promise<boolean> {
    const dir = await realPathOf(folder);
    return await this.#unfollowed([dir], () =>
      this.#store.write(async ({ db }) => {
        await forgetFollowed(db, dir);
        await forgetKnownPlace(db, dir);
        return await removeLink(db, dir);
      }),
    );
  }

  /** Adds, binds or removes remotes; what is changed counts from now on. */
  changeRemotes(change: RemoteChange): Promise<ChangedRemote> {
    return this.#inTurn(async () => {
      const moved = change.op === "move" ? change.project : undefined;
      const dirs = this.#links.filter(({ projectId }) => projectId === moved).map(({ dir }) => dir);
      const make = () => this.#store.write((context) => changeRemote(context, this.#book, change));
      return await this.#unfollowed(dirs, make, change.op === "token" ? change.name : undefined);
    });
  }

  async listRemotes(): Promise<ListedRemote[]> {
    return await describeRemotes(this.#store.reader, this.#options.environment);
  }

  /** Changes links while nothing follows their folders by the former ones; then follows again. */
  async #unfollowed<Result>(
    dirs: readonly string[],
    change: () => Promise<Result>,
    changedRemote?: string,
  ): Promise<Result> {
    for (const dir of dirs) await this.#followers.remove(dir);
    keepLinks(this.#options.home, { links: this.#links, bindings: undefined }, this.#options.log);
    try {
      return await change();
    } finally {
      await this.#takeBindings(changedRemote);
      for (const dir of dirs) this.#repositoryNotes.delete(dir);
      for (const link of this.#links.filter(({ dir }) => dirs.includes(dir))) {
        await this.#follow(link);
        this.#onRepository(link);
      }
    }
  }

  async #follow(link: Link): Promise<void> {
    const account = this.#remotes.bindingOf(link.projectId) ?? LOCAL_ACCOUNT;
    const service = serviceNameOf(this.#remotes.remoteOf(account));
    await this.#followers.add(link, { account, service });
  }

  /** Syncs now, and for up to `waitSeconds` until the service has acknowledged everything. */
  async sync(waitSeconds: number): Promise<SyncResult> {
    const { world } = this.#options;
    const deadline = world.monotonic() + waitSeconds * 1000;
    await this.#followers.lookAll();
    await this.#remotes.syncNow();
    let hurriedAt = world.monotonic();
    for (;;) {
      await this.#followers.lookAll();
      const status = await this.status();
      if (isSynced(status)) return { synced: true, status };
      const now = world.monotonic();
      if (this.#stopping || now >= deadline) return { synced: false, status };
      await delay(world, SYNC_POLL_MS);
      if (now - hurriedAt < SYNC_HURRY_MS) continue;
      this.#remotes.hurry();
      hurriedAt = now;
    }
  }

  /** Takes over what was written while no daemon ran. */
  async drainInbox(): Promise<number> {
    const drained = await drainInbox(this.#store, this.#remotes.view.default?.account);
    // What is held of them may have been allowed.
    for (const file of this.#followers.files()) file.look();
    return drained;
  }

  async importHome(document: unknown): Promise<ImportResult> {
    return await importHome(
      this.#store,
      parsePortableHome(document),
      getDefault(this.#remotes.view).account,
    );
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

  requestStop(): void {
    this.#options.onStopRequest();
  }

  /** Ends in order: what was acknowledged is on the disk, and nothing is left open. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wakeWatch.stop();
    this.#quietTime.stop();
    this.#remotes.abandonCalls();
    await this.#gateway?.close();
    await this.#lastChange;
    await this.#lastNote;
    await this.#followers.stop();
    await this.#remotes.stop();
    await this.#settling;
    await this.#sweeper.stop();
    await this.#store.close();
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

  /** Works by the links and bindings as they are now, and keeps a copy of them. */
  async #takeBindings(changedRemote?: string): Promise<void> {
    const { home, log } = this.#options;
    const { reader } = this.#store;
    this.#links = await listLinks(reader);
    keepLinks(home, await readLinksToKeep(reader), log);
    await this.#remotes.refresh(changedRemote);
  }

  #onContact(): void {
    if (this.#salvagedWait) this.#settling = this.#settling.then(() => this.#settleSalvaged());
    this.#lookAtWaiting();
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
