import { messageOf } from "./errors.ts";

/** What a system's call on a file was refused for, by its code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a file stands where a folder should be",
  EEXIST: "a file stands where a folder should be",
  EISDIR: "it is a folder",
  EACCES: "this account may not",
  EPERM: "this account may not",
  EROFS: "that disk can only be read",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  SQLITE_FULL: "the disk is full",
  ERR_ENCODING_INVALID_ENCODED_DATA: "it is not UTF-8",
};

/** Why a file or folder could not be read or written, for people who know which one is meant. */
export function fileFailure(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return REASONS[code] ?? messageOf(thrown);
}
