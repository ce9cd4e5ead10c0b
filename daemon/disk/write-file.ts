// Writes a user's file without losing what anybody saves into it meanwhile.
// Whatever writes such a file stands on this folder.

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
import { atPath } from "../../shared/file-failures.ts";
import type { NotKept } from "../../shared/reasons.ts";
import type { World } from "../../shared/world.ts";
import { flushFolder } from "./flush-folder.ts";
import { ABSENT_HASH, hashOf, isMissing, openFile, READ_FLAGS } from "./read-file.ts";
import { loadSwapNames, type SwapNames } from "./swap-names.ts";
import { newTemporary } from "./temporary-name.ts";
import { writeTwin } from "./twin-file.ts";
import { writeInPlace } from "./write-in-place.ts";

/** `changed`: somebody saved the file meanwhile. Their text is left as it is. */
export type WriteOutcome =
  | { readonly kind: "changed" }
  | {
      readonly kind: "written";
      /**
       * The file that had the name before, open for reading; the caller closes it. A program that
       * still has it open may write on into it, and a save of the last microseconds may be only
       * there.
       */
      readonly replaced: FileHandle | undefined;
      /** Attributes that the file lost. */
      readonly notKept: readonly NotKept[];
    };

export interface ReplaceOptions {
  /** SHA-256 of the bytes that are replaced, in hex, or `ABSENT_HASH`. */
  readonly expectedHash: string;
  readonly world: World;
  /** Called when everything is ready. False: the write must not be made any more. */
  readonly isDue?: (() => Promise<boolean>) | undefined;
  /** Missing folders below this one are created; this one never is. */
  readonly within?: string;
}

/**
 * Replaces a file by `content` if it still has the expected hash. A temporary file beside it is
 * flushed to the disk and takes its name, owner, mode and attributes. A file that can't be replaced
 * so, as one with further names, is written in place if that is permitted. After a success the text
 * survives a crash.
 *
 * ```
 * const { kind } = await replaceFile(path, text, { expectedHash: hashOf(before), world });
 * ```
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
    // The folder is gone. Creating it again would disturb whoever removes it.
    if (isMissing(thrown)) return { kind: "changed" };
    throw atPath(thrown, path);
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
 * Gives `temporary` the name `path`, unless the file there has changed. Nothing in this process
 * comes between the check and the exchange, but another program's save may. `another`: one did, and
 * is now at the temporary name. It can be lost only where the system can't exchange names.
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
  // Removed at once, so that git never sees it.
  unlinkSync(temporary);
  return "taken";
}

/** A link never replaces an existing file. Some file systems have no links. */
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

/** Stands for the hash of something that is no file. It equals no real hash. */
const NOT_A_FILE = "not a file";

async function openIfPossible(path: string): Promise<FileHandle | undefined> {
  return await openFile(path).catch(() => undefined);
}
