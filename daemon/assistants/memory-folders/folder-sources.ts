import type { Git } from "../../git/run-git.ts";
import { AutoMemoryFolders } from "../claude-code/auto-memory-folders.ts";
import { claudeCodePlace } from "../claude-code/memory-folders.ts";
import type { FolderSource } from "../folders/owned-folder.ts";
import { RULE_FOLDERS } from "../rules/rule-folders.ts";
import { serenaFolders, serenaHome } from "../serena/memory-folders.ts";
import { FolderProjects } from "../sessions/project-of-folder.ts";

/** Where assistants keep their files for this user. */
export interface AssistantPlaces {
  readonly userFolder: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Each format of memory files that is known, in the order in which they are told of. */
export function folderSources(
  git: Git,
  { userFolder, variables }: AssistantPlaces,
): readonly FolderSource[] {
  const place = claudeCodePlace(userFolder, variables);
  return [
    new AutoMemoryFolders(git, place, new FolderProjects(git)),
    serenaFolders(serenaHome(userFolder, variables)),
    RULE_FOLDERS,
  ];
}
