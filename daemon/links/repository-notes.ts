import { relative } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Reason } from "../../shared/reasons.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { World } from "../../shared/world.ts";
import { findKnownPlace, type KnownPlace } from "../files/names/place-store.ts";
import {
  identifyProject,
  identityAmong,
  type ProjectIdentity,
  projectAt,
} from "../git/identity.ts";
import type { Git } from "../git/run-git.ts";
import { type Link, listLinks } from "../home/links.ts";
import { hasEverAnswered } from "../home/positions.ts";
import { serviceNameOf } from "../home/remote.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { OpenRemotes } from "../remotes/open-remotes.ts";
import { ServiceProjects } from "../remotes/service-projects.ts";
import { repositoryNote } from "./choose-project.ts";
import { findRenamed } from "./renamed-links.ts";

interface RepositoryNotesOptions {
  readonly world: World;
  readonly log: Log;
  readonly store: ReplicaStore<DaemonTables>;
  readonly git: Git;
  readonly remotes: OpenRemotes;
}

/** git writes its refs after the folder's files. From then on nothing changes until it is back. */
const LOOKS_AWAY_MAX = 6;

/**
 * What `status` says of linked folders whose repository or service names another project than the
 * link. Folders are checked one after another in the background.
 */
export class RepositoryNotes {
  readonly #options: RepositoryNotesOptions;
  readonly #projects: ServiceProjects;
  /** The contradiction found in each folder. */
  readonly #notes = new Map<string, Reason>();
  /** Folders whose service could not be asked yet whether it has an earlier project. */
  readonly #unasked = new Set<string>();
  /** Folders whose service has one. */
  readonly #former = new Set<string>();
  /** How often each folder that is gone was searched for. */
  readonly #looksAway = new Map<string, number>();
  #lastLook: Promise<void> = Promise.resolve();
  #stopping = false;

  constructor(options: RepositoryNotesOptions) {
    this.#options = options;
    this.#projects = new ServiceProjects(options.world);
  }

  /** The contradiction between the link and what the folder's repository says of its project. */
  noteOf(dir: string): Reason | undefined {
    return this.#notes.get(dir);
  }

  /** Makes no further looks. */
  stop(): void {
    this.#stopping = true;
  }

  /** Resolves when the looks under way are done. */
  async settled(): Promise<void> {
    await this.#lastLook;
  }

  /** Checks whether git still says that the folder is the project that it is linked to. */
  look(link: Link, identify = () => identifyProject(this.#options.git, link.dir)): void {
    this.#looksAway.delete(link.dir);
    this.#inTurn(() => this.#note(link, identify));
  }

  /** Checks what git says of a folder that is gone. */
  lookAway(link: Link): void {
    const looks = this.#looksAway.get(link.dir) ?? 0;
    if (looks >= LOOKS_AWAY_MAX) return;
    this.#looksAway.set(link.dir, looks + 1);
    this.#inTurn(() => this.#note(link, () => identifyProject(this.#options.git, link.dir)));
  }

  #inTurn(look: () => Promise<void>): void {
    const looked = this.#lastLook.then(async () => {
      if (!this.#stopping) await look();
    });
    this.#lastLook = looked.catch((thrown) => {
      this.#options.log.warn({ reason: messageOf(thrown) }, "a repository was not looked at");
    });
  }

  async #note(link: Link, identify: () => Promise<ProjectIdentity>): Promise<void> {
    const { dir } = link;
    const away = await this.#renamedAway(link);
    if (away) {
      this.#notes.set(dir, away);
      return;
    }
    const known = await findKnownPlace(this.#options.store.reader, dir);
    const identity = identityAmong(await identify(), [link.projectId, known?.derivedId]);
    const contradiction = repositoryNote(link, identity, known);
    const note = contradiction
      ? ((await this.#renamedNote(link, identity, known)) ?? contradiction)
      : await this.#formerNote(link, identity);
    if (note === undefined) this.#notes.delete(dir);
    else this.#notes.set(dir, note);
  }

  /** What to say of a folder that is gone, where git's history has it under another path. */
  async #renamedAway({ dir, projectId }: Link): Promise<Reason | undefined> {
    const { git, store } = this.#options;
    const to = await findRenamed(git, dir);
    if (to === undefined) return undefined;
    const links = await listLinks(store.reader);
    if (links.some((link) => link.dir === to && link.projectId === projectId)) return undefined;
    return { code: "folder-renamed-away", id: projectId, to };
  }

  /** What to say where only the folder's path in its repository is another one. */
  async #renamedNote(
    { dir, projectId, name }: Link,
    identity: ProjectIdentity,
    known: KnownPlace | undefined,
  ): Promise<Reason | undefined> {
    if (identity.kind === "none" || known?.derivedId === undefined) return undefined;
    const { root, pathInside } = identity;
    const { change } = known;
    const formerDir = change?.kind === "moved" ? relative(root, change.from) : undefined;
    // A name is the repository's, and the path in there at the first link.
    const repository = identity.name.slice(0, -pathInside.length);
    const named = name.startsWith(repository) ? name.slice(repository.length) : undefined;
    for (const path of [formerDir, named]) {
      if (path === undefined || path === "" || path.startsWith("..")) continue;
      if ((await projectAt(this.#options.git, root, path)) !== known.derivedId) continue;
      return { code: "folder-renamed", id: projectId, path: dir };
    }
    return undefined;
  }

  /**
   * What to say where a repository was linked under its current id while its service could not be
   * asked, and the service has the project under its former id.
   */
  async #formerNote({ dir, projectId }: Link, identity: ProjectIdentity) {
    if (identity.kind === "none" || identity.projectId !== projectId) return undefined;
    const { formerId } = identity;
    const account = this.#options.remotes.bindingOf(projectId);
    if (formerId === undefined || account === undefined) return undefined;
    const former = { code: "repository-known", id: formerId } as const;
    if (this.#former.has(dir)) return former;
    const { remotes, store } = this.#options;
    const service = serviceNameOf(remotes.remoteOf(account));
    const isNew = !(await hasEverAnswered(store.reader, service, { account, name: projectId }));
    if (!isNew && !this.#unasked.has(dir)) return undefined;
    const has = await this.#hasProject(account, formerId);
    if (has === undefined) this.#unasked.add(dir);
    else this.#unasked.delete(dir);
    if (!has) return undefined;
    this.#former.add(dir);
    return former;
  }

  /**
   * Whether the account's service has the project under the id that was linked earlier. If that
   * can't be told now, it is asked again when the service answers.
   */
  async hasFormer(
    dir: string,
    {
      account,
      formerId,
    }: { readonly account?: AccountId | undefined; readonly formerId: ProjectId },
  ): Promise<boolean> {
    const has = account && (await this.#hasProject(account, formerId));
    if (has === undefined) this.#unasked.add(dir);
    return has === true;
  }

  /** Whether an account's service has a project; undefined where that can't be told. */
  async #hasProject(account: AccountId, project: ProjectId): Promise<boolean | undefined> {
    const open = this.#options.remotes.find(account);
    return open && (await this.#projects.has(account, open.service, project));
  }

  /** A service answered about these: questions that it could not answer before are asked again. */
  lookAgain(answered: readonly Link[]): void {
    for (const link of answered) if (this.#unasked.has(link.dir)) this.look(link);
  }

  /** Checks the folder again. */
  forgetNote(dir: string): void {
    this.#notes.delete(dir);
  }

  /** The service's answer was about another repository that was in this folder. */
  forgetFormer(dir: string): void {
    this.#former.delete(dir);
  }

  /** The folder is no longer linked, so nobody has to be asked about it. */
  forgetUnasked(dir: string): void {
    this.#unasked.delete(dir);
  }
}
