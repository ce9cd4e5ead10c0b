import { createHash } from "node:crypto";

/** What git keeps of one state of a project: the blobs of its files by their paths. */
export type Tree = ReadonlyMap<string, string>;

/** One commit. */
export interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly tree: Tree;
  readonly subject: string;
}

/** The objects of a project, which all its clones share. */
export class ObjectStore {
  /** The branches of the repository that all clones push to and pull from. */
  readonly origin = new Map<string, string>();
  readonly #commits = new Map<string, Commit>();
  readonly #blobs = new Map<string, Buffer>();

  blob(bytes: Buffer): string {
    const id = idOf("blob", bytes);
    this.#blobs.set(id, bytes);
    return id;
  }

  readBlob(id: string): Buffer | undefined {
    return this.#blobs.get(id);
  }

  commit(parents: readonly string[], tree: Tree, subject: string): string {
    const number = this.#commits.size;
    const id = idOf("commit", JSON.stringify([number, parents, [...tree], subject]));
    this.#commits.set(id, { id, parents, tree, subject });
    return id;
  }

  find(id: string): Commit | undefined {
    return this.#commits.get(id);
  }

  get(id: string): Commit {
    const commit = this.find(id);
    if (!commit) throw new Error(`there is no commit ${id}`);
    return commit;
  }

  /** A commit and all before it, children first. */
  history(id: string): Commit[] {
    const found = new Set<string>();
    const open = [id];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (found.has(at)) continue;
      found.add(at);
      open.push(...this.get(at).parents);
    }
    // A commit is made after its parents.
    return [...this.#commits.values()].filter((commit) => found.has(commit.id)).reverse();
  }

  isAncestor(one: string, other: string): boolean {
    return this.history(other).some(({ id }) => id === one);
  }
}

function idOf(kind: string, content: string | Buffer): string {
  return createHash("sha1").update(`${kind}\n`).update(content).digest("hex");
}
