import { lstat } from "node:fs/promises";
import type { ProjectId } from "../../../shared/ids.ts";
import { isMissing } from "../../disk/read-file.ts";
import type { Git } from "../../git/run-git.ts";
import { findWorkingTree, mainFolder } from "../../git/working-tree.ts";
import type { Link } from "../../home/links.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import type {
  FolderOwner,
  FolderSource,
  KnownPlaces,
  OwnedFolder,
} from "../folders/owned-folder.ts";
import {
  autoMemoryFolderOf,
  type ClaudeCodePlace,
  listAutoMemoryFolders,
  listClaudeCodePaths,
  slugOf,
} from "./memory-folders.ts";

/** An index and a file for each topic, which it leads to, in one folder. */
export const AUTO_MEMORY: FolderFormat = {
  kind: "auto-memory",
  prefix: "auto-memory/",
  ending: ".md",
  isDeep: false,
  index: "MEMORY.md",
};

/** Finds the linked project of a folder. What was found is remembered until `forget`. */
export interface ProjectsOfFolders {
  find(
    folder: string,
    links: readonly Link[],
  ): Promise<{ readonly project: ProjectId } | undefined>;
  forget(): void;
}

/**
 * Finds the project of each folder of auto memory. The folder's name is made of a path in a way
 * that several paths share. So every path that is known is asked for its name; where those with the
 * same name are not all of one project, the folder is left alone.
 */
export class AutoMemoryFolders implements FolderSource {
  readonly kind = AUTO_MEMORY.kind;
  readonly #git: Git;
  readonly #place: ClaudeCodePlace;
  readonly #folders: ProjectsOfFolders;
  #linked = "";
  #listed: { readonly sign: string | undefined; readonly paths: readonly string[] } | undefined;
  #mains = new Map<string, Set<ProjectId>>();

  constructor(git: Git, place: ClaudeCodePlace, folders: ProjectsOfFolders) {
    this.#git = git;
    this.#place = place;
    this.#folders = folders;
  }

  /** In the order of their names; folders that are to be made come last. */
  async find(places: KnownPlaces): Promise<OwnedFolder[]> {
    const { links, cwds, kept } = places;
    await this.#learn(links);
    const there = await listAutoMemoryFolders(this.#place.configDir);
    const claudes = await this.#claudes();
    // Another path may have the same name: whose a folder is can't be told before that is known.
    if (!claudes)
      return there.map(({ path, isLink }) => this.#folder(path, { kind: "nobody" }, { isLink }));
    const linked = [...links.map(({ dir }) => dir), ...this.#mains.keys()];
    const paths = [...new Set([...linked, ...claudes, ...cwds])];
    const folders: OwnedFolder[] = [];
    for (const { path, slug, isLink } of there) {
      const owner = await this.#ownerOf(slug, paths, links);
      const former = links.find(({ projectId }) => projectId === kept.get(path));
      const found = former ? await keptOwner(owner, former, namesakesOf(slug, paths)) : owner;
      const isFormer = owner.kind === "nobody" && found.kind === "project";
      const movedTo = isFormer ? former?.dir : undefined;
      folders.push({ ...this.#folder(path, found, { isLink }), movedTo });
    }
    for (const slug of new Set([...this.#mains.keys()].flatMap((main) => slugOf(main) ?? []))) {
      if (there.some((each) => each.slug === slug)) continue;
      const owner = await this.#ownerOf(slug, paths, links);
      const path = autoMemoryFolderOf(this.#place.configDir, slug);
      folders.push(this.#folder(path, owner, { isNew: true }));
    }
    return folders;
  }

  #folder(
    path: string,
    owner: FolderOwner,
    { isLink = false, isNew = false }: Partial<Pick<OwnedFolder, "isLink" | "isNew">>,
  ): OwnedFolder {
    const within = this.#place.configDir;
    return { path, format: AUTO_MEMORY, owner, isLink, isNew, within, makesWithin: isNew };
  }

  /**
   * Claude Code's list may be large, and hardly ever changes in what is asked of it here. While it
   * can't be read, the former one stands; undefined where there is none.
   */
  async #claudes(): Promise<readonly string[] | undefined> {
    const stats = await lstat(this.#place.stateFile, { bigint: true }).catch(() => undefined);
    const sign = stats && `${stats.size} ${stats.mtimeNs} ${stats.ino}`;
    if (!this.#listed || sign === undefined || sign !== this.#listed.sign) {
      const paths = await listClaudeCodePaths(this.#place);
      if (paths) this.#listed = { sign, paths };
    }
    return this.#listed?.paths;
  }

  /** The main checkout of each link's repository: assistants keep one memory for all of it. */
  async #learn(links: readonly Link[]): Promise<void> {
    const linked = JSON.stringify(links.map(({ dir, projectId }) => [dir, projectId]));
    if (linked === this.#linked) return;
    this.#folders.forget();
    const mains = new Map<string, Set<ProjectId>>();
    for (const { dir, projectId } of links) {
      const search = await findWorkingTree(this.#git, dir);
      const main = search.kind === "tree" ? mainFolder(search.tree) : dir;
      mains.set(main, (mains.get(main) ?? new Set()).add(projectId));
    }
    this.#mains = mains;
    this.#linked = linked;
  }

  async #ownerOf(
    slug: string,
    paths: readonly string[],
    links: readonly Link[],
  ): Promise<FolderOwner> {
    const named = namesakesOf(slug, paths);
    const owners = new Set<ProjectId | undefined>();
    for (const path of named) {
      const project = (await this.#folders.find(path, links))?.project;
      const all = project === undefined ? [...(this.#mains.get(path) ?? [undefined])] : [project];
      for (const each of all) owners.add(each);
    }
    const [project] = [...owners].filter((each) => each !== undefined);
    if (project === undefined) return { kind: "nobody" };
    return owners.size === 1 ? { kind: "project", project } : { kind: "several", paths: named };
  }
}

/** The paths that a folder's name may be made of. */
function namesakesOf(slug: string, paths: readonly string[]): string[] {
  return paths.filter((path) => slugOf(path) === slug);
}

/**
 * Whose a folder is that was `former`'s. It stays that one's while no path of its name is anybody
 * else's: the project was renamed, and what told of its path is gone. A path that is there again is
 * another project, linked or not, and neither may get what the other remembers.
 */
async function keptOwner(
  owner: FolderOwner,
  former: Link,
  named: readonly string[],
): Promise<FolderOwner> {
  const { projectId: project, dir } = former;
  const several = { kind: "several", former: dir } as const;
  if (owner.kind === "project")
    return owner.project === project ? owner : { ...several, paths: named };
  if (owner.kind !== "nobody") return owner;
  const there: string[] = [];
  for (const path of named) if (await mayBeThere(path)) there.push(path);
  return there.length === 0 ? { kind: "project", project } : { ...several, paths: there };
}

/** One that can't be looked at may be there. */
async function mayBeThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    (thrown) => !isMissing(thrown),
  );
}
