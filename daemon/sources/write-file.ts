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
import { type FileHandle, lstat, mkdir, open, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { base32 } from "../../shared/ids.ts";
import type { World } from "../../shared/world.ts";
import { ABSENT_HASH, hashOf, isMissing, openFile, READ_FLAGS } from "./read-file.ts";
import { loadSwapNames, type SwapNames } from "./swap-names.ts";

const PERMISSIONS = 0o777;

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
    };

/**
 * Replaces a file by `content` if it still has `expectedHash`: a temporary file beside it, flushed
 * to the disk, takes its name, and its mode. Once written it survives a crash.
 */
export async function replaceFile(
  path: string,
  content: string,
  expectedHash: string,
  world: World,
): Promise<WriteOutcome> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), temporaryName(basename(path), world));
  try {
    await writeDurably(temporary, content, await modeOf(path));
    return await putInPlace(temporary, path, expectedHash);
  } finally {
    await rm(temporary, { force: true });
  }
}

function temporaryName(name: string, world: World): string {
  return `.${name}.${base32(world.randomBytes(5))}.memsync`;
}

/** Whether a file was made to take the name of another one in its folder. */
export function isTemporaryOf(name: string, other: string): boolean {
  return (
    other.startsWith(`.${name}.`) && /^[a-z2-7]{8}\.memsync$/.test(other.slice(name.length + 2))
  );
}

async function putInPlace(
  temporary: string,
  path: string,
  expectedHash: string,
): Promise<WriteOutcome> {
  const swapNames = await loadSwapNames();
  const before = await openIfPossible(path);
  let replaced: FileHandle | undefined;
  try {
    const step = takeName(temporary, path, expectedHash, before, swapNames);
    if (step === "changed") return { kind: "changed" };
    await flushFolder(dirname(path));
    replaced = step === "another" ? await openIfPossible(temporary) : before;
    return { kind: "written", replaced };
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
  expectedHash: string,
  before: FileHandle | undefined,
  swapNames: SwapNames,
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
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") return "changed";
    renameSync(temporary, path);
  }
  return "taken";
}

async function writeDurably(path: string, content: string, mode: number | undefined) {
  const handle = await open(path, "wx", mode);
  try {
    if (mode !== undefined) await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).mode & PERMISSIONS;
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
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

/** The new name itself is on the disk only once the folder is. */
async function flushFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function openIfPossible(path: string): Promise<FileHandle | undefined> {
  return await openFile(path).catch(() => undefined);
}
