import { lstat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import type { Log } from "../../../shared/log.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import { forgetGlimpses, keepGlimpse, listGlimpses } from "../../home/kept-glimpses.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FolderEvents, OpenEvents } from "../../watch/watch.ts";
import type { FileContent } from "./file-edit.ts";
import { Glimpses } from "./glimpses.ts";

interface GlimpsesOptions {
  /** Undefined: no event tells of a save. */
  readonly events: OpenEvents | undefined;
  readonly log: Log;
  readonly store: Pick<ReplicaStore<DaemonTables>, "write" | "reader">;
  /** Called when there is a text to take. */
  readonly look: () => void;
}

/** What was seen of a file until a look. */
interface SeenTexts {
  readonly seen: readonly FileContent[];
  /** Hashes of what was taken or written last. */
  readonly known: readonly string[];
  /** Hash of what the look has read; undefined: nothing that is to be taken. */
  readonly read: string | undefined;
  /** Whether a text is to be taken at all. */
  readonly isNeeded: (text: FileContent) => boolean;
}

/** A file that is read at each event. */
interface Followed {
  /** Another one: its folder was replaced, or its link leads elsewhere. */
  readonly sign: string;
  readonly events: FolderEvents;
  readonly glimpses: Glimpses;
}

/**
 * Reads files of whole values whenever an event tells of a save. Two programs of a machine may save
 * between two looks, and the later one has not seen the line of the earlier one: that would be in
 * no file and no history.
 */
export class FileGlimpses {
  readonly #options: GlimpsesOptions;
  readonly #followed = new Map<string, Followed>();

  constructor(options: GlimpsesOptions) {
    this.#options = options;
  }

  /**
   * This file is read at events from here on. What it had, and nobody has taken. `real`: where the
   * file itself is.
   */
  async seen(path: string, real: string = path): Promise<readonly FileContent[]> {
    const { events, log, store } = this.#options;
    if (!events) return [];
    const [folder, file] = [dirname(real), basename(real)];
    const stats = await lstat(folder).catch(() => undefined);
    const sign = stats && `${stats.dev} ${stats.ino} ${real}`;
    const followed = this.#followed.get(path);
    const seen = (await followed?.glimpses.seen()) ?? [];
    if (followed?.sign === sign) return seen;
    await this.#forget(path);
    if (sign === undefined) return seen;
    const glimpses = new Glimpses(folder, (text) => this.#keep(path, text));
    glimpses.restore(seen.length > 0 ? seen : await listGlimpses(store.reader, path));
    const opened = events(folder, {
      heard: (name) => {
        if (name === file) glimpses.glimpse(file);
      },
      failed: (thrown) => log.debug({ folder, reason: messageOf(thrown) }, "no events of a folder"),
      ready: () => undefined,
    });
    this.#followed.set(path, { sign, events: opened, glimpses });
    return await glimpses.seen();
  }

  /** A kill before the next look must not lose it. */
  async #keep(path: string, text: FileContent): Promise<void> {
    const { store, log, look } = this.#options;
    try {
      await store.write(({ db }) => keepGlimpse(db, path, text));
    } catch (thrown) {
      log.warn({ path, reason: messageOf(thrown) }, "what a file had was not kept");
    }
    look();
  }

  /**
   * Those texts that nobody has taken, written or read since, oldest first. All of them are
   * forgotten; the home keeps them until `forgetGlimpses`.
   */
  async missed(
    path: string,
    { seen, known, read, isNeeded }: SeenTexts,
  ): Promise<readonly FileContent[]> {
    const followed = this.#followed.get(path);
    if (!followed) return [];
    const { glimpses } = followed;
    for (const hash of known) glimpses.markKnown(hash);
    const missed = glimpses.dropKnown(seen);
    glimpses.forget(seen);
    const needed = missed.filter(isNeeded);
    const { store } = this.#options;
    const open = new Set([...needed.map(({ hash }) => hash), ...glimpses.waiting, read]);
    const isOver = (hash: string) => !open.has(hash);
    const kept = await listGlimpses(store.reader, path);
    if (kept.some(({ hash }) => isOver(hash))) {
      await store.write(({ db }) => forgetGlimpses(db, path, isOver));
    }
    return needed;
  }

  /** A text was taken. Whoever reads it still, as of an event before that, has read no new save. */
  markTaken(path: string, hash: string): void {
    this.#followed.get(path)?.glimpses.markKnown(hash);
  }

  /** Resolves when nothing is being read. */
  async settled(): Promise<void> {
    for (const { glimpses } of this.#followed.values()) await glimpses.settled();
  }

  /** Reads no more of any other file. */
  async keep(isKept: (path: string) => boolean): Promise<void> {
    for (const path of [...this.#followed.keys()]) if (!isKept(path)) await this.#forget(path);
  }

  async #forget(path: string): Promise<void> {
    await this.#followed.get(path)?.events.close();
    this.#followed.delete(path);
  }
}
