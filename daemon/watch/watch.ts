import { watch } from "chokidar";

/** What the system tells of one folder. */
export interface FolderEvents {
  close(): Promise<void>;
}

/** Who is told of one folder. */
export interface FolderListener {
  /**
   * Given the name inside the folder that something happened to, or the folder's own name, and
   * whether the name itself came or went: of the folder's own that is the last that is heard, also
   * when its file system is unmounted.
   */
  readonly heard: (name: string, cameOrWent: boolean) => void;
  /** May be called often. */
  readonly failed: (thrown: unknown) => void;
  /** What happened before this may be told of or not. */
  readonly ready: () => void;
}

/** Listens to one existing folder, without what lies below it. */
export type OpenEvents = (folder: string, listener: FolderListener) => FolderEvents;

/**
 * One watch of the system's: the folder's own. Its files need none, for what happens to them is
 * told of the folder, too, and of two saves within 50 ms chokidar passes on the first alone, but
 * each as a raw event.
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
