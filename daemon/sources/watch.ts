import { basename, dirname, join } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Timer, World } from "../../shared/world.ts";
import { FOLLOWED_PATHS } from "./read-file.ts";

/** What git changes last when another branch is checked out. */
const GIT_HEAD = "HEAD";

/** The system may tell of a change before it is there: so a second look is made. */
const ECHO_MS = 100;

/** The file or folder that a raw event is from; the event's name is below a folder. */
interface RawDetails {
  readonly watchedPath?: string;
}

export interface FolderWatch {
  close(): Promise<void>;
}

/**
 * Calls back whenever a folder's followed file may have changed, or another branch was checked out
 * in its working tree, whose git folder is `gitDir`.
 */
export type WatchFolder = (
  dir: string,
  gitDir: string | undefined,
  world: World,
  log: Log,
  changed: () => void,
) => FolderWatch;

/** Watches the few folders that matter, never a tree. */
export const watchFolder: WatchFolder = (dir, gitDir, world, log, changed) => {
  const files = new Set(FOLLOWED_PATHS.map((path) => join(dir, path)));
  if (gitDir !== undefined) files.add(join(gitDir, GIT_HEAD));
  const folders = new Set([...files].map((file) => dirname(file)));
  const watcher: FSWatcher = watch([...folders], {
    depth: 0,
    ignoreInitial: true,
    ignored: (path) => !folders.has(path) && !files.has(path) && !isParentOf(path, folders),
  });
  let echo: Timer | undefined;
  const heard = () => {
    changed();
    echo?.cancel();
    echo = world.setTimer(ECHO_MS, changed);
  };
  watcher.on("all", (_event, path) => {
    if (files.has(path) || folders.has(path)) heard();
  });
  // What the system told: of two saves within 50 ms chokidar passes on the first alone.
  watcher.on("raw", (_event, name: string | null, details) => {
    const { watchedPath } = details as RawDetails;
    if (watchedPath === undefined) return;
    if (files.has(watchedPath) || files.has(join(watchedPath, name ?? ""))) heard();
  });
  watcher.on("error", (thrown) => {
    log.error({ folder: basename(dir), reason: messageOf(thrown) }, "watching failed");
  });
  return {
    async close() {
      await watcher.close();
      echo?.cancel();
    },
  };
};

function isParentOf(path: string, folders: ReadonlySet<string>): boolean {
  for (const folder of folders) if (folder.startsWith(`${path}/`)) return true;
  return false;
}
