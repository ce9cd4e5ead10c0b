import { lstat } from "node:fs/promises";
import { basename, dirname, posix, relative, sep } from "node:path";
import type { ProjectId } from "../../../shared/ids.ts";
import {
  identifyUpwards,
  identityAmong,
  localOriginOf,
  type ProjectIdentity,
} from "../../git/identity.ts";
import { hasCommitInCommon } from "../../git/related-repositories.ts";
import type { Git } from "../../git/run-git.ts";
import {
  commonDirAt,
  findLostTree,
  findWorkingTree,
  isInRepositoryBelow,
  type LostTree,
  realPathOf,
  type WorkingTree,
} from "../../git/working-tree.ts";
import type { Link } from "../../home/links.ts";

/** The linked project of a folder, and the way to it from the linked folder: `packages/shop`. */
export interface PlaceInProject {
  readonly project: ProjectId;
  /** Empty for the linked folder itself; with `/` between its names. */
  readonly path: string;
  /** The linked folder. */
  readonly dir: string;
  /** It is in that folder, or in the same repository, or in a clone of that on this machine. */
  readonly by: "folder" | "repository" | "origin";
}

/** Which linked project a folder belongs to. */
export type FolderSearch =
  | { readonly kind: "found"; readonly place: PlaceInProject }
  | { readonly kind: "none" }
  /** It is in a working tree without its repository, which alone says whose it is. */
  | { readonly kind: "lost"; readonly lost: LostTree }
  /**
   * It is in a clone of a repository that is not, or not for sure, the one at this path now. These
   * links may be it; nobody but the user can tell.
   */
  | { readonly kind: "unsure"; readonly origin: string; readonly links: readonly Link[] };

/** What a repository says of a folder in it and of those above, and where it was cloned from. */
interface Named {
  readonly identities: readonly ProjectIdentity[];
  /** On this machine. */
  readonly origin: string | undefined;
}

/** At most this many clones of clones are looked at: origins may lead in a circle. */
const CLONES_MAX = 5;
const NONE = { kind: "none" } as const;

/**
 * Which linked project a folder belongs to: that of the nearest linked folder above it, else that
 * of the linked folder at the same place in another working tree of the same repository. In a
 * repository inside such a folder, as a submodule is, the project counts first that this repository
 * names, or the one on this machine that it is a clone of. A path on this machine may be another
 * repository's by now, so it counts only with a commit in common. Undefined for a folder of no
 * linked project, or of one that can't be told. One git process for each folder; some more for each
 * repository inside.
 */
export class FolderProjects {
  readonly #git: Git;
  readonly #trees = new Map<string, Promise<WorkingTree | undefined>>();
  readonly #named = new Map<string, Promise<Named>>();
  readonly #clones = new Map<string, Promise<boolean | undefined>>();

  constructor(git: Git) {
    this.#git = git;
  }

  async find(folder: string, links: readonly Link[]): Promise<PlaceInProject | undefined> {
    const search = await this.#search(folder, links, { anywhere: false });
    return search.kind === "found" ? search.place : undefined;
  }

  /** The same, also for a folder that is in nothing but another clone of a linked repository. */
  async findAnywhere(folder: string, links: readonly Link[]): Promise<FolderSearch> {
    return await this.#search(folder, links, { anywhere: true });
  }

  async #search(
    folder: string,
    links: readonly Link[],
    { anywhere }: { readonly anywhere: boolean },
  ): Promise<FolderSearch> {
    const real = await realPathOf(folder);
    const above = nearest(links, (link) => pathBelow(link.dir, real));
    if (above && !(await isInRepositoryBelow(above.dir, real)))
      return foundAt(placeOf(above, real));
    const tree = await this.#treeOf(real);
    if (!tree) {
      const lost = await findLostTree(real);
      return lost ? { kind: "lost", lost } : foundAt(above && placeOf(above, real));
    }
    const inside = pathIn(tree, real);
    const shared = await this.#sharing(tree, inside, links);
    if (shared) return foundAt(shared);
    const around = above ? placeOf(above, real) : await this.#around(tree, inside, links);
    if (!around && !anywhere) return NONE;
    const cloned = await this.#cloned(tree, inside, { links });
    const isAround = ({ projectId }: Link) => projectId === around?.project;
    const isSettled =
      cloned.kind === "none" || (cloned.kind === "unsure" && cloned.links.every(isAround));
    return isSettled ? foundAt(around) : cloned;
  }

  /** Folders may have become others. */
  forget(): void {
    this.#trees.clear();
    this.#named.clear();
    this.#clones.clear();
  }

  /** By a link in a working tree of the same repository. */
  async #sharing(
    tree: WorkingTree,
    inside: string,
    links: readonly Link[],
  ): Promise<PlaceInProject | undefined> {
    const linkedAt = new Map<Link, string>();
    for (const link of links) {
      if ((await commonDirAt(link.dir)) !== tree.commonDir) continue;
      const other = await this.#treeOf(link.dir);
      if (other?.commonDir === tree.commonDir) linkedAt.set(link, pathIn(other, link.dir));
    }
    const found = nearest([...linkedAt.keys()], (link) => {
      return pathBelow(linkedAt.get(link) ?? "", inside);
    });
    const path = found && relative(linkedAt.get(found) ?? "", inside);
    return found && { ...placeIn(found, path ?? ""), by: "repository" };
  }

  /** By the folder that a repository is in, as a submodule of a worktree that nobody linked. */
  async #around(
    { root }: WorkingTree,
    inside: string,
    links: readonly Link[],
  ): Promise<PlaceInProject | undefined> {
    const found = dirname(root) === root ? undefined : await this.find(dirname(root), links);
    return found && { ...found, path: posix.join(found.path, basename(root), inside) };
  }

  /** By what a repository says of itself, or the one on this machine that it is a clone of. */
  async #cloned(
    tree: WorkingTree,
    inside: string,
    { links, rest = CLONES_MAX }: { readonly links: readonly Link[]; readonly rest?: number },
  ): Promise<FolderSearch> {
    const ids = links.map(({ projectId }) => projectId);
    const { identities, origin } = await this.#nameOf(tree, inside);
    const namesakes: Link[] = [];
    for (const seen of identities) {
      const identity = identityAmong(seen, ids);
      if (identity.kind === "none") continue;
      const same = links.filter(({ projectId }) => projectId === identity.projectId);
      for (const link of same) {
        if (origin !== undefined && !(await this.#isCloneOf(tree, link.dir))) namesakes.push(link);
        else {
          const place = placeIn(link, relative(identity.pathInside, inside));
          return foundAt({ ...place, by: "repository" });
        }
      }
    }
    if (origin === undefined || rest === 0) return NONE;
    const other = await this.#treeOf(origin);
    if (other?.root !== origin || !(await this.#isCloneOf(tree, origin))) {
      // In a bare repository nothing was ever linked.
      const isBare = other?.root !== origin && (await isThere(origin));
      return await this.#unsure(tree, { origin, links: isBare ? namesakes : links, namesakes });
    }
    const shared = await this.#sharing(other, inside, links);
    if (shared) return foundAt({ ...shared, by: "origin" });
    const further = await this.#cloned(other, inside, { links, rest: rest - 1 });
    if (further.kind !== "found") return further;
    return foundAt({ ...further.place, by: "origin" });
  }

  /**
   * The repository that was at the origin's path may be linked where it is now. A first commit in
   * common does not say so for sure: it is also that of everything begun from the same template.
   */
  async #unsure(
    tree: WorkingTree,
    {
      origin,
      links,
      namesakes,
    }: {
      readonly origin: string;
      readonly links: readonly Link[];
      readonly namesakes: readonly Link[];
    },
  ): Promise<FolderSearch> {
    const possible: Link[] = [];
    for (const link of links) {
      const isWhereItWas = namesakes.includes(link) || pathBelow(origin, link.dir) !== undefined;
      const isCloneOf = await this.#isCloneOf(tree, link.dir);
      if (isCloneOf ?? isWhereItWas) possible.push(link);
    }
    return possible.length === 0 ? NONE : { kind: "unsure", origin, links: possible };
  }

  /** Undefined where it can't be known. */
  async #isCloneOf(tree: WorkingTree, folder: string): Promise<boolean | undefined> {
    const key = `${tree.root}\n${folder}`;
    const known = this.#clones.get(key) ?? this.#askIfClone(tree, folder);
    this.#clones.set(key, known);
    return await known;
  }

  async #askIfClone(tree: WorkingTree, folder: string): Promise<boolean | undefined> {
    const other = await this.#treeOf(folder);
    return other && (await hasCommitInCommon(this.#git, tree, other));
  }

  async #nameOf(tree: WorkingTree, inside: string): Promise<Named> {
    const key = `${tree.root}\n${inside}`;
    const named = this.#named.get(key) ?? this.#askName(tree, inside);
    this.#named.set(key, named);
    return await named;
  }

  async #askName(tree: WorkingTree, inside: string): Promise<Named> {
    const identities = await identifyUpwards(this.#git, tree, inside);
    return { identities, origin: await localOriginOf(this.#git, tree) };
  }

  #treeOf(folder: string): Promise<WorkingTree | undefined> {
    const known = this.#trees.get(folder);
    if (known) return known;
    const found = findWorkingTree(this.#git, folder).then((search) =>
      search.kind === "tree" ? search.tree : undefined,
    );
    this.#trees.set(folder, found);
    return found;
  }
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

/** The way from the top of a working tree down to a folder, with `/` between its names. */
function pathIn({ root }: WorkingTree, folder: string): string {
  return relative(root, folder).split(sep).join("/");
}

function placeOf(link: Link, folder: string): PlaceInProject {
  return placeIn(link, relative(link.dir, folder));
}

function placeIn({ projectId: project, dir }: Link, path: string): PlaceInProject {
  return { project, path: path.split(sep).join("/"), dir, by: "folder" };
}

function foundAt(place: PlaceInProject | undefined): FolderSearch {
  return place ? { kind: "found", place } : NONE;
}

/** The link with the shortest way down to the folder; `below`: how long it is. */
function nearest(
  links: readonly Link[],
  below: (link: Link) => number | undefined,
): Link | undefined {
  const found = links.flatMap((link) => {
    const length = below(link);
    return length === undefined ? [] : [{ link, length }];
  });
  return found.sort((one, other) => one.length - other.length)[0]?.link;
}

/** How many characters lead from `above` down to `folder`; undefined where none do. */
function pathBelow(above: string, folder: string): number | undefined {
  if (above === "" || folder === above) return folder.length - above.length;
  const isBelow = folder.startsWith(above.endsWith(sep) ? above : `${above}${sep}`);
  return isBelow ? folder.length - above.length : undefined;
}
