import type { ProjectId } from "../../shared/ids.ts";
import { projectOf } from "../../shared/replica/document/address.ts";
import { DELETION_KEY } from "../../shared/replica/document/deletion-entry.ts";
import { TEXT_CONFLICT_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import type { Timer } from "../../shared/world.ts";
import type { SyncUnit } from "../budget/sync-units.ts";
import { findWorkingTree } from "../git/working-tree.ts";
import type { Link } from "../home/links.ts";
import type { Polled } from "../watch/watch-trouble.ts";
import type { Change, FolderWatch, WatchFolder } from "../watch/watched-folder.ts";
import { FollowedFile } from "./followed-file.ts";
import type { FollowerOptions } from "./follower-options.ts";
import { alsoLinks, alsoNameOf, folderOf } from "./names/also-file.ts";

/** Everything is looked at this often, for changes of which no event told. */
export const RESCAN_INTERVAL_MS = 60 * 60_000;

/** What following works with. */
export interface FollowersOptions extends FollowerOptions {
  readonly watch: WatchFolder;
  /** Called when git's configuration in a linked folder changed. */
  readonly onRepository?: (link: Link) => void;
}

interface Follower {
  readonly file: FollowedFile;
  readonly watch: FolderWatch;
  readonly gitDir: string | undefined;
}

/** How many of the linked folders were looked at since the start. */
export interface LookedFolders {
  readonly done: number;
  readonly total: number;
}

/** Follows the description documents of all linked folders. */
export class Followers {
  readonly #options: FollowersOptions;
  readonly #followers = new Map<string, Follower>();
  readonly #stopListening: () => void;
  #rescan: Timer | undefined;
  #rescans: Promise<void> = Promise.resolve();

  constructor(options: FollowersOptions) {
    this.#options = options;
    this.#stopListening = options.store.onCommit((rows) => this.#onCommit(rows));
    this.#scheduleRescan();
  }

  /**
   * Begins to follow a folder, or changes how a folder is followed. `bound`: the account and
   * service of its project, where they are not the default.
   */
  async add(
    link: Link,
    bound: Partial<Pick<FollowerOptions, "account" | "service">> = {},
  ): Promise<FollowedFile> {
    await this.remove(link.dir);
    const file = await this.#add(link, bound);
    for (const each of alsoLinks(link)) await this.#add(each, bound);
    return file;
  }

  async #add(
    link: Link,
    bound: Partial<Pick<FollowerOptions, "account" | "service">>,
  ): Promise<FollowedFile> {
    const gitDir = await this.#gitDirOf(folderOf(link));
    const file = new FollowedFile(link, { ...this.#options, ...bound });
    const watch = this.#watch(file, gitDir);
    this.#followers.set(link.dir, { file, gitDir, watch });
    // From here on a save causes an event, so none is missed after the first look.
    await watch.begun;
    file.look();
    return file;
  }

  async #gitDirOf(dir: string): Promise<string | undefined> {
    const search = await findWorkingTree(this.#options.git, dir);
    return search.kind === "tree" ? search.tree.gitDir : undefined;
  }

  #watch(file: FollowedFile, gitDir: string | undefined): FolderWatch {
    const { watch, world, log, onRepository } = this.#options;
    const changed = (change: Change = "file") => {
      if (change !== "repository") file.look();
      else if (!isAlso(file)) onRepository?.(file.link);
    };
    return watch({ dir: folderOf(file.link), gitDir, world, log, changed });
  }

  /** Follows no file of this folder any more. */
  async remove(dir: string): Promise<void> {
    for (const [key, { watch, file }] of [...this.#followers]) {
      if (folderOf(file.link) !== dir) continue;
      this.#followers.delete(key);
      await watch.close();
      await file.stop();
    }
  }

  looked(links: readonly Link[]): LookedFolders {
    const files = links.map(({ dir }) => this.#followers.get(dir)?.file.status);
    const done = files.filter((status) => status && status.why?.code !== "not-looked-at");
    return { done: done.length, total: links.length };
  }

  /** How many files are being looked at. */
  get looking(): number {
    return this.files().filter(({ isLooking }) => isLooking).length;
  }

  /** In the order in which they were added. */
  files(): FollowedFile[] {
    return [...this.#followers.values()].map(({ file }) => file);
  }

  /** Whether a file of this project waits, as each does until its first text is taken. */
  isWaiting(project: SyncUnit): boolean {
    return this.files().some(({ link, status }) => {
      return link.projectId === project && status.state === "waiting";
    });
  }

  /** Whether the linked folder was not at its path when that was looked at last. */
  isAway(dir: string): boolean {
    const why = this.#followers.get(dir)?.file.status.why?.code;
    return why === "folder-gone" || why === "folder-another";
  }

  /** Looks at a folder's file, and resolves when no look at it is under way. */
  async lookAt(dir: string): Promise<void> {
    this.#followers.get(dir)?.file.look();
    await this.settledAt(dir);
  }

  /** Why a folder is polled instead of watched; undefined: it is watched. */
  polled(dir: string): Polled | undefined {
    return this.#followers.get(dir)?.watch.polled;
  }

  /** Looks at everything again: each hour, and after the machine slept. */
  rescan(): void {
    for (const follower of [...this.#followers.values()]) {
      follower.file.look();
      if (!isAlso(follower.file)) this.#options.onRepository?.(follower.file.link);
      this.#rescans = this.#rescans.then(() => this.#watchAnew(follower));
    }
  }

  /** A folder's repository may have been created, moved or removed since the watch began. */
  async #watchAnew({ file, watch, gitDir }: Follower): Promise<void> {
    const { dir } = file.link;
    const gitDirNow = await this.#gitDirOf(folderOf(file.link));
    if (gitDirNow === gitDir || this.#followers.get(dir)?.file !== file) return;
    const follower = { file, gitDir: gitDirNow, watch: this.#watch(file, gitDirNow) };
    this.#followers.set(dir, follower);
    await follower.watch.begun;
    await watch.close();
  }

  /** Looks at every file, and resolves when the looks are over. */
  async lookAll(): Promise<void> {
    const files = this.files();
    for (const file of files) file.look();
    await this.settled();
  }

  /** Resolves when the looks under way are over. */
  async settled(): Promise<void> {
    await Promise.all(this.files().map((file) => file.settled()));
  }

  /** Resolves when no look at this folder's file is under way. */
  async settledAt(dir: string): Promise<void> {
    await this.#followers.get(dir)?.file.settled();
  }

  /** The same for all files of the folder. */
  async settledIn(dir: string): Promise<void> {
    const files = this.files().filter(({ link }) => folderOf(link) === dir);
    await Promise.all(files.map((file) => file.settled()));
  }

  async stop(): Promise<void> {
    this.#rescan?.cancel();
    this.#stopListening();
    await this.#rescans;
    for (const file of this.files()) await this.remove(folderOf(file.link));
  }

  #onCommit(rows: readonly CommittedRow[]): void {
    const changed = new Set<ProjectId | undefined>();
    for (const { address, changes } of rows) {
      const isAboutFiles = changes.text || [...changes.metadataKeys].some(isAboutFile);
      if (isAboutFiles) changed.add(projectOf(address.name));
    }
    if (changed.size === 0) return;
    for (const file of this.files()) if (changed.has(file.link.projectId)) file.look();
  }

  #scheduleRescan(): void {
    this.#rescan = this.#options.world.setTimer(RESCAN_INTERVAL_MS, () => {
      this.rescan();
      this.#scheduleRescan();
    });
  }
}

/** Whether it follows the project's text beside the file that counts. */
function isAlso({ link }: FollowedFile): boolean {
  return alsoNameOf(link) !== undefined;
}

/** Whether a file may have to be written because of this metadata. */
function isAboutFile(key: string): boolean {
  return key === DELETION_KEY || key.startsWith(TEXT_CONFLICT_PREFIX);
}
