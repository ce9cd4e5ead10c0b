import { messageOf } from "../../shared/errors.ts";
import type { ProjectId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Reason } from "../../shared/reasons.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { SyncUnit } from "../budget/sync-units.ts";
import type { Followers } from "../files/followers.ts";
import {
  findKnownPlace,
  forgetKnownPlace,
  listKnownPlaces,
  type PlaceChange,
} from "../files/names/place-store.ts";
import { forgetFollowed } from "../files/state/follow-store.ts";
import type { Git } from "../git/run-git.ts";
import { realPathOf } from "../git/working-tree.ts";
import type { Home } from "../home/home.ts";
import { forgetIgnored, keepFormerIgnored } from "../home/ignore-files.ts";
import { type Link, listLinks, removeLink } from "../home/links.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import { findProjectName } from "../home/project-name.ts";
import { serviceNameOf } from "../home/remote.ts";
import { findBinding } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { listGoneIgnores, takeIgnored } from "../ignored/ignore-file.ts";
import { keepLinks, readLinksToKeep } from "../recovery/links-file.ts";
import { bindLinks } from "../remotes/bind-project.ts";
import type { OpenRemotes } from "../remotes/open-remotes.ts";
import { type BookOptions, nameEnvironment } from "../remotes/remote-book.ts";
import { type ChangedRemote, changeRemote, type RemoteChange } from "../remotes/remote-change.ts";
import { forgetFormerLinksAt } from "./former-links.ts";
import { type IdentifiedFolder, identifyFolder, isFolder, isIn } from "./identify-folder.ts";
import { type FolderFacts, readLinkFacts } from "./link-facts.ts";
import { LinksUnderWay } from "./links-under-way.ts";
import { type LinkOptions, planLink, writeLink } from "./make-link.ts";
import { carryOutPlan } from "./move-link.ts";
import { type FoundLink, findAlias, findLinkAbove, pathsIn, planPlace } from "./plan-place.ts";
import type { FolderMove } from "./relink.ts";
import { findRenamed } from "./renamed-links.ts";
import { RepositoryNotes } from "./repository-notes.ts";
import type { SettledJoins } from "./settle-joins.ts";
import { findPastProject, keepUnlinked, type PastProject } from "./unlinked-folders.ts";

/** A link, with the name of the remote that its project is bound to. */
export interface BoundLink extends Link {
  readonly remote: string;
  /** The project had been deleted, and this link began it again. */
  readonly begun: boolean;
  /** Other folders that are linked to the project and do not exist. */
  readonly gone: readonly string[];
  /** What the folder was linked to before it was unlinked. */
  readonly past: PastProject | undefined;
  /**
   * Of a folder that is linked for the first time: other projects' folders in its working tree that
   * do not exist. It may be one of them under a new name.
   */
  readonly lost: readonly LostLink[];
  /** The former link, whose project was joined to this one: other machines go on in it. */
  readonly left: Link | undefined;
  /** What became of the former project's memories. */
  readonly moved: FolderMove | undefined;
  /** What the folder was linked to, if that was deleted: nothing came from there. */
  readonly deletedBefore: Link | undefined;
  /** The name of the version that the project's text had before; undefined for an empty one. */
  readonly textBefore: string | undefined;
  /** What was settled by naming the project. */
  readonly joins: SettledJoins | undefined;
  /** How many writes are held since, for they came with the folder. */
  readonly held: number;
}

/** `to`: the folder that git has made of it; null where nothing tells. */
interface LostLink extends Link {
  readonly to: string | null;
}

/** A linked folder that has moved to another path. */
export interface MovedFolder {
  readonly from: string;
  readonly to: string;
}

/** Details of a change to the links. */
interface ChangeFacts {
  /** Names of the remotes to open again. */
  readonly changedRemotes?: readonly string[];
  /** The folder that the change is about, if its repository was just read. */
  readonly identified?: IdentifiedFolder;
}

/** What linked folders are kept with. */
export interface LinkedFoldersOptions {
  readonly home: Home;
  readonly log: Log;
  readonly store: ReplicaStore<DaemonTables>;
  readonly book: BookOptions;
  readonly git: Git;
  readonly followers: Followers;
  readonly remotes: OpenRemotes;
}

/**
 * The folders that are linked to projects. Each is followed under the remote that its project is
 * bound to. Changes are made one after another, and a folder is not followed while its link
 * changes.
 */
export class LinkedFolders {
  readonly #options: LinkedFoldersOptions;
  #links: readonly Link[] = [];
  readonly #notes: RepositoryNotes;
  /** What happened to each folder. */
  #changes: ReadonlyMap<string, PlaceChange> = new Map();
  #lastChange: Promise<void> = Promise.resolve();
  readonly #underWay = new LinksUnderWay();
  #stopping = false;

  constructor(options: LinkedFoldersOptions) {
    this.#options = options;
    this.#notes = new RepositoryNotes({ ...options, world: options.book.world });
  }

  get links(): readonly Link[] {
    return this.#links;
  }

  /** The contradiction between a link and what the folder's repository says of its project. */
  noteOf(dir: string): Reason | undefined {
    return this.#notes.noteOf(dir);
  }

  /** What happened to the folder, if something has to be said about it. */
  changeOf(dir: string): PlaceChange | undefined {
    return this.#changes.get(dir);
  }

  /** Reads the links and binds each of their projects. */
  async load(): Promise<void> {
    const { store, book } = this.#options;
    await store.write(async (context) => {
      await bindLinks(context, book);
      await nameEnvironment(context, book);
    });
    await this.#applyBindings();
  }

  async followAll(): Promise<void> {
    for (const link of this.#links) await this.#follow(link);
    for (const link of this.#links) this.onRepository(link);
  }

  /** Makes no further looks. */
  stop(): void {
    this.#stopping = true;
    this.#notes.stop();
  }

  /** Resolves when the changes under way are made. */
  async settled(): Promise<void> {
    await this.#lastChange;
    await this.#notes.settled();
  }

  /** Whether folders are being linked, or more are about to be. */
  get isLinking(): boolean {
    return this.#underWay.isAny(this.#options.book.world.monotonic());
  }

  /** Follows a folder's project from now on. Refuses a folder that is not there. */
  async link(folder: string, options: LinkOptions = {}): Promise<BoundLink> {
    this.#underWay.begin(options.more === true);
    // git is asked about several folders at once; they are linked one after another.
    const { store, git, remotes } = this.#options;
    const known = { store, git, remotes, notes: this.#notes, links: () => this.#links };
    const found = identifyFolder(folder, options, known);
    found.catch(() => undefined);
    try {
      return await this.#inTurn(async () => this.#link(await found, options));
    } finally {
      this.#underWay.end(this.#options.book.world.monotonic());
    }
  }

  /**
   * A service answered about these units: questions that it could not answer before are asked
   * again.
   */
  onContact(units: readonly SyncUnit[]): void {
    this.#notes.lookAgain(this.#links.filter(({ projectId }) => units.includes(projectId)));
  }

  async #link(found: IdentifiedFolder, options: LinkOptions): Promise<BoundLink> {
    const before = this.#links.find((link) => link.dir === found.dir);
    const seen = await this.#readFacts(found, before);
    const isMoved = await this.#movePlaces(found.dir, { isNamed: true });
    const dir = await this.#pathOf(found.dir);
    const there = this.#links.find((link) => link.dir === dir);
    // It may be linked under another path, or have brought its link along just now.
    const isKnown = there !== undefined && (isMoved || dir !== found.dir);
    const facts = isKnown ? await this.#readFacts({ ...found, dir }, there) : seen;
    return await this.#linkBy(facts, options);
  }

  async #readFacts({ dir, identity }: IdentifiedFolder, former: Link | undefined) {
    const { store, git } = this.#options;
    return await readLinkFacts(store.reader, git, { dir, found: identity, former });
  }

  async #linkBy(facts: FolderFacts, options: LinkOptions): Promise<BoundLink> {
    const { store, book, remotes } = this.#options;
    const { dir, identity, former } = facts;
    this.#notes.forgetFormer(dir);
    const past = former || options.id ? undefined : await this.#pastOf(facts);
    const again = past && (await this.#isResumed(past, options)) ? past : undefined;
    const askedName = options.id && (await findProjectName(store.reader, options.id));
    const known = { links: this.#links, again, askedName, world: book.world };
    const plan = planLink(facts, options, known);
    const { link, others } = plan;
    const { sendIgnored = [] } = options;
    const isAsked = sendIgnored.length > 0;
    const ignoring = isAsked
      ? await listGoneIgnores(store.reader, [...others, link], link.projectId)
      : [];
    // The user agreed to these alone.
    const gone = ignoring.map(dirOf).filter((each) => sendIgnored.includes(each));
    const dirs = [dir, ...(options.remote === undefined ? gone : others.map(dirOf))];
    // The file may be away later, and what it says now counts for the former project, too.
    if (former && !facts.replaced) await takeIgnored(store, dir);
    const change = () =>
      store.write(async (context) => {
        for (const each of gone) await forgetIgnored(context.db, link.projectId, each);
        return await writeLink(context, book, plan);
      });
    const written = await this.#unfollowed(dirs, change, { identified: { dir, identity } });
    const away = (await goneOf(others)).map(dirOf);
    const isFirst = !former && !options.id && !past;
    const lost = isFirst ? await this.#lostIn(identity.root, link.projectId) : [];
    const remote = remotes.remoteOf(written.account)?.name ?? "";
    const { account: _, ...told } = written;
    return { ...link, remote, gone: away, past, lost, ...told };
  }

  /** A folder that git has renamed is another one to the system, unlike one that was moved. */
  async #lostIn(root: string | undefined, project: ProjectId): Promise<readonly LostLink[]> {
    if (root === undefined) return [];
    const { links } = this;
    const gone = await goneOf(
      links.filter(({ dir, projectId }) => {
        return dir !== root && isIn(dir, root) && projectId !== project;
      }),
    );
    const renamed = gone.map((each) => findRenamed(this.#options.git, each.dir));
    const found = await Promise.all(renamed);
    return gone.map((each, at) => ({ ...each, to: found[at] ?? null }));
  }

  async #pastOf({ dir, place }: FolderFacts): Promise<PastProject | undefined> {
    return place && (await findPastProject(this.#options.store.reader, { dir, place }));
  }

  /** Whether a folder that nothing else identifies has its former project again. */
  async #isResumed(
    { projectId, isSameFolder }: PastProject,
    { remote }: LinkOptions,
  ): Promise<boolean> {
    const { store, remotes } = this.#options;
    if (!isSameFolder) return false;
    const account = await findBinding(store.reader, projectId);
    const bound = account === undefined ? undefined : remotes.remoteOf(account);
    return bound !== undefined && (remote === undefined || remote === bound.name);
  }

  /** The path at which a folder is linked, which may be another one that leads to it. */
  async #pathOf(dir: string): Promise<string> {
    if (this.#links.some((link) => link.dir === dir)) return dir;
    return (await findAlias(this.#options.store.reader, this.#links, dir)) ?? dir;
  }

  /** Searches for a linked folder that is not at its path, and follows it where it is found. */
  onGone(link: Link): void {
    const looked = this.#inTurn(async () => {
      if (this.#stopping || !this.#links.some(({ dir }) => dir === link.dir)) return;
      const isMoved = await this.#movePlaces(link.dir);
      if (!isMoved) this.#notes.lookAway(link);
    });
    looked.catch((thrown) => {
      this.#options.log.warn({ reason: messageOf(thrown) }, "a moved folder was not followed");
    });
  }

  /**
   * Somebody works in a folder. If it, or a folder above it, is a linked folder that was moved, it
   * is followed here again. Resolves to its former path. If it is at the path of one that was away,
   * it is looked at, so that what is said of it is so. Does not wait for other changes where
   * nothing was moved, because every command calls this.
   */
  async found(folder: string): Promise<MovedFolder | undefined> {
    const real = await realPathOf(folder);
    const { followers } = this.#options;
    for (const link of this.#links) {
      if (isIn(real, link.dir) && followers.isAway(link.dir)) await this.#lookAtComer(link);
    }
    if (!(await this.#findMovedAbove(real))) return undefined;
    const moved = await this.#inTurn(async () => {
      const found = await this.#findMovedAbove(real);
      if (!found) return undefined;
      await this.#movePlaces(found.dir);
      const isHere = this.#links.some(({ dir }) => dir === found.dir);
      return isHere ? { from: found.link.dir, to: found.dir } : undefined;
    });
    if (moved) await this.#options.followers.settledAt(moved.to);
    return moved;
  }

  /** Looks at what has come to the path of a folder that was away, and follows it if it may be. */
  async #lookAtComer({ dir }: Link): Promise<void> {
    const { followers } = this.#options;
    await followers.lookAt(dir);
    // The look may have found that links are to be moved.
    await this.#lastChange;
    await followers.settledAt(dir);
  }

  /** The link of a folder, or of the nearest one above it, if that folder has moved. */
  async #findMovedAbove(folder: string): Promise<FoundLink | undefined> {
    const found = await findLinkAbove(this.#options.store.reader, this.#links, folder);
    return found && found.link.dir !== found.dir ? found : undefined;
  }

  /** Moves links to where their folders are, as far as this path shows. False: nothing to do. */
  async #movePlaces(dir: string, { isNamed = false } = {}): Promise<boolean> {
    const { store, git, log } = this.#options;
    const found = await planPlace(store.reader, git, { links: this.#links, dir });
    // Whoever names a folder decides what it is linked to.
    const plan = isNamed ? { ...found, replacement: undefined } : found;
    const paths = pathsIn(plan, dir);
    if (paths.length === 0) return false;
    await this.#unfollowed(paths, () => store.write((context) => carryOutPlan(context, dir, plan)));
    for (const { link, to } of plan.moves) {
      log.info({ from: link.dir, to }, "a linked folder was moved, and its link with it");
    }
    for (const { link } of plan.leaving) {
      log.info({ dir: link.dir }, "a linked folder is gone, and another one has its path");
    }
    if (plan.restored) {
      log.info({ from: plan.restored.link.dir, to: dir }, "a folder is there that was linked");
    }
    if (plan.replacement)
      log.info({ dir }, "another folder of the project took a linked one's path");
    return true;
  }

  /** Checks whether git still says that the folder is the project that it is linked to. */
  onRepository(link: Link): void {
    this.#notes.look(link);
  }

  /** Stops following a folder; nothing is deleted anywhere. False: it was not linked. */
  unlink(folder: string): Promise<boolean> {
    return this.#inTurn(() => this.#unlink(folder));
  }

  async #unlink(folder: string): Promise<boolean> {
    const dir = await this.#pathOf(await realPathOf(folder));
    this.#notes.forgetUnasked(dir);
    const link = this.#links.find((each) => each.dir === dir);
    // What it names still counts for its project.
    if (link) await takeIgnored(this.#options.store, dir);
    return await this.#unfollowed([dir], () =>
      this.#options.store.write(async ({ db, now }) => {
        const known = link && (await findKnownPlace(db, dir));
        if (link) await keepFormerIgnored(db, link);
        if (link && known) await keepUnlinked(db, link, { known, now });
        await forgetFormerLinksAt(db, dir);
        await forgetFollowed(db, dir);
        await forgetKnownPlace(db, dir);
        return await removeLink(db, dir);
      }),
    );
  }

  /** Adds, binds or removes remotes, with effect at once. */
  changeRemotes(change: RemoteChange): Promise<ChangedRemote> {
    return this.#inTurn(async () => {
      const moved = change.op === "move" ? change.project : undefined;
      const dirs = this.#links.filter(({ projectId }) => projectId === moved).map(({ dir }) => dir);
      const make = () =>
        this.#options.store.write((context) => changeRemote(context, this.#options.book, change));
      return await this.#unfollowed(dirs, make, {
        changedRemotes: change.op === "token" ? [change.name] : [],
      });
    });
  }

  /** Changes links while their folders are not followed, then follows them again. */
  async #unfollowed<Result>(
    dirs: readonly string[],
    change: () => Promise<Result>,
    { changedRemotes = [], identified }: ChangeFacts = {},
  ): Promise<Result> {
    try {
      for (const dir of dirs) await this.#options.followers.remove(dir);
      keepLinks(this.#options.home, { links: this.#links, bindings: undefined }, this.#options.log);
      return await change();
    } finally {
      // A full disk may let neither of them through. The folders are followed all the same.
      try {
        await this.#applyBindings(changedRemotes);
      } finally {
        await this.#followAgain(dirs, identified);
      }
    }
  }

  async #followAgain(dirs: readonly string[], identified: ChangeFacts["identified"]) {
    for (const dir of dirs) this.#notes.forgetNote(dir);
    for (const link of this.#links.filter(({ dir }) => dirs.includes(dir))) {
      await this.#follow(link);
      if (link.dir !== identified?.dir) this.onRepository(link);
      else this.#notes.look(link, async () => identified.identity);
    }
  }

  async #follow(link: Link): Promise<void> {
    const account = this.#options.remotes.bindingOf(link.projectId) ?? LOCAL_ACCOUNT;
    const service = serviceNameOf(this.#options.remotes.remoteOf(account));
    await this.#options.followers.add(link, { account, service });
  }

  /** Changes are made one after another. */
  #inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = this.#lastChange.then(change);
    this.#lastChange = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Applies the current links and bindings, and stores a copy of them. */
  async #applyBindings(changedRemotes: readonly string[] = []): Promise<void> {
    const { home, log } = this.#options;
    const { reader } = this.#options.store;
    this.#links = await listLinks(reader);
    const places = [...(await listKnownPlaces(reader))];
    this.#changes = new Map(places.flatMap(([dir, { change }]) => (change ? [[dir, change]] : [])));
    keepLinks(home, await readLinksToKeep(reader), log);
    await this.#options.remotes.refresh(changedRemotes);
  }
}

function dirOf({ dir }: { readonly dir: string }): string {
  return dir;
}

/** Those whose folder is not there. */
async function goneOf(links: readonly Link[]): Promise<readonly Link[]> {
  const there = await Promise.all(links.map(({ dir }) => isFolder(dir)));
  return links.filter((_, at) => !there[at]);
}
