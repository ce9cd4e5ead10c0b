import { lstat, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { joinForm } from "../../shared/replica/text-form.ts";
import type { FileContent } from "./file-edit.ts";
import type { FileState } from "./file-state.ts";
import type { FollowedState } from "./follow-store.ts";
import { readBytes, readFileAt } from "./read-file.ts";
import { isTemporaryOf } from "./write-file.ts";

/** A write of a folder's followed file that a crash has ended, and what it left. */
export interface BegunWrite {
  readonly dir: string;
  readonly known: FollowedState;
  /** What was to be written. */
  readonly next: FileState;
  /** Takes a save that was made from `base`. */
  readonly takeLate: (base: FileState, file: FileContent) => Promise<unknown>;
}

/**
 * Removes the temporary files of a write that a crash has ended. They hold what was to be written,
 * or its beginning; or, where the names were swapped already, what the file was known to hold. Any
 * other text somebody saved in that last moment: it is taken first. What is no text stays.
 */
export async function clearBegunWrite(write: BegunWrite): Promise<void> {
  const { dir, known, next, takeLate } = write;
  const intended = joinForm(next.base.text, next.form);
  const folder = dirname(join(dir, known.path));
  for (const name of await temporariesOf(folder, basename(known.path))) {
    const path = join(folder, name);
    const left = await readFileAt(folder, name);
    if (left.kind !== "text") {
      if (!(await isCutOff(path, Buffer.from(intended)))) continue;
    } else if (left.hash !== known.hash && !intended.startsWith(left.content)) {
      await takeLate(known, left);
    }
    await rm(path, { force: true });
  }
}

async function temporariesOf(folder: string, name: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((each) => isTemporaryOf(name, each));
}

/** Whether a file begins as `intended` and ends within a character of it. */
async function isCutOff(path: string, intended: Buffer): Promise<boolean> {
  const size = await lstat(path).then(
    (stats) => stats.size,
    () => Number.POSITIVE_INFINITY,
  );
  if (size > intended.length) return false;
  const bytes = await readBytes(path).catch(() => undefined);
  return bytes !== undefined && intended.subarray(0, bytes.length).equals(bytes);
}
