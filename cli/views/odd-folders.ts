import type { FolderStatus, ProjectStatus } from "../../daemon/status/status.ts";

const ODD: readonly FolderStatus["state"][] = ["held", "waiting", "failing"];

/** Reasons to leave a file alone with which nothing is wrong: what git does ends by itself. */
const ORDINARY: readonly FolderStatus["why"][] = ["leave-branch", "leave-busy", "leave-aside"];

/** The folders of a project of which there is more to say than that they are followed. */
export function oddFolders({ folders, text }: ProjectStatus): FolderStatus[] {
  return folders.filter((folder) => {
    const isOdd = ODD.includes(folder.state) || isUnread(folder);
    return isOdd || folder.place !== null || isMissed(folder, text);
  });
}

/** Whether the file is there, or was, and nobody reads it until somebody does something. */
export function isUnread({ state, why }: FolderStatus): boolean {
  return state === "left-alone" && why !== "missing" && !ORDINARY.includes(why);
}

/** Whether the file of a project that has text is missing. */
export function isMissed({ why }: FolderStatus, text: ProjectStatus["text"]): boolean {
  return why === "missing" && text !== null;
}
