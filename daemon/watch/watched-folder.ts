import type { BigIntStats } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Log } from "../../shared/log.ts";
import type { Timer, World } from "../../shared/world.ts";
import {
  ALSO_NAMES,
  FOLLOWED_NAMES,
  IGNORE_NAME,
  listFollowable,
} from "../disk/followable-files.ts";
import { lookAt, lookAtNear, type Seen } from "./look-at.ts";
import { POLL_MS } from "./poll-interval.ts";
import { type FolderEvents, type OpenEvents, openEvents } from "./watch.ts";
import {
  examineDisk,
  type Polled,
  type ReadType,
  readType,
  watchTrouble,
} from "./watch-trouble.ts";

/**
 * The system may report a change before it can be read, so a second look follows after this time.
 */
const ECHO_MS = 100;

/**
 * One git command changes its folder many times. The look comes this long after the last change.
 */
const GIT_ECHO_MS = 300;

/** A watched folder is checked this often, for lost events and for a folder that was replaced. */
export const SECOND_GLANCE_MS = 60_000;

/** What git changes last at a checkout, in both formats of its refs. */
const GIT_HEADS: ReadonlySet<string> = new Set(["HEAD", "tables.list"]);

/**
 * Names in git's folder that change when an operation begins or ends, or a file becomes tracked.
 */
const GIT_MARKS: ReadonlySet<string> = new Set([
  "index",
  "MERGE_HEAD",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "BISECT_LOG",
  "rebase-merge",
  "rebase-apply",
  "sequencer",
]);
const GIT_CONFIG = "config";

/** What the folder's own `.memsyncignore` says counts at once. */
const WATCHED_NAMES = [...new Set([...FOLLOWED_NAMES, ...ALSO_NAMES, IGNORE_NAME])];
const FILE_NAMES: ReadonlySet<string> = new Set(WATCHED_NAMES.map((path) => basename(path)));
const SUB_FOLDERS = [...new Set(WATCHED_NAMES.map((path) => dirname(path)))].filter(
  (path) => path !== ".",
);
const FOLDER_NAMES: ReadonlySet<string> = new Set([...SUB_FOLDERS, ".git"]);

/** `repository`: git's configuration changed, and perhaps the project with it. */
export type Change = "file" | "repository";

export interface FolderWatch {
  /** Changes made after this resolves are reported. */
  readonly begun?: Promise<void> | undefined;
  close(): Promise<void>;
  /** Set while the folder is polled and not watched. */
  readonly polled?: Polled | undefined;
}

/**
 * Calls back whenever a folder's followed file may have changed, the folder came, went or was
 * replaced, or another branch was checked out in its working tree; `gitDir` is that tree's git
 * folder.
 *
 * ```
 * const watch = watchFolder({ dir, gitDir, world, log, changed: () => file.look() });
 * await watch.begun;
 * ```
 */
export type WatchFolder = (asked: AskedWatch) => FolderWatch;

/** What to watch, and who is told. */
export interface AskedWatch {
  readonly dir: string;
  readonly gitDir: string | undefined;
  readonly world: World;
  readonly log: Log;
  readonly changed: (change?: Change) => void;
}

/** Replacements for the system's functions, in tests. */
export interface WatchSeams {
  readonly open: OpenEvents;
  readonly readType: ReadType;
}

const REAL: WatchSeams = { open: openEvents, readType };

/** Watches the few folders that matter, never a whole tree. */
export const watchFolder: WatchFolder = createWatchFolder(REAL);

export function createWatchFolder(seams: WatchSeams): WatchFolder {
  return (asked) => {
    const watched = new WatchedFolder({ ...asked, ...seams });
    watched.begin();
    return watched;
  };
}

interface WatchedFolderOptions extends AskedWatch, WatchSeams {}

interface OpenFolder {
  /** The identity of the folder that events come from. Another one may be at its path now. */
  readonly place: string;
  readonly events: FolderEvents;
}

/**
 * A folder's events, and behind them a cheap check of its few files: every few seconds where there
 * are no events, else once a minute.
 */
class WatchedFolder implements FolderWatch {
  readonly #options: WatchedFolderOptions;
  readonly #open = new Map<string, OpenFolder>();
  /** Where symbolic links at the followed paths lead, inside of the folder. */
  #targets: readonly string[] = [];
  #polled: Polled | undefined;
  #isNear = false;
  #work: Promise<void> = Promise.resolve();
  #begun: Promise<void> = this.#work;
  #seen: string | undefined;
  #missing = false;
  #glance: Timer | undefined;
  #echo: Timer | undefined;
  #closed = false;

  constructor(options: WatchedFolderOptions) {
    this.#options = options;
  }

  get polled(): Polled | undefined {
    return this.#polled;
  }

  get begun(): Promise<void> {
    return this.#begun;
  }

  /** A change before the events start is found by a check when they do. */
  begin(): void {
    this.#inTurn(async () => {
      this.#seen = await this.#signature();
    });
    this.#begun = this.#work;
    this.#inTurn(async () => {
      const { dir, readType } = this.#options;
      const { trouble, isNear } = await examineDisk(dir, readType);
      this.#polled = trouble;
      this.#isNear = isNear;
      await this.#openFolders();
      this.#scheduleGlance();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#glance?.cancel();
    this.#echo?.cancel();
    await this.#work;
    await this.#closeFolders();
  }

  #inTurn(step: () => Promise<void>): void {
    this.#work = this.#work.then(() => (this.#closed ? undefined : step()));
  }

  #folders(): string[] {
    const { dir, gitDir } = this.#options;
    const below = SUB_FOLDERS.map((path) => join(dir, path));
    const led = this.#targets.map((path) => dirname(path));
    const git = gitDir === undefined ? [] : [gitDir, join(gitDir, "reftable")];
    return [...new Set([dir, ...below, ...led, ...git])];
  }

  /** Subscribes to the folders that are at these paths now, and to no others. */
  async #openFolders(): Promise<void> {
    const folders = this.#folders();
    for (const folder of [...this.#open.keys()]) {
      if (!folders.includes(folder)) await this.#closeFolder(folder);
    }
    for (const folder of folders) {
      const real = await realpath(folder).catch(() => undefined);
      const [stats] = real === undefined ? [] : await this.#lookAt([real]);
      const isFolder = stats?.isDirectory() ?? false;
      if (folder === this.#options.dir) this.#missing = !isFolder;
      const open = this.#open.get(folder);
      if (open && (!isFolder || open.place !== placeOf(stats))) await this.#closeFolder(folder);
      if (!isFolder || !stats || !real || this.#polled || this.#open.has(folder)) continue;
      this.#open.set(folder, { place: placeOf(stats), events: this.#listen(folder, real) });
    }
  }

  async #closeFolder(folder: string): Promise<void> {
    const open = this.#open.get(folder);
    this.#open.delete(folder);
    await open?.events.close();
  }

  async #closeFolders(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map(({ events }) => events.close()));
  }

  #listen(folder: string, real: string): FolderEvents {
    return this.#options.open(real, {
      heard: (name, cameOrWent) => this.#heard(folder, real, { name, cameOrWent }),
      failed: (thrown) => this.#failed(thrown),
      ready: () => this.#look(false),
    });
  }

  #heard(
    folder: string,
    real: string,
    { name, cameOrWent }: { readonly name: string; readonly cameOrWent: boolean },
  ): void {
    if (this.#closed) return;
    const { dir, gitDir, changed } = this.#options;
    // The same folder may be back at the path, as after a mount; this subscription is over anyway.
    if (name === basename(real) && cameOrWent) this.#inTurn(() => this.#closeFolder(folder));
    if (name === basename(real) || (folder === dir && FOLDER_NAMES.has(name))) this.#look(true);
    // `.github` begins as `.git` does, and is none of git's.
    if (gitDir !== undefined && (folder === gitDir || folder.startsWith(`${gitDir}/`))) {
      if (GIT_HEADS.has(name)) this.#tell();
      else if (GIT_MARKS.has(name)) this.#echoAfter(GIT_ECHO_MS);
      else if (name === GIT_CONFIG) changed("repository");
    } else if (FILE_NAMES.has(name)) {
      this.#tell();
      // It may be a symbolic link now, or lead elsewhere.
      this.#inTurn(async () => {
        if (await this.#findTargets()) await this.#openFolders();
      });
    } else if (this.#targets.includes(join(real, name))) {
      this.#tell();
    }
  }

  #tell(): void {
    this.#options.changed();
    this.#echoAfter(ECHO_MS);
  }

  #echoAfter(delayMs: number): void {
    this.#echo?.cancel();
    this.#echo = this.#options.world.setTimer(delayMs, () => this.#options.changed());
  }

  /** When the system has no more watches, hundreds of failures come. The first one counts. */
  #failed(thrown: unknown): void {
    const trouble = watchTrouble(thrown);
    if (this.#closed || this.#polled || !trouble) return;
    this.#polled = trouble;
    const { dir, log } = this.#options;
    log.warn({ folder: basename(dir), reason: trouble.why }, "a folder is polled from now on");
    this.#inTurn(() => this.#closeFolders());
    this.#look(true);
  }

  /** A check that finds no change looks at the folder, at git's, and at each name. */
  #look(isSurelyNew: boolean): void {
    this.#inTurn(async () => {
      const seen = await this.#signature();
      const isNew = seen !== this.#seen;
      this.#seen = seen;
      if (isNew || isSurelyNew) await this.#openFolders();
      if (isNew) this.#options.changed();
      this.#scheduleGlance();
    });
  }

  #scheduleGlance(): void {
    const { world } = this.#options;
    const everyMs = this.#polled || this.#missing ? POLL_MS : SECOND_GLANCE_MS;
    // All folders are checked at the same moments, so that the processor wakes up once.
    const delayMs = Math.ceil(everyMs - (world.monotonic() % everyMs));
    this.#glance?.cancel();
    if (!this.#closed) this.#glance = world.setTimer(delayMs, () => this.#look(false));
  }

  /** Resolves symbolic links. True: one leads elsewhere than before. */
  async #findTargets(): Promise<boolean> {
    const { dir } = this.#options;
    const paths = FOLLOWED_NAMES.map((path) => join(dir, path));
    return await this.#follow(await this.#lookAt(paths));
  }

  /** The same for what has been seen at the followed paths, the first of `seen`. */
  async #follow(seen: readonly Seen[]): Promise<boolean> {
    const { dir } = this.#options;
    const atPaths = seen.slice(0, FOLLOWED_NAMES.length);
    const isLed = atPaths.some((each) => each?.isSymbolicLink() === true);
    const found = isLed ? await listFollowable(dir) : [];
    const led = found.filter(({ name, path }) => name !== path);
    const before = this.#targets;
    this.#targets = led.map(({ path }) => join(dir, path));
    return this.#targets.join() !== before.join();
  }

  /** A text that changes with every relevant change. A change by git shows in its folder's time. */
  async #signature(): Promise<string> {
    const { dir, gitDir } = this.#options;
    const names = WATCHED_NAMES.map((path) => join(dir, path));
    const atNames = await this.#lookAt(names);
    await this.#follow(atNames);
    const others = [...this.#targets, ...(gitDir ? [gitDir] : [])];
    const [folder, ...atOthers] = await this.#lookAt([dir, ...others]);
    const parts = [...atNames, ...atOthers].map(
      (stats) => stats && [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs],
    );
    return [placeOf(folder), ...parts].join(" ");
  }

  async #lookAt(paths: readonly string[]): Promise<Seen[]> {
    return this.#isNear ? lookAtNear(paths) : await lookAt(paths);
  }
}

/**
 * A folder's identity. The inode alone is not enough: the root of every file system has the same.
 */
function placeOf(stats: BigIntStats | undefined): string {
  return stats === undefined ? "" : [stats.dev, stats.ino, stats.birthtimeNs].join(" ");
}
