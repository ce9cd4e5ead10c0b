import { lstat } from "node:fs/promises";
import { messageOf } from "../../../shared/errors.ts";
import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import type { Log } from "../../../shared/log.ts";
import type { FileContent } from "../../files/file-edit.ts";
import { Glimpses } from "../../files/glimpses.ts";
import type { MemoryFile } from "../../home/memory-files.ts";
import type { FolderEvents, OpenEvents } from "../../watch/watch.ts";

interface GlimpsesOptions {
  /** Undefined: no event tells of a save. */
  readonly events: OpenEvents | undefined;
  readonly log: Log;
}

/** An index that is read at each event. */
interface Followed {
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

  /** The index of this folder is read at events from here on. What it had since the last call. */
  async seen(folder: string, index: string): Promise<readonly FileContent[]> {
    const { events, log } = this.#options;
    if (!events) return [];
    const stats = await lstat(folder).catch(() => undefined);
    const sign = stats && `${stats.dev} ${stats.ino}`;
    const followed = this.#followed.get(folder);
    const seen = (await followed?.glimpses.seen()) ?? [];
    if (followed?.sign === sign) return seen;
    await this.forget(folder);
    if (sign === undefined) return seen;
    const glimpses = new Glimpses(folder);
    const opened = events(folder, {
      heard: (name) => {
        if (name === index) glimpses.glimpse(index);
      },
      failed: (thrown) => log.debug({ folder, reason: messageOf(thrown) }, "no events of a folder"),
      ready: () => undefined,
    });
    this.#followed.set(folder, { sign, events: opened, glimpses });
    return seen;
  }

  /**
   * Those texts that nobody has taken, written or read since, oldest first. All of them are
   * forgotten.
   */
  missed(
    folder: string,
    seen: readonly FileContent[],
    known: MemoryFile | undefined,
  ): readonly FileContent[] {
    const glimpses = this.#followed.get(folder)?.glimpses;
    if (!glimpses) return [];
    for (const each of [known, known?.next]) if (each) glimpses.markKnown(each.hash);
    const missed = glimpses.dropKnown(seen);
    glimpses.forget(seen);
    return missed.filter(({ content }) => !exceedsBytes(content, LIMITS.memoryValueBytes));
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
