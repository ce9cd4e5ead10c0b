import { constants, fstatSync, ftruncateSync, lstatSync, readSync, writeSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { flushFolder } from "./flush-folder.ts";
import { type HoldAlone, loadHoldAlone } from "./hold-alone.ts";
import { hashOf, isMissing } from "./read-file.ts";
import { journalOf } from "./temporary-name.ts";

/** As for reading: no link is followed, and no pipe waited for. */
const WRITE_FLAGS = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Writes `content` into the file at `path` itself, if that still has `expectedHash`, so that it
 * keeps its names, owner and attributes. `whole` is a file beside it that holds `content`, on the
 * disk; it is gone then. `changed`: another save came first, or took the name. `refused`: nothing
 * was done, for we may not write into it.
 *
 * A crash in the middle leaves a mix of both texts, which is no person's; then `whole` is there
 * by its name as a journal (`finishBegunWrite`). So it is after an error that left a mix.
 */
export async function writeInPlace(
  path: string,
  content: string,
  { expectedHash, whole }: { readonly expectedHash: string; readonly whole: string },
): Promise<"written" | "changed" | "refused"> {
  const holdAlone = await loadHoldAlone();
  const handle = await openToWrite(path);
  if (!handle) return "refused";
  const journal = journalOf(whole);
  try {
    await rename(whole, journal);
    await flushFolder(dirname(path));
    const step = await overwriteDurably(handle, path, {
      content: Buffer.from(content),
      expectedHash,
      holdAlone,
    });
    await rm(journal, { force: true });
    await flushFolder(dirname(path));
    return step;
  } catch (thrown) {
    // What is as it was needs no journal.
    if (hashOf(readWhole(handle.fd)) === expectedHash) await rm(journal, { force: true });
    throw thrown;
  } finally {
    await handle.close();
  }
}

/** Undefined for what may not be written, or is no file. */
export async function openToWrite(path: string): Promise<FileHandle | undefined> {
  const handle = await open(path, WRITE_FLAGS).catch(() => undefined);
  if (!handle || (await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}

/** What is written over a file, and over what alone. */
interface Overwriting {
  readonly content: Buffer;
  readonly expectedHash: string;
  readonly holdAlone: HoldAlone;
}

/** The same for an open file: what was written is on the disk. */
export async function overwriteDurably(
  handle: FileHandle,
  path: string,
  overwriting: Overwriting,
): Promise<"written" | "changed"> {
  const { mode } = await handle.stat();
  if (!overwrite(handle.fd, path, overwriting)) return "changed";
  // A write takes bits of the mode away.
  if ((await handle.stat()).mode !== mode) await handle.chmod(mode & 0o7777);
  await handle.sync();
  return isAt(path, handle.fd) ? "written" : "changed";
}

/**
 * False, and nothing is changed, unless the file has its name and `expectedHash`. Nothing of this
 * process comes between that look and the write, and no other's where files can be held alone.
 */
function overwrite(
  file: number,
  path: string,
  { content, expectedHash, holdAlone }: Overwriting,
): boolean {
  const letGo = holdAlone(file);
  try {
    const before = readWhole(file);
    if (!isAt(path, file) || hashOf(before) !== expectedHash) return false;
    putOrRestore(file, content, before);
    return true;
  } finally {
    letGo?.();
  }
}

function putOrRestore(file: number, content: Buffer, before: Buffer): void {
  try {
    put(file, content);
  } catch (thrown) {
    put(file, before);
    throw thrown;
  }
}

function put(file: number, content: Buffer): void {
  for (let at = 0; at < content.length; ) {
    at += writeSync(file, content, at, content.length - at, at);
  }
  ftruncateSync(file, content.length);
}

/** From its first byte, wherever the file was read or written last. */
function readWhole(file: number): Buffer {
  const content = Buffer.alloc(fstatSync(file).size + 1);
  let length = 0;
  for (;;) {
    const read = readSync(file, content, length, content.length - length, length);
    length += read;
    if (read === 0 || length === content.length) return content.subarray(0, length);
  }
}

/** Whether the name leads to this file. */
function isAt(path: string, file: number): boolean {
  try {
    const [named, open] = [lstatSync(path), fstatSync(file)];
    return named.ino === open.ino && named.dev === open.dev;
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw thrown;
  }
}
