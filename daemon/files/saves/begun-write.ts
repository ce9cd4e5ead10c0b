import { lstat, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { loadHoldAlone } from "../../disk/hold-alone.ts";
import { ABSENT_HASH, hashOf, readBytes, readFileAt } from "../../disk/read-file.ts";
import { isJournalOf, isTemporaryOf } from "../../disk/temporary-name.ts";
import { openToWrite, overwriteDurably } from "../../disk/write-in-place.ts";
import { type FileState, fileText } from "../lines/file-state.ts";
import { isMixOf } from "../lines/mixed-file.ts";
import type { FileContent } from "../state/file-edit.ts";
import type { BegunState } from "../state/follow-store.ts";

/** A write into a file that a crash interrupted, and what it left. */
export interface BegunWrite {
  readonly path: string;
  /** What the file had before. */
  readonly former: string;
  /** What the write was to leave. */
  readonly intended: string;
  /** Takes a save that was made from the former text. */
  readonly takeLate: (file: FileContent) => Promise<unknown>;
}

/** The write that would have led from one state of a file to another. */
export function begunIn(
  folder: string,
  known: FileState & { readonly path: string },
  to: FileState,
) {
  return { path: join(folder, known.path), former: fileText(known), intended: fileText(to) };
}

/** A mix is from a crash only if its journal was made at most this long before or after it. */
const MIX_AGE_MS_MAX = 10_000;

/**
 * Finishes a write in place that a crash interrupted. Has to run before the file is read as a save:
 * a mix of the old text and the new is nobody's save. True: the file was a mix and has to be read
 * again.
 */
export async function finishBegunWrite(write: Omit<BegunWrite, "takeLate">): Promise<boolean> {
  const { path } = write;
  const intended = Buffer.from(write.intended);
  const madeAt = await findJournal(path, intended);
  if (madeAt === undefined) return false;
  const handle = await openToWrite(path);
  if (!handle) return false;
  try {
    const [stats, bytes] = [await handle.stat(), await handle.readFile()];
    // The text may not be on the disk yet, and the journal is about to go.
    if (bytes.equals(intended)) await handle.sync();
    const former = Buffer.from(write.former);
    if (!isMixOf(bytes, former, intended)) return false;
    if (Math.abs(stats.mtimeMs - madeAt) > MIX_AGE_MS_MAX) return false;
    await overwriteDurably(handle, path, {
      content: intended,
      expectedHash: hashOf(bytes),
      holdAlone: await loadHoldAlone(),
    });
    return true;
  } finally {
    await handle.close();
  }
}

/**
 * Whether a write was made, or may have been. Where somebody has saved since, nobody can say
 * whether a process that was killed got that far, unless the former text is untouched. Then the
 * save is in doubt, as one that is made right after a write. `isUnsure`: that may have happened.
 */
export function mayBeWritten(
  former: FileState,
  next: BegunState,
  { file, isUnsure }: { readonly file: FileContent; readonly isUnsure: boolean },
): boolean {
  if (next.hash === file.hash) return true;
  if (!isUnsure || file.hash === ABSENT_HASH) return false;
  if (file.hash !== former.hash) return true;
  const { overSavedAt } = next;
  return overSavedAt !== undefined && Math.floor(overSavedAt) !== Math.floor(file.savedAt);
}

/** When the journal of a write of `intended` was made, in milliseconds since the Unix epoch. */
async function findJournal(path: string, intended: Buffer): Promise<number | undefined> {
  const folder = dirname(path);
  for (const name of await temporariesOf(folder, basename(path))) {
    if (!isJournalOf(basename(path), name)) continue;
    const bytes = await readBytes(join(folder, name)).catch(() => undefined);
    if (bytes?.equals(intended)) return (await lstat(join(folder, name))).mtimeMs;
  }
  return undefined;
}

/**
 * Removes the temporary files of a write that a crash interrupted. They hold the new text or its
 * beginning; or, if the names were exchanged already, the text that the file had. Any other text
 * was saved by somebody in that last moment and is taken first. A file that is no text stays.
 */
export async function clearBegunWrite(write: BegunWrite): Promise<void> {
  const { former, intended, takeLate } = write;
  const folder = dirname(write.path);
  for (const name of await temporariesOf(folder, basename(write.path))) {
    const path = join(folder, name);
    const left = await readFileAt(folder, name);
    if (left.kind !== "text") {
      if (!(await isCutOff(path, Buffer.from(intended)))) continue;
    } else if (left.content !== former && !intended.startsWith(left.content)) {
      await takeLate(left);
    }
    await rm(path, { force: true });
  }
}

async function temporariesOf(folder: string, name: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((each) => isTemporaryOf(name, each));
}

/** Whether a file holds `intended` or only its beginning. */
async function isCutOff(path: string, intended: Buffer): Promise<boolean> {
  const size = await lstat(path).then(
    (stats) => stats.size,
    () => Number.POSITIVE_INFINITY,
  );
  if (size > intended.length) return false;
  const bytes = await readBytes(path).catch(() => undefined);
  return bytes !== undefined && intended.subarray(0, bytes.length).equals(bytes);
}
