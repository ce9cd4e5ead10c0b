import type { FolderStatus } from "../../daemon/status/status.ts";

/** A file that follows a project's text, or is to. */
type FileStatus = Pick<FolderStatus, "path" | "state" | "note" | "why">;

/** Whether what stands in a followed file may differ from what is synced. */
export function isTextApart({ state, why }: Pick<FileStatus, "state" | "why">): boolean {
  return (state === "left-alone" || state === "failing") && why !== "missing";
}

/** Whether saves in the file reach the others, though nothing of theirs is written into it. */
export function isRead({ why }: Pick<FileStatus, "why">): boolean {
  return why === "leave-aside";
}

/**
 * Why a file is not followed, in words that go on after "it"; undefined where it is, or where
 * nothing is there that could be. `link` says of a deleted project itself that it is one.
 */
export function whyNotFollowed(file: FileStatus): string | undefined {
  if (!isTextApart(file) || isRead(file) || file.why === "deleted") return undefined;
  return file.note ?? "could not be looked at";
}

/** That files of a folder are not followed, and why, each in a line. */
export function unfollowedFileLines(files: readonly FileStatus[]): string[] {
  return files.flatMap((file) => {
    const why = whyNotFollowed(file);
    return why === undefined ? [] : [`${file.path} is not followed: it ${why}`];
  });
}
