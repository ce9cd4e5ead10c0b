import {
  closeSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
} from "node:fs";
import { type FileHandle, mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { NotKept } from "../../shared/reasons.ts";
import type { World } from "../../shared/world.ts";
import { flushFolder } from "./flush-folder.ts";
import { ABSENT_HASH, hashOf, isMissing, openFile, READ_FLAGS } from "./read-file.ts";
import { loadSwapNames, type SwapNames } from "./swap-names.ts";
import { newTemporary } from "./temporary-name.ts";
import { writeTwin } from "./twin-file.ts";
import { writeInPlace } from "./write-in-place.ts";

/** `changed`: someone saved the file meanwhile, and it is left as they did. */
export type WriteOutcome =
  | { readonly kind: "changed" }
  | {
      readonly kind: "written";
      /**
       * The file that had the name before, open for reading; the caller's to close. What a program
       * that had opened it still writes, or saved in the last microseconds, is in there alone.
       */
      readonly replaced: FileHandle | undefined;
      /** What the file had and has no longer, as the system would have it. */
      readonly notKept: readonly NotKept[];
    };

export interface ReplaceOptions {
  /** SHA-256 of the bytes that are replaced, in hex, or `ABSENT_HASH`. */
  readonly expectedHash: string;
  readonly world: World;
  /** Asked when all is ready; false: it is not to be done any more. */
  readonly isDue?: (() => Promise<boolean>) | undefined;
  /** Folders that are missing below this one are made; this one never is. */
  readonly within?: string;
}

/**
 * Replaces a file by `content` if it still has the expected hash: a temporary file beside it,
 * flushed to the disk, takes its name, and its owner, mode and attributes. A file that can't be
 * replaced by its twin, as one that has further names, is written in its place if that is
 * permitted. Once written it survives a crash.
 */
export async function replaceFile(
  path: string,
  content: string,
  options: ReplaceOptions,
): Promise<WriteOutcome> {
  const { expectedHash, world, isDue, within } = options;
  const temporary = newTemporary(path, world);
  try {
    if (within !== undefined) await makeFolders(dirname(path), within);
    const notKept = await writeTwinOf(path, temporary, content);
    if (isDue && !(await isDue())) return { kind: "changed" };
    if (notKept.length === 0) return await putInPlace(temporary, path, { expectedHash, notKept });
    const step = await writeInPlace(path, content, { expectedHash, whole: temporary });
    if (step === "refused") return await putInPlace(temporary, path, { expectedHash, notKept });
    if (step === "changed") return { kind: "changed" };
    return { kind: "written", replaced: undefined, notKept: [] };
  } catch (thrown) {
    // The folder is gone. To make it anew would be in the way of whoever removes it.
    if (isMissing(thrown)) return { kind: "changed" };
    throw thrown;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function makeFolders(folder: string, within: string): Promise<void> {
  if (folder === within || !folder.startsWith(within)) return;
  await makeFolders(dirname(folder), within);
  await mkdir(folder).catch((thrown) => {
    if (!isThere(thrown)) throw thrown;
  });
}

function isThere(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";
}

async function writeTwinOf(path: string, twin: string, content: string) {
  const original = await openIfPossible(path);
  try {
    return await writeTwin(twin, content, original);
  } finally {
    await original?.close();
  }
}

async function putInPlace(
  temporary: string,
  path: string,
  {
    expectedHash,
    notKept,
  }: { readonly expectedHash: string; readonly notKept: readonly NotKept[] },
): Promise<WriteOutcome> {
  const swapNames = await loadSwapNames();
  const before = await openIfPossible(path);
  let replaced: FileHandle | undefined;
  try {
    const step = takeName(temporary, path, { expectedHash, before, swapNames });
    if (step === "changed") return { kind: "changed" };
    await flushFolder(dirname(path));
    replaced = step === "another" ? await openIfPossible(temporary) : before;
    return { kind: "written", replaced, notKept };
  } finally {
    if (before !== replaced) await before?.close();
  }
}

/**
 * Gives `temporary` the name `path`, unless the file there has changed. Nothing of this process
 * comes between the look and the step, but another's save may. `another`: it did, and has the
 * temporary name now. Only where the system can't swap names it would be lost.
 */
function takeName(
  temporary: string,
  path: string,
  {
    expectedHash,
    before,
    swapNames,
  }: {
    readonly expectedHash: string;
    readonly before: FileHandle | undefined;
    readonly swapNames: SwapNames;
  },
): "changed" | "taken" | "another" {
  if (hashAt(path) !== expectedHash) return "changed";
  if (expectedHash === ABSENT_HASH) return linkOrRename(temporary, path);
  if (!swapNames(temporary, path)) {
    if (hashAt(path) !== expectedHash) return "changed";
    renameSync(temporary, path);
    return "taken";
  }
  const replaced = lstatSync(temporary);
  if (!replaced.isFile()) {
    swapNames(temporary, path);
    return "changed";
  }
  if (!before || fstatSync(before.fd).ino !== replaced.ino) return "another";
  // At once, for git must not see it.
  unlinkSync(temporary);
  return "taken";
}

/** A link never replaces a file; not every file system has them. */
function linkOrRename(temporary: string, path: string): "changed" | "taken" {
  try {
    linkSync(temporary, path);
    unlinkSync(temporary);
  } catch (thrown) {
    if (isThere(thrown)) return "changed";
    renameSync(temporary, path);
  }
  return "taken";
}

function hashAt(path: string): string {
  try {
    if (!lstatSync(path).isFile()) return NOT_A_FILE;
    const descriptor = openSync(path, READ_FLAGS);
    try {
      return fstatSync(descriptor).isFile() ? hashOf(readFileSync(descriptor)) : NOT_A_FILE;
    } finally {
      closeSync(descriptor);
    }
  } catch (thrown) {
    if (isMissing(thrown)) return ABSENT_HASH;
    throw thrown;
  }
}

/** Stands for the hash of what is none; no hash is the same. */
const NOT_A_FILE = "not a file";

async function openIfPossible(path: string): Promise<FileHandle | undefined> {
  return await openFile(path).catch(() => undefined);
}
