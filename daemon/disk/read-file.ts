import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { LIMITS } from "../../shared/limits.ts";
import type { Reason } from "../../shared/reasons.ts";

/** Stands for the hash of a file that does not exist. */
export const ABSENT_HASH = "absent";

/** What is at the followed path. */
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
  /** Something is there that can't be followed. */
  | {
      readonly kind: "problem";
      readonly path: string;
      readonly why: Reason;
      /** A text that exceeds a limit. It is held, not only left alone. */
      readonly overLimit?: boolean;
      /** The system gave an error, so nobody knows what the file holds. */
      readonly unread?: boolean;
    };

type FileProblem = Extract<FileRead, { kind: "problem" }>;

/** Reads a file by its path from the folder. Does not follow symbolic links. */
export async function readFileAt(dir: string, path: string): Promise<FileRead> {
  const problem = (why: Reason): FileProblem => ({ kind: "problem", path, why });
  try {
    const stats = await lstat(join(dir, path));
    if (stats.isSymbolicLink()) return problem({ code: "became-link" });
    if (!stats.isFile()) return problem({ code: "not-a-file" });
    if (stats.size > LIMITS.claudeMdBytes) {
      return tooLarge(path);
    }
    return textFrom(path, await readBytes(join(dir, path)), stats.mtimeMs);
  } catch (thrown) {
    if (isMissing(thrown)) return { kind: "absent", path };
    return { ...problem({ code: "unreadable", said: messageOf(thrown) }), unread: true };
  }
}

/** A regular file's bytes. Throws for a link or a pipe that took its place meanwhile. */
export async function readBytes(path: string): Promise<Buffer> {
  const handle = await openFile(path);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Without `O_NONBLOCK`, opening a pipe would wait for ever for somebody to write to it. */
export const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a regular file for reading. Throws for anything else, even if it took the place just now.
 */
export async function openFile(path: string): Promise<FileHandle> {
  const handle = await open(path, READ_FLAGS);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new Error("is not a file");
}

/** Reads bytes as a description document, or says why they are none. */
export function textFrom(path: string, bytes: Uint8Array, savedAt: number): FileRead {
  const problem = (why: Reason): FileProblem => ({ kind: "problem", path, why });
  if (bytes.length > LIMITS.claudeMdBytes) {
    return tooLarge(path);
  }
  try {
    const content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (content.includes("\0")) {
      return { ...problem({ code: "has-nul" }), overLimit: true };
    }
    return { kind: "text", path, content, hash: hashOf(bytes), savedAt };
  } catch {
    return problem({ code: "not-utf8" });
  }
}

function tooLarge(path: string): FileProblem {
  return { kind: "problem", path, why: { code: "too-large" }, overLimit: true };
}

/** SHA-256 in hex. */
export function hashOf(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export function isMissing(thrown: unknown): boolean {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
