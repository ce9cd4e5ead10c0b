import { stat } from "node:fs/promises";
import { AppError, messageOf } from "../shared/errors.ts";
import { type ProjectId, randomProjectId } from "../shared/ids.ts";
import type { Log } from "../shared/log.ts";
import type { ReplicaStore } from "../shared/replica/store.ts";
import { chooseProject, repositoryNote } from "./choose-project.ts";
import type { Home } from "./home.ts";
import { keepPlace, readLinkFacts } from "./link-facts.ts";
import { type Link, listLinks, putLink, removeLink } from "./links.ts";
import { LOCAL_ACCOUNT } from "./local-account.ts";
import { findMovedLink, findNewFolder, moveLink } from "./move-link.ts";
import { keepLinks, readLinksToKeep } from "./recovery/links-file.ts";
import { moveToProject } from "./relink.ts";
import { bindLinks, bindProject } from "./remotes/bind-project.ts";
import type { OpenRemotes } from "./remotes/open-remotes.ts";
import { serviceNameOf } from "./remotes/remote.ts";
import { type BookOptions, nameEnvironment } from "./remotes/remote-book.ts";
import { type ChangedRemote, changeRemote, type RemoteChange } from "./remotes/remote-change.ts";
import { forgetFollowed } from "./sources/follow-store.ts";
import type { Followers } from "./sources/followers.ts";
import { identifyProject, type ProjectIdentity } from "./sources/identity.ts";
import { findKnownPlace, forgetKnownPlace } from "./sources/place-store.ts";
import type { Git } from "./sources/run-git.ts";
import { realPathOf } from "./sources/working-tree.ts";
import type { DaemonTables } from "./tables.ts";

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

/** A folder by its real path, and what its repository says of its project. */
interface IdentifiedFolder {
  readonly dir: string;
  readonly identity: ProjectIdentity;
}

/** What is known of a change of links. */
interface ChangeFacts {
  /** Names of the remotes that are to be opened anew. */
  readonly changedRemotes?: readonly string[];
  /** The folder that it is about, where its repository was just looked at. */
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
 * The folders that are linked to projects, each followed by the binding that its project has now.
 * Changes are made one after another, and nothing follows a folder while its link changes.
 */
export class LinkedFolders {
  readonly #options: LinkedFoldersOptions;
  #links: readonly Link[] = [];
  /** By folder: what its repository says of its project that is not so. */
  readonly #notes = new Map<string, string>();
  #lastNote: Promise<void> = Promise.resolve();
  #lastChange: Promise<void> = Promise.resolve();
  #stopping = false;

  constructor(options: LinkedFoldersOptions) {
    this.#options = options;
  }

  get links(): readonly Link[] {
    return this.#links;
  }

  /** What the folder's repository says of its project that is not so. */
  noteOf(dir: string): string | undefined {
    return this.#notes.get(dir);
  }

  /** Reads the links, of which each is bound then. */
  async load(): Promise<void> {
    const { store, book } = this.#options;
    await store.write(async (context) => {
      await bindLinks(context, book);
      await nameEnvironment(context, book);
    });
    await this.#takeBindings();
  }

  async followAll(): Promise<void> {
    for (const link of this.#links) await this.#follow(link);
    for (const link of this.#links) this.onRepository(link);
  }

  /** Looks for nothing any more. */
  stop(): void {
    this.#stopping = true;
  }

  /** Resolves when the changes under way are made. */
  async settled(): Promise<void> {
    await this.#lastChange;
    await this.#lastNote;
  }

  /** Follows a folder's project from now on. Refuses a folder that is not there. */
  link(folder: string, options: LinkOptions = {}): Promise<BoundLink> {
    // What git says of several folders is asked at once; they are linked in turn.
    const found = this.#identify(folder);
    found.catch(() => undefined);
    return this.#inTurn(async () => this.#link(await found, options));
  }

  async #identify(folder: string): Promise<IdentifiedFolder> {
    const dir = await realPathOf(folder);
    if (!(await isFolder(dir))) {
      throw new AppError("invalid_request", `${folder} is not a folder`);
    }
    return { dir, identity: await identifyProject(this.#options.git, dir) };
  }

  async #link(found: IdentifiedFolder, options: LinkOptions): Promise<BoundLink> {
    const { dir, identity } = found;
    await this.#bringMoved(dir, identity);
    const former = this.#links.find((link) => link.dir === dir);
    const facts = await readLinkFacts(
      this.#options.store.reader,
      this.#options.git,
      dir,
      identity,
      former,
    );
    const chosen = chooseProject({ ...facts, asked: options.id });
    const projectId = chosen.projectId ?? randomProjectId(this.#options.book.world);
    const write = options.write ?? former?.write ?? false;
    const link: Link = { dir, projectId, name: identity.name, write };
    const others = this.#links.filter((each) => each.dir !== dir && each.projectId === projectId);
    const binding = { project: projectId, remote: options.remote, former, others };
    const dirs = [dir, ...(options.remote === undefined ? [] : others.map((each) => each.dir))];
    const change = () =>
      this.#options.store.write(async (context) => {
        const bound = await bindProject(context, this.#options.book, binding);
        await putLink(context.db, link, context.now);
        await moveToProject(context, bound, former, link, chosen.bringsMemories);
        await keepPlace(context.db, facts, chosen);
        return bound;
      });
    const account = await this.#unfollowed(dirs, change, { identified: found });
    return { ...link, remote: this.#options.remotes.remoteOf(account)?.name ?? "" };
  }

  /** A folder that was moved to `dir` brings its link along. */
  async #bringMoved(dir: string, identity: ProjectIdentity): Promise<void> {
    if (this.#links.some((link) => link.dir === dir)) return;
    const derivedId = identity.kind === "none" ? undefined : identity.projectId;
    const moved = await findMovedLink(this.#options.store.reader, this.#links, dir, derivedId);
    if (moved) await this.#moveLink(moved.dir, dir);
  }

  /** Looks for a linked folder that is gone, and follows it where it is now. */
  onGone(link: Link): void {
    const move = this.#inTurn(async () => {
      if (this.#stopping || !this.#links.some(({ dir }) => dir === link.dir)) return;
      const to = await findNewFolder(this.#options.store.reader, link);
      if (to === undefined || this.#links.some(({ dir }) => dir === to)) return;
      await this.#moveLink(link.dir, to);
    });
    move.catch((thrown) => {
      this.#options.log.warn({ reason: messageOf(thrown) }, "a moved folder was not followed");
    });
  }

  async #moveLink(from: string, to: string): Promise<void> {
    const move = () => this.#options.store.write(({ db }) => moveLink(db, from, to));
    await this.#unfollowed([from, to], move);
    this.#options.log.info({ from, to }, "a linked folder was moved, and its link with it");
  }

  /** Finds out whether git still says that the folder is the project that it is linked to. */
  onRepository(link: Link): void {
    this.#note(link, () => identifyProject(this.#options.git, link.dir));
  }

  #note(link: Link, identify: () => Promise<ProjectIdentity>): void {
    const look = this.#lastNote.then(async () => {
      const { dir } = link;
      if (this.#stopping) return;
      const known = await findKnownPlace(this.#options.store.reader, dir);
      const note = repositoryNote(link, await identify(), known);
      if (note === undefined) this.#notes.delete(dir);
      else this.#notes.set(dir, note);
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
      this.#options.store.write(async ({ db }) => {
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
      const make = () =>
        this.#options.store.write((context) => changeRemote(context, this.#options.book, change));
      return await this.#unfollowed(dirs, make, {
        changedRemotes: change.op === "token" ? [change.name] : [],
      });
    });
  }

  /** Changes links while nothing follows their folders by the former ones; then follows again. */
  async #unfollowed<Result>(
    dirs: readonly string[],
    change: () => Promise<Result>,
    { changedRemotes = [], identified }: ChangeFacts = {},
  ): Promise<Result> {
    for (const dir of dirs) await this.#options.followers.remove(dir);
    keepLinks(this.#options.home, { links: this.#links, bindings: undefined }, this.#options.log);
    try {
      return await change();
    } finally {
      await this.#takeBindings(changedRemotes);
      for (const dir of dirs) this.#notes.delete(dir);
      for (const link of this.#links.filter(({ dir }) => dirs.includes(dir))) {
        await this.#follow(link);
        if (link.dir !== identified?.dir) this.onRepository(link);
        else this.#note(link, async () => identified.identity);
      }
    }
  }

  async #follow(link: Link): Promise<void> {
    const account = this.#options.remotes.bindingOf(link.projectId) ?? LOCAL_ACCOUNT;
    const service = serviceNameOf(this.#options.remotes.remoteOf(account));
    await this.#options.followers.add(link, { account, service });
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
  async #takeBindings(changedRemotes: readonly string[] = []): Promise<void> {
    const { home, log } = this.#options;
    const { reader } = this.#options.store;
    this.#links = await listLinks(reader);
    keepLinks(home, await readLinksToKeep(reader), log);
    await this.#options.remotes.refresh(changedRemotes);
  }
}

async function isFolder(dir: string): Promise<boolean> {
  try {
    return (await stat(dir)).isDirectory();
  } catch {
    return false;
  }
}
