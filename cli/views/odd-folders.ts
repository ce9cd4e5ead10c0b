import type { FolderStatus, ProjectStatus } from "../../daemon/status/status.ts";

const ODD: readonly FolderStatus["state"][] = ["held", "waiting", "failing"];

/** The folders of a project of which there is more to say than that they are followed. */
export function oddFolders({ folders, text }: ProjectStatus): FolderStatus[] {
  return folders.filter((folder) => {
    return ODD.includes(folder.state) || folder.place !== null || isMissed(folder, text);
  });
}

/** Whether the file of a project that has text is missing. */
export function isMissed({ why }: FolderStatus, text: ProjectStatus["text"]): boolean {
  return why === "missing" && text !== null;
}
