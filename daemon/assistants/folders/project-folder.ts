import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Link } from "../../home/links.ts";
import type { FolderFormat } from "./folder-format.ts";
import type { OwnedFolder } from "./owned-folder.ts";

/** A folder inside of a project, by the names that lead to it from the linked folder. */
export interface FolderOfProject {
  readonly format: FolderFormat;
  readonly names: readonly string[];
}

/** Such a folder of each linked folder that is there, whether or not it is there itself. */
export async function findProjectFolders(
  links: readonly Link[],
  { format, names }: FolderOfProject,
): Promise<OwnedFolder[]> {
  const found = await Promise.all(
    links.map(async (link): Promise<OwnedFolder[]> => {
      const { dir, projectId: project } = link;
      const state = await stateBelow(dir, names);
      if (state === "away") return [];
      const [isLink, isNew] = [state === "link", state === "new"];
      const owner = { kind: "project", project } as const;
      const path = join(dir, ...names);
      return [{ path, format, owner, isLink, isNew, within: dir, link }];
    }),
  );
  return found.flat();
}

/** `away`: the folder below which it belongs is not there. `link`: a link leads out of that. */
export async function stateBelow(
  dir: string,
  names: readonly string[],
): Promise<"there" | "new" | "link" | "away"> {
  const top = await lstat(dir).catch(() => undefined);
  if (!top?.isDirectory()) return "away";
  let at = dir;
  for (const name of names) {
    at = join(at, name);
    const stats = await lstat(at).catch(() => undefined);
    if (!stats) return "new";
    if (!stats.isDirectory()) return "link";
  }
  return "there";
}
