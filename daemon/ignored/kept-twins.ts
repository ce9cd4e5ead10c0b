import { lstatSync, type Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join, sep } from "node:path";
import type { Ignored, WhyIgnored } from "./ignore-file.ts";

/** Why a file stays on this machine, by its absolute path; undefined: it may leave. */
export type WhyTwin = (path: string) => WhyIgnored | undefined;

/**
 * Finds the files of a folder that stay on this machine and have a second name, as a hard link
 * gives it. Who keeps a file here means its text, by whatever name that is read. `isDeep`: those
 * below it, too, as in a folder of memories; of a project that would be all its files.
 */
export async function readKeptTwins(
  dir: string,
  { why, isDeep = false }: Pick<Ignored, "why"> & { readonly isDeep?: boolean },
): Promise<WhyTwin> {
  const kept = new Map<string, WhyIgnored>();
  for (const name of await readdir(dir, { recursive: isDeep }).catch(() => [])) {
    const reason = why(sep === "/" ? name : name.replaceAll(sep, "/"));
    const stats = reason && (await lstat(join(dir, name)).catch(() => undefined));
    if (stats && hasTwin(stats)) kept.set(identityOf(stats), reason);
  }
  return (path) => {
    const stats = kept.size > 0 ? statsOf(path) : undefined;
    return stats && kept.get(identityOf(stats));
  };
}

/** The same for one file, by its path from the folder. Most have one name, and cost no search. */
export async function whyKeptTwin(
  dir: string,
  path: string,
  ignored: Pick<Ignored, "why">,
): Promise<WhyIgnored | undefined> {
  const stats = statsOf(join(dir, path));
  if (!stats || !hasTwin(stats)) return undefined;
  return (await readKeptTwins(dir, ignored))(join(dir, path));
}

function hasTwin(stats: Stats): boolean {
  return stats.isFile() && stats.nlink > 1;
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev} ${ino}`;
}

/** Undefined, too, for what can't be looked at: it can't be read either. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
