import { relative, sep } from "node:path";
import type { ProjectId } from "../../../shared/ids.ts";
import { identifyProject, identityAmong, type ProjectIdentity } from "../../git/identity.ts";
import type { Git } from "../../git/run-git.ts";
import {
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

/**
 * Which linked project a folder belongs to: that of the nearest linked folder above it, else that
 * of the linked folder at the same place in another working tree of the same repository. In a
 * repository inside a linked folder, as a submodule is, the project counts first that this
 * repository names. Undefined for a folder of no linked project. One git process for each folder,
 * and for each link; some more for each repository inside a linked folder.
 */
export class FolderProjects {
  readonly #git: Git;
  readonly #trees = new Map<string, Promise<WorkingTree | undefined>>();
  readonly #identities = new Map<string, Promise<ProjectIdentity>>();

  constructor(git: Git) {
    this.#git = git;
  }

  async find(folder: string, links: readonly Link[]): Promise<PlaceInProject | undefined> {
    const real = await realPathOf(folder);
    const above = nearest(links, (link) => pathBelow(link.dir, real));
    if (above) return (await this.#placeApart(above, real, links)) ?? placeOf(above, real);
    const tree = await this.#treeOf(real);
    if (!tree) return undefined;
    const inside = relative(tree.root, real);
    const trees = new Map<Link, WorkingTree>();
    for (const link of links) {
      const other = await this.#treeOf(link.dir);
      if (other?.commonDir === tree.commonDir) trees.set(link, other);
    }
    const linkedAt = (link: Link) => relative(trees.get(link)?.root ?? link.dir, link.dir);
    const found = nearest([...trees.keys()], (link) => pathBelow(linkedAt(link), inside));
    return found && placeIn(found, relative(linkedAt(found), inside));
  }

  /** Folders may have become others. */
  forget(): void {
    this.#trees.clear();
    this.#identities.clear();
  }

  /** Undefined where the folder is in no repository of its own, and where nobody linked that. */
  async #placeApart(
    above: Link,
    folder: string,
    links: readonly Link[],
  ): Promise<PlaceInProject | undefined> {
    if (!(await isInRepositoryBelow(above.dir, folder))) return undefined;
    const tree = await this.#treeOf(folder);
    if (!tree) return undefined;
    const seen = this.#identities.get(tree.root) ?? identifyProject(this.#git, tree.root);
    this.#identities.set(tree.root, seen);
    const ids = links.map(({ projectId }) => projectId);
    const identity = identityAmong(await seen, ids);
    const linked = links.find((each) => {
      return identity.kind !== "none" && each.projectId === identity.projectId;
    });
    return linked && placeIn(linked, relative(tree.root, folder));
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
