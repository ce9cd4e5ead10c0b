import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { FileContent } from "./file-edit.ts";
import type { FileState, FollowedState } from "./follow-store.ts";
import { type FileRead, readFileAt } from "./read-file.ts";
import { isTemporaryOf } from "./write-file.ts";

/** What the file at the followed path is now, and who takes a save that lost its name. */
export interface BegunWrite {
  readonly dir: string;
  readonly known: FollowedState;
  readonly found: FileRead;
  readonly takeLate: (base: FileState, file: FileContent) => Promise<unknown>;
}

/**
 * Removes the temporary files that a write left which a crash has ended. Before the names were
 * swapped they hold what was to be written, or a part of it; after it, what the file held before:
 * where that is not what it was known to hold, somebody saved it in the last moment, and it is
 * taken first. What could be either stays.
 */
export async function clearBegunWrite({ dir, known, found, takeLate }: BegunWrite): Promise<void> {
  const { path, next } = known;
  const folder = dirname(join(dir, path));
  const stands = found.kind === "text" && found.path === path ? found.hash : undefined;
  for (const name of await temporariesOf(folder, basename(path))) {
    const left = await readFileAt(folder, name);
    const isOurs = left.kind === "text" && [known.hash, next?.hash].includes(left.hash);
    const wasNeverSwapped = stands === known.hash;
    if (!isOurs && !wasNeverSwapped) {
      if (stands !== next?.hash || left.kind !== "text") continue;
      await takeLate(known, left);
    }
    await rm(join(folder, name), { force: true });
  }
}

async function temporariesOf(folder: string, name: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((each) => isTemporaryOf(name, each));
}
