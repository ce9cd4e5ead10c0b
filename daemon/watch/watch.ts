import { watch } from "chokidar";

/** A subscription to one folder's events. */
export interface FolderEvents {
  close(): Promise<void>;
}

/** Receives the events of one folder. */
export interface FolderListener {
  /**
   * Called with the name that something happened to, inside the folder or the folder's own, and
   * with whether the name itself came or went. After its own name came or went, as after an
   * unmount, no further event follows.
   */
  readonly heard: (name: string, cameOrWent: boolean) => void;
  /** May be called often. */
  readonly failed: (thrown: unknown) => void;
  /** Events from before this call may or may not be reported. */
  readonly ready: () => void;
}

/** Subscribes to one existing folder, without its sub-folders. */
export type OpenEvents = (folder: string, listener: FolderListener) => FolderEvents;

/**
 * Uses one system watch, on the folder itself. It reports its files, too. Of two saves within 50 ms
 * chokidar passes on only the first, but each as a raw event, so raw events are used.
 */
export const openEvents: OpenEvents = (folder, { heard, failed, ready }) => {
  const watcher = watch(folder, {
    depth: 0,
    ignoreInitial: true,
    ignored: (path) => path !== folder,
  });
  watcher.on("raw", (event, name: string | null) => heard(name ?? "", event === "rename"));
  watcher.on("error", failed);
  watcher.on("ready", ready);
  return { close: () => watcher.close() };
};
