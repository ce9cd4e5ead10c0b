import { messageOf } from "./errors.ts";

/** Why a system call on a file failed, by its error code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a file stands where a folder should be",
  EEXIST: "a file stands where a folder should be",
  EISDIR: "it is a folder",
  EACCES: "this account may not",
  EPERM: "this account may not",
  EROFS: "that disk can only be read",
  EFBIG: "the disk is full",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  SQLITE_FULL: "the disk is full",
  ERR_ENCODING_INVALID_ENCODED_DATA: "it is not UTF-8",
};

/** Why a file or folder could not be read or written, in words for people who know which one. */
export function fileFailure(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return REASONS[code] ?? messageOf(thrown);
}

/** An error with the path that it is about. That of a write, and SQLite's, has none. */
export function atPath(thrown: unknown, path: string): unknown {
  return thrown instanceof Error ? Object.assign(thrown, { path }) : thrown;
}
