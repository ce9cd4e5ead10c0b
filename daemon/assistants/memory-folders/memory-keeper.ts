import { messageOf } from "../../../shared/errors.ts";
import type { Timer } from "../../../shared/world.ts";
import { readMemoryFiles, readMemoryFolders } from "../../home/memory-files.ts";
import { RegularLooks } from "../../watch/regular-looks.ts";
import { type FolderSource, type OwnedFolder, whySeveral } from "../folders/owned-folder.ts";
import { LateMemorySaves } from "./late-memory-saves.ts";
import { MemoryFolderKeeper } from "./memory-folder-keeper.ts";
import type { MemoryFolderStatus } from "./memory-folder-status.ts";
import type { KeptFolder, MemoryKeeperOptions } from "./memory-keeper-options.ts";
import { listSessionFolders } from "./scan-memory-folders.ts";

/** How often the folders are looked at. */
const LOOK_MS = 5000;
/** How often it is asked whether they may be; whoever turns it on tells the daemon as well. */
const OFF_MS = 60_000;
/** A look after an event that told of a save. */
const SOON_MS = 100;

/**
 * Keeps memories in step with the folders of files in which assistants keep what they remember:
 * what is written there becomes memories, and where somebody agreed to it, memories that came from
 * elsewhere become files. One look at a time; no file is ever deleted by another one's absence.
 *
 * ```
 * const keeper = new MemoryKeeper(options);
 * keeper.start();
 * await keeper.stop();
 * ```
 */
export class MemoryKeeper {
  readonly #options: MemoryKeeperOptions;
  readonly #folders: MemoryFolderKeeper;
  readonly #late: LateMemorySaves;
  readonly #looks: RegularLooks;
  #status: readonly MemoryFolderStatus[] = [];
  /** Until a look because of an event. */
  #soon: Timer | undefined;

  constructor(options: MemoryKeeperOptions) {
    const { world, store } = options;
    this.#options = options;
    this.#looks = new RegularLooks({
      ...options,
      look: () => this.#look(),
      restMs: () => (this.#on().length === 0 ? OFF_MS : LOOK_MS),
      failed: "memory folders were not looked at",
    });
    this.#late = new LateMemorySaves({ world, store, look: () => void this.look() });
    this.#folders = new MemoryFolderKeeper({
      ...options,
      late: this.#late,
      isStopped: () => this.#looks.isStopped,
      look: () => this.#lookSoon(),
    });
  }

  /** The folders of linked projects as the last look found them; none of a kind that is off. */
  get status(): readonly MemoryFolderStatus[] {
    return this.#status;
  }

  /** Begins to look. */
  start(): void {
    void this.look();
  }

  /** Looks now. Resolves when what the folders have is saved. Never rejects. */
  look(): Promise<void> {
    return this.#looks.look();
  }

  /** An assistant may save several times at once. */
  #lookSoon(): void {
    if (this.#looks.isStopped) return;
    this.#soon ??= this.#options.world.setTimer(SOON_MS, () => {
      this.#soon = undefined;
      void this.look();
    });
  }

  /** The same, also at what did not change: somebody has decided something. */
  lookAnew(): Promise<void> {
    this.#folders.forgetQuiet();
    return this.look();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
    this.#soon?.cancel();
    await this.#folders.close();
    await this.#late.close();
  }

  /** Resolves when nothing is being read of which an event told. */
  async glimpsed(): Promise<void> {
    await this.#folders.glimpsed();
  }

  #on(): readonly FolderSource[] {
    const { sources, modeOf } = this.#options;
    return sources.filter(({ kind }) => modeOf(kind) !== "off");
  }

  async #look(): Promise<void> {
    const on = this.#on();
    if (on.length === 0) {
      await this.#folders.close();
      this.#status = [];
      return;
    }
    await this.#late.take();
    const status: MemoryFolderStatus[] = [];
    const found = new Set<string>();
    for (const source of on) {
      for (const folder of await source.find(await this.#places())) {
        if (this.#looks.isStopped) return;
        const told = await this.#lookAt(folder);
        if (folder.owner.kind === "project" && !folder.isLink) found.add(folder.path);
        if (told) status.push(told);
      }
    }
    await this.#folders.close(found);
    this.#status = status;
  }

  async #places() {
    const { store, links } = this.#options;
    const cwds = await listSessionFolders(store.reader);
    return { links: links(), cwds, kept: await readMemoryFolders(store.reader) };
  }

  /** Undefined where there is nothing to tell. */
  async #lookAt(folder: OwnedFolder): Promise<MemoryFolderStatus | undefined> {
    const { path, format, owner, isLink, isNew } = folder;
    const { store, modeOf } = this.#options;
    const { kind } = format;
    const told = { path, kind, files: 0, asked: [], notes: [], git: undefined } as const;
    if (owner.kind === "nobody") return undefined;
    const mode = modeOf(kind);
    if (isNew && (owner.kind === "several" || mode !== "write")) {
      if ((await readMemoryFiles(store.reader, path)).size === 0) return undefined;
    }
    if (owner.kind === "several") {
      return { ...told, owner: null, why: whySeveral(owner) };
    }
    const of = owner.kind === "user" ? owner.kind : owner.project;
    if (isLink) return { ...told, owner: of, why: { code: "memory-folder-link" } };
    const kept: KeptFolder = { ...folder, owner: of, mode };
    return await this.#folders.lookAt(kept).catch((thrown): MemoryFolderStatus => {
      const why = { code: "look-failed", said: messageOf(thrown) } as const;
      return { ...told, owner: of, why };
    });
  }
}
