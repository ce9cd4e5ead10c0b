import { basename, dirname, posix, relative, sep } from "node:path";
import type { ProjectId } from "../../../shared/ids.ts";
import {
  identifyUpwards,
  identityAmong,
  localOriginOf,
  type ProjectIdentity,
} from "../../git/identity.ts";
import type { Git } from "../../git/run-git.ts";
import {
  commonDirAt,
  findWorkingTree,
  isInRepositoryBelow,
  realPathOf,
  type WorkingTree,
} from "../../git/working-tree.ts";
import type { Link } from "../../home/links.ts";

/** The linked project of a folder, and the way to it from the linked folder: `packages/shop`. */
export interface PlaceInProject {
  readonly project: ProjectId;
  /** Empty for the linked folder itself; with `/` between its names. */
  readonly path: string;
}

/** What a repository says of a folder in it and of those above, and where it was cloned from. */
interface Named {
  readonly identities: readonly ProjectIdentity[];
  /** On this machine. */
  readonly origin: string | undefined;
}

/** So many clones of clones are looked at. */
const CLONES_MAX = 5;

/**
 * Which linked project a folder belongs to: that of the nearest linked folder above it, else that
 * of the linked folder at the same place in another working tree of the same repository. In a
 * repository inside such a folder, as a submodule is, the project counts first that this repository
 * names, or the one on this machine that it is a clone of. Undefined for a folder of no linked
 * project. One git process for each folder; some more for each repository inside.
 */
export class FolderProjects {
  readonly #git: Git;
  readonly #trees = new Map<string, Promise<WorkingTree | undefined>>();
  readonly #named = new Map<string, Promise<Named>>();

  constructor(git: Git) {
    this.#git = git;
  }

  async find(folder: string, links: readonly Link[]): Promise<PlaceInProject | undefined> {
    const real = await realPathOf(folder);
    const above = nearest(links, (link) => pathBelow(link.dir, real));
    if (above && !(await isInRepositoryBelow(above.dir, real))) return placeOf(above, real);
    const tree = await this.#treeOf(real);
    if (!tree) return above && placeOf(above, real);
    const inside = pathIn(tree, real);
    const shared = await this.#sharing(tree, inside, links);
    if (shared) return shared;
    const around = above ? placeOf(above, real) : await this.#around(tree, inside, links);
    return around && ((await this.#cloned(tree, inside, { links })) ?? around);
  }

  /** The same, also for a folder that is in nothing but another clone of a linked repository. */
  async findAnywhere(folder: string, links: readonly Link[]): Promise<PlaceInProject | undefined> {
    const found = await this.find(folder, links);
    const real = await realPathOf(folder);
    const tree = found ? undefined : await this.#treeOf(real);
    return tree ? await this.#cloned(tree, pathIn(tree, real), { links }) : found;
  }

  /** Folders may have become others. */
  forget(): void {
    this.#trees.clear();
    this.#named.clear();
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
    return found && placeIn(found, relative(linkedAt.get(found) ?? "", inside));
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
  ): Promise<PlaceInProject | undefined> {
    const ids = links.map(({ projectId }) => projectId);
    const { identities, origin } = await this.#nameOf(tree, inside);
    for (const seen of identities) {
      const identity = identityAmong(seen, ids);
      if (identity.kind === "none") continue;
      const linked = links.find(({ projectId }) => projectId === identity.projectId);
      if (linked) return placeIn(linked, relative(identity.pathInside, inside));
    }
    const other = origin === undefined || rest === 0 ? undefined : await this.#treeOf(origin);
    if (!other || other.root !== origin) return undefined;
    const shared = await this.#sharing(other, inside, links);
    return shared ?? (await this.#cloned(other, inside, { links, rest: rest - 1 }));
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

/** The way from the top of a working tree down to a folder, with `/` between its names. */
function pathIn({ root }: WorkingTree, folder: string): string {
  return relative(root, folder).split(sep).join("/");
}

function placeOf(link: Link, folder: string): PlaceInProject {
  return placeIn(link, relative(link.dir, folder));
}

function placeIn({ projectId: project }: Link, path: string): PlaceInProject {
  return { project, path: path.split(sep).join("/") };
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
