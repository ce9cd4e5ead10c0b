import { lstat } from "node:fs/promises";
import type { ProjectId } from "../../../shared/ids.ts";
import type { Git } from "../../git/run-git.ts";
import { findWorkingTree, mainFolder } from "../../git/working-tree.ts";
import type { Link } from "../../home/links.ts";
import {
  autoMemoryFolderOf,
  type ClaudeCodePlace,
  listAutoMemoryFolders,
  listClaudeCodePaths,
  slugOf,
} from "../claude-code/memory-folders.ts";
import { FolderProjects } from "../sessions/project-of-folder.ts";

/** Whose memories a folder has. */
export type FolderOwner =
  | { readonly kind: "project"; readonly project: ProjectId }
  /** It belongs to no linked project. */
  | { readonly kind: "nobody" }
  /** Several paths have this folder, and they are not all of one project. */
  | { readonly kind: "several"; readonly paths: readonly string[] };

/** A folder of memories. */
export interface OwnedFolder {
  readonly path: string;
  readonly owner: FolderOwner;
  /** Why it is left alone, whoever owns it. */
  readonly isLink: boolean;
  /** It is not there yet. An assistant will look for it at this path. */
  readonly isNew: boolean;
}

/** What is known besides of where assistants worked. */
export interface KnownPlaces {
  readonly links: readonly Link[];
  /** The folders in which sessions began, as transcripts told. */
  readonly cwds: readonly string[];
  /** The projects that were found before. */
  readonly kept: ReadonlyMap<string, ProjectId>;
}

/**
 * Finds the project of each folder of auto memory. The folder's name is made of a path in a way
 * that several paths share. So every path that is known is asked for its name; where those with the
 * same name are not all of one project, the folder is left alone.
 */
export class MemoryFolderOwners {
  readonly #git: Git;
  readonly #place: ClaudeCodePlace;
  readonly #folders: FolderProjects;
  #linked = "";
  #listed: { readonly sign: string | undefined; readonly paths: readonly string[] } | undefined;
  #mains = new Map<string, Set<ProjectId>>();

  constructor(git: Git, place: ClaudeCodePlace) {
    this.#git = git;
    this.#place = place;
    this.#folders = new FolderProjects(git);
  }

  /** In the order of their names; folders that are to be made come last. */
  async find(places: KnownPlaces): Promise<OwnedFolder[]> {
    const { links, cwds, kept } = places;
    await this.#learn(links);
    const there = await listAutoMemoryFolders(this.#place.configDir);
    const claudes = await this.#claudes();
    // Another path may have the same name: whose a folder is can't be told before that is known.
    if (!claudes)
      return there.map((each) => ({ ...each, owner: { kind: "nobody" }, isNew: false }));
    const linked = [...links.map(({ dir }) => dir), ...this.#mains.keys()];
    const paths = [...new Set([...linked, ...claudes, ...cwds])];
    const folders: OwnedFolder[] = [];
    for (const { path, slug, isLink } of there) {
      const owner = await this.#ownerOf(slug, paths, links);
      const isKept = owner.kind === "nobody" && links.some((each) => isOf(each, kept.get(path)));
      const project = kept.get(path);
      const found = isKept && project ? ({ kind: "project", project } as const) : owner;
      folders.push({ path, owner: found, isLink, isNew: false });
    }
    for (const slug of new Set([...this.#mains.keys()].flatMap((main) => slugOf(main) ?? []))) {
      if (there.some((each) => each.slug === slug)) continue;
      const owner = await this.#ownerOf(slug, paths, links);
      const path = autoMemoryFolderOf(this.#place.configDir, slug);
      folders.push({ path, owner, isLink: false, isNew: true });
    }
    return folders;
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
    const named = paths.filter((path) => slugOf(path) === slug);
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

function isOf({ projectId }: Link, project: ProjectId | undefined): boolean {
  return projectId === project;
}
