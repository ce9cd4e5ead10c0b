import { constants, fstatSync, ftruncateSync, lstatSync, readSync, writeSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { flushFolder } from "./flush-folder.ts";
import { type HoldAlone, loadHoldAlone } from "./hold-alone.ts";
import { hashOf, isMissing } from "./read-file.ts";
import { journalOf } from "./temporary-name.ts";

/** As for reading: follows no link and waits for no pipe. */
const WRITE_FLAGS = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Writes `content` into the existing file at `path` if it still has `expectedHash`. The file keeps
 * its names, owner and attributes. `whole` is a file beside it that holds `content` and is on the
 * disk; this function removes it. `changed`: another save came first, or the name leads elsewhere.
 * `refused`: nothing was done, because this process may not write the file.
 *
 * After a crash in the middle the file is a mix of both texts. Then `whole` is still there, under
 * its name as a journal, and `finishBegunWrite` repairs the file. The same holds after an error
 * that left a mix.
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
    // An unchanged file needs no journal.
    if (hashOf(readWhole(handle.fd)) === expectedHash) await rm(journal, { force: true });
    throw thrown;
  } finally {
    await handle.close();
  }
}

/** Undefined for what is no file or may not be written. */
export async function openToWrite(path: string): Promise<FileHandle | undefined> {
  const handle = await open(path, WRITE_FLAGS).catch(() => undefined);
  if (!handle || (await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}

/** What to write, and over which content only. */
interface Overwriting {
  readonly content: Buffer;
  readonly expectedHash: string;
  readonly holdAlone: HoldAlone;
}

/** The same for an open file. The text is on the disk when this resolves. */
export async function overwriteDurably(
  handle: FileHandle,
  path: string,
  overwriting: Overwriting,
): Promise<"written" | "changed"> {
  const { mode } = await handle.stat();
  if (!overwrite(handle.fd, path, overwriting)) return "changed";
  // Writing clears bits of the mode.
  if ((await handle.stat()).mode !== mode) await handle.chmod(mode & 0o7777);
  await handle.sync();
  return isAt(path, handle.fd) ? "written" : "changed";
}

/**
 * False, with nothing changed, unless the path still leads to this file and it has `expectedHash`.
 * Nothing in this process comes between the check and the write; no other program's save does
 * either where files can be held alone.
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

/** Reads from the first byte, wherever the file was read or written last. */
function readWhole(file: number): Buffer {
  const content = Buffer.alloc(fstatSync(file).size + 1);
  let length = 0;
  for (;;) {
    const read = readSync(file, content, length, content.length - length, length);
    length += read;
    if (read === 0 || length === content.length) return content.subarray(0, length);
  }
}

/** Whether the path leads to this open file. */
function isAt(path: string, file: number): boolean {
  try {
    const [named, open] = [lstatSync(path), fstatSync(file)];
    return named.ino === open.ino && named.dev === open.dev;
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw thrown;
  }
}
