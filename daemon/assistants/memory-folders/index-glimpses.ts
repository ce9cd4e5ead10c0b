import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import type { Log } from "../../../shared/log.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import type { FileContent } from "../../files/file-edit.ts";
import { Glimpses } from "../../files/glimpses.ts";
import { forgetGlimpses, keepGlimpse, listGlimpses } from "../../home/kept-glimpses.ts";
import type { MemoryFile } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FolderEvents, OpenEvents } from "../../watch/watch.ts";

interface GlimpsesOptions {
  /** Undefined: no event tells of a save. */
  readonly events: OpenEvents | undefined;
  readonly log: Log;
  readonly store: Pick<ReplicaStore<DaemonTables>, "write" | "reader">;
  /** Called when there is a text to take. */
  readonly look: () => void;
}

/** What was seen of an index until a look. */
interface SeenIndex {
  readonly seen: readonly FileContent[];
  readonly known: MemoryFile | undefined;
  /** What the look has read; undefined: nothing that is to be taken. */
  readonly file: Pick<FileContent, "hash"> | undefined;
}

/** An index that is read at each event. */
interface Followed {
  readonly path: string;
  /** Another one: the folder was replaced. */
  readonly sign: string;
  readonly events: FolderEvents;
  readonly glimpses: Glimpses;
}

/**
 * Reads the indexes of memory folders whenever an event tells of a save. Two sessions of a machine
 * may save between two looks, and the later one has not seen the line of the earlier one: that
 * would be in no file and no history.
 */
export class IndexGlimpses {
  readonly #options: GlimpsesOptions;
  readonly #followed = new Map<string, Followed>();

  constructor(options: GlimpsesOptions) {
    this.#options = options;
  }

  /** The index of this folder is read at events from here on. What it had, and nobody has taken. */
  async seen(folder: string, index: string): Promise<readonly FileContent[]> {
    const { events, log, store } = this.#options;
    if (!events) return [];
    const stats = await lstat(folder).catch(() => undefined);
    const sign = stats && `${stats.dev} ${stats.ino}`;
    const followed = this.#followed.get(folder);
    const seen = (await followed?.glimpses.seen()) ?? [];
    if (followed?.sign === sign) return seen;
    await this.forget(folder);
    if (sign === undefined) return seen;
    const path = join(folder, index);
    const glimpses = new Glimpses(folder, (text) => this.#keep(path, text));
    glimpses.restore(seen.length > 0 ? seen : await listGlimpses(store.reader, path));
    const opened = events(folder, {
      heard: (name) => {
        if (name === index) glimpses.glimpse(index);
      },
      failed: (thrown) => log.debug({ folder, reason: messageOf(thrown) }, "no events of a folder"),
      ready: () => undefined,
    });
    this.#followed.set(folder, { path, sign, events: opened, glimpses });
    return await glimpses.seen();
  }

  /** A kill before the next look must not lose it. */
  async #keep(path: string, text: FileContent): Promise<void> {
    const { store, log, look } = this.#options;
    try {
      await store.write(({ db }) => keepGlimpse(db, path, text));
    } catch (thrown) {
      log.warn({ path, reason: messageOf(thrown) }, "what an index had was not kept");
    }
    look();
  }

  /**
   * Those texts that nobody has taken, written or read since, oldest first. All of them are
   * forgotten.
   */
  async missed(folder: string, { seen, known, file }: SeenIndex): Promise<readonly FileContent[]> {
    const followed = this.#followed.get(folder);
    if (!followed) return [];
    const { glimpses, path } = followed;
    for (const each of [known, known?.next]) if (each) glimpses.markKnown(each.hash);
    const missed = glimpses.dropKnown(seen);
    glimpses.forget(seen);
    const fit = missed.filter(({ content }) => !exceedsBytes(content, LIMITS.memoryValueBytes));
    const open = new Set([...fit.map(({ hash }) => hash), ...glimpses.waiting, file?.hash]);
    const isOver = (hash: string) => !open.has(hash);
    await this.#options.store.write(({ db }) => forgetGlimpses(db, path, isOver));
    return fit;
  }

  /** Resolves when nothing is being read. */
  async settled(): Promise<void> {
    for (const { glimpses } of this.#followed.values()) await glimpses.settled();
  }

  /** Reads no more of this folder. */
  async forget(folder: string): Promise<void> {
    await this.#followed.get(folder)?.events.close();
    this.#followed.delete(folder);
  }

  /** Reads no more of any other folder. */
  async keep(folders: ReadonlySet<string>): Promise<void> {
    for (const folder of [...this.#followed.keys()]) {
      if (!folders.has(folder)) await this.forget(folder);
    }
  }
}
