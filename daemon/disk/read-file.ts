import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { LIMITS } from "../../shared/limits.ts";

/** Stands for the hash of a file that is not there. */
export const ABSENT_HASH = "absent";

/** What stands at the followed path. */
export type FileRead =
  | {
      readonly kind: "text";
      readonly path: string;
      readonly content: string;
      /** SHA-256 of the bytes, in hex. */
      readonly hash: string;
      /** When it was saved, in milliseconds since the Unix epoch. */
      readonly savedAt: number;
    }
  | { readonly kind: "absent"; readonly path: string }
  /** Something is there that can't be followed; the message says what and what to do. */
  | {
      readonly kind: "problem";
      readonly path: string;
      readonly message: string;
      /** It is a text, but over a limit: held, and not just left alone. */
      readonly overLimit?: boolean;
      /** The system did not give it, so that nobody knows what it holds. */
      readonly unread?: boolean;
    };

type FileProblem = Extract<FileRead, { kind: "problem" }>;

/** Reads a file by its path from the folder. Symbolic links are not followed. */
export async function readFileAt(dir: string, path: string): Promise<FileRead> {
  const problem = (message: string): FileProblem => ({ kind: "problem", path, message });
  try {
    const stats = await lstat(join(dir, path));
    if (stats.isSymbolicLink()) return problem("is a symbolic link: put a file in its place");
    if (!stats.isFile()) return problem("is not a file");
    if (stats.size > LIMITS.claudeMdBytes) {
      return tooLarge(path);
    }
    return textOf(path, await readBytes(join(dir, path)), stats.mtimeMs);
  } catch (thrown) {
    if (isMissing(thrown)) return { kind: "absent", path };
    return { ...problem(`can't be read: ${messageOf(thrown)}`), unread: true };
  }
}

/** The bytes of a file of its own; throws for a link or a pipe that took its place meanwhile. */
export async function readBytes(path: string): Promise<Buffer> {
  const handle = await openFile(path);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Without the last of them to open a pipe waits for somebody to write into it, for good. */
export const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens a file to be read; throws for what is none, even if it took the file's place just now. */
export async function openFile(path: string): Promise<FileHandle> {
  const handle = await open(path, READ_FLAGS);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new Error("is not a file");
}

/** Takes bytes for a description document, or says why they are none. */
export function textOf(path: string, bytes: Uint8Array, savedAt: number): FileRead {
  const problem = (message: string): FileProblem => ({ kind: "problem", path, message });
  if (bytes.length > LIMITS.claudeMdBytes) {
    return tooLarge(path);
  }
  try {
    const content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (content.includes("\0")) {
      return { ...problem("holds a NUL character: take it out"), overLimit: true };
    }
    return { kind: "text", path, content, hash: hashOf(bytes), savedAt };
  } catch {
    return problem("is not UTF-8: save it as UTF-8");
  }
}

function tooLarge(path: string): FileProblem {
  const message = `is over ${LIMITS.claudeMdBytes} bytes: make it shorter`;
  return { kind: "problem", path, message, overLimit: true };
}

/** SHA-256 in hex. */
export function hashOf(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export function isMissing(thrown: unknown): boolean {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
