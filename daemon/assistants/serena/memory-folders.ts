import { join } from "node:path";
import type { FolderFormat } from "../folders/folder-format.ts";
import type { FolderSource, OwnedFolder } from "../folders/owned-folder.ts";
import { findProjectFolders, stateBelow } from "../folders/project-folder.ts";

const OF_PROJECT: FolderFormat = {
  kind: "serena",
  prefix: "serena/",
  ending: ".md",
  isDeep: true,
};
/** Serena calls these `global/NAME`, also where one memory names another. */
const GLOBAL: FolderFormat = { ...OF_PROJECT, prefix: "serena/global/" };

const FOLDER = [".serena", "memories"] as const;
const GLOBAL_FOLDER = ["memories", "global"] as const;

/**
 * Where Serena keeps what is of no project: `SERENA_HOME`, else `~/.serena`.
 *
 * ```
 * serenaHome("/root", {}); // "/root/.serena"
 * ```
 */
export function serenaHome(
  userFolder: string,
  { SERENA_HOME: dir }: Readonly<Record<string, string | undefined>>,
): string {
  return dir || join(userFolder, ".serena");
}

/** Serena's memories of each linked project, and those of the person in all of them. */
export function serenaFolders(home: string): FolderSource {
  return {
    kind: "serena",
    async find({ links }) {
      const ofProjects = await findProjectFolders(links, { format: OF_PROJECT, names: FOLDER });
      return [...ofProjects, ...(await globalFolder(home))];
    },
  };
}

/** None where Serena is not in use. */
async function globalFolder(home: string): Promise<OwnedFolder[]> {
  const state = await stateBelow(home, GLOBAL_FOLDER);
  if (state === "away") return [];
  const path = join(home, ...GLOBAL_FOLDER);
  const [isLink, isNew] = [state === "link", state === "new"];
  return [{ path, format: GLOBAL, owner: { kind: "user" }, isLink, isNew, within: home }];
}
