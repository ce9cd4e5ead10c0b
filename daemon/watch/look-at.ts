import { type BigIntStats, lstatSync } from "node:fs";
import { lstat } from "node:fs/promises";

/** What is at a path, a link for itself; undefined: nothing, or nothing that one may look at. */
export type Seen = BigIntStats | undefined;

/** Looks at paths of any disk. Each is looked at by another thread, which has to wake up for it. */
export function lookAt(paths: readonly string[]): Promise<Seen[]> {
  return Promise.all(paths.map((path) => lstat(path, { bigint: true }).catch(() => undefined)));
}

/**
 * Looks at paths of a disk of this machine. This takes some microseconds for each, less than
 * another thread takes to wake up. On other disks it could stop the whole daemon.
 */
export function lookAtNear(paths: readonly string[]): Seen[] {
  return paths.map((path) => {
    try {
      return lstatSync(path, { bigint: true, throwIfNoEntry: false });
    } catch {
      return undefined;
    }
  });
}
