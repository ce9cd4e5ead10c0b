import type { ProjectId } from "../../shared/ids.ts";
import { projectOf } from "../../shared/replica/address.ts";
import type { CommittedRow } from "../../shared/replica/open-document.ts";
import type { Timer } from "../../shared/world.ts";
import type { Link } from "../links.ts";
import { FollowedFile, type FollowerOptions } from "./followed-file.ts";
import type { FolderWatch, WatchFolder } from "./watch.ts";
import { findWorkingTree } from "./working-tree.ts";

/** A lost event is made up for by a look this often. */
const RESCAN_INTERVAL_MS = 60_000;

/** What following works with. */
export interface FollowersOptions extends FollowerOptions {
  readonly watch: WatchFolder;
}

interface Follower {
  readonly file: FollowedFile;
  readonly watch: FolderWatch;
}

/** Follows the description documents of all linked folders. */
export class Followers {
  readonly #options: FollowersOptions;
  readonly #followers = new Map<string, Follower>();
  readonly #stopListening: () => void;
  #rescan: Timer | undefined;

  constructor(options: FollowersOptions) {
    this.#options = options;
    this.#stopListening = options.store.onCommit((rows) => this.#onCommit(rows));
    this.#scheduleRescan();
  }

  /**
   * Begins to follow a folder; one followed already is followed by the new terms. `bound` says
   * whose its project is, where it is another's than the rest.
   */
  async add(
    link: Link,
    bound: Partial<Pick<FollowerOptions, "account" | "service">> = {},
  ): Promise<FollowedFile> {
    await this.remove(link.dir);
    const { git, world, log } = this.#options;
    const tree = await findWorkingTree(git, link.dir);
    const gitDir = tree.kind === "tree" ? tree.tree.gitDir : undefined;
    const file = new FollowedFile(link, { ...this.#options, ...bound });
    const watch = this.#options.watch(link.dir, gitDir, world, log, () => file.look());
    this.#followers.set(link.dir, { file, watch });
    file.look();
    return file;
  }

  async remove(dir: string): Promise<void> {
    const follower = this.#followers.get(dir);
    this.#followers.delete(dir);
    await follower?.watch.close();
    await follower?.file.stop();
  }

  /** In the order in which they were added. */
  files(): FollowedFile[] {
    return [...this.#followers.values()].map(({ file }) => file);
  }

  /** Looks at every file, and resolves when the looks are over. */
  async lookAll(): Promise<void> {
    const files = this.files();
    for (const file of files) file.look();
    await Promise.all(files.map((file) => file.settled()));
  }

  async stop(): Promise<void> {
    this.#rescan?.cancel();
    this.#stopListening();
    for (const dir of [...this.#followers.keys()]) await this.remove(dir);
  }

  #onCommit(rows: readonly CommittedRow[]): void {
    const changed = new Set<ProjectId | undefined>();
    for (const { address, changes } of rows) {
      if (changes.text) changed.add(projectOf(address.name));
    }
    if (changed.size === 0) return;
    for (const file of this.files()) if (changed.has(file.link.projectId)) file.look();
  }

  #scheduleRescan(): void {
    this.#rescan = this.#options.world.setTimer(RESCAN_INTERVAL_MS, () => {
      for (const file of this.files()) file.look();
      this.#scheduleRescan();
    });
  }
}
