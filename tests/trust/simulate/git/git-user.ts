import { join } from "node:path";
import type { Owner, Scheduler } from "../scheduler.ts";
import type { Tree } from "./objects.ts";
import type { Repository } from "./repository.ts";

const STASH = "refs/stash";
const ORIGIN_MAIN = "refs/remotes/origin/main";
export const MAIN = "main";

/** People go on whatever happens to processes. */
const PEOPLE: Owner = { alive: true };

/** What git's commands need beside a clone. */
export interface GitUserOptions {
  readonly repository: () => Repository;
  readonly scheduler: Scheduler;
  /** How long a step takes. */
  readonly stepMs: () => number;
  /** git put another text where a name leads, or took the file away. */
  readonly onTouched: (path: string, before: string, after: string) => void;
  /** Something that a watch sees was changed. */
  readonly onChanged: () => void;
}

/**
 * Git's commands as somebody runs them in a clone, one after another. Each writes as git does:
 * under the index's lock first the files, then the index; then HEAD. False: git would refuse.
 */
export class GitUser {
  readonly #options: GitUserOptions;

  constructor(options: GitUserOptions) {
    this.#options = options;
  }

  get repository(): Repository {
    return this.#options.repository();
  }

  /** `git add` of everything that is tracked, or named, and `git commit`. */
  commit(subject: string, added: readonly string[] = []): Promise<boolean> {
    return this.#locked(async (repository) => {
      const { branch, commit } = repository.head;
      const tree = this.#worktree(repository, added);
      if (branch === undefined || isEqual(tree, treeOf(repository, commit))) return false;
      repository.index = tree;
      await this.#step();
      const parents = commit === undefined ? [] : [commit];
      repository.setBranch(
        branch,
        repository.objects.commit(parents, tree, subject),
        `commit: ${subject}`,
      );
      return true;
    });
  }

  amend(): Promise<boolean> {
    return this.#locked(async (repository) => {
      const { branch, commit } = repository.head;
      if (branch === undefined || commit === undefined) return false;
      const { parents, subject } = repository.objects.get(commit);
      const tree = this.#worktree(repository, []);
      repository.index = tree;
      await this.#step();
      const amended = repository.objects.commit(parents, tree, `${subject} again`);
      repository.setBranch(branch, amended, `commit (amend): ${subject}`);
      return true;
    });
  }

  /** `create`: `git checkout -b`, which touches no file. */
  checkout(branch: string, create = false): Promise<boolean> {
    return this.#locked(async (repository) => {
      const { branch: from, commit } = repository.head;
      const to = create ? commit : repository.read(`refs/heads/${branch}`);
      if (to === undefined || from === branch) return false;
      if (create && repository.read(`refs/heads/${branch}`) !== undefined) return false;
      if (!(await this.#bring(repository, repository.objects.get(to).tree))) return false;
      if (create) repository.setBranch(branch, to, `branch: Created from ${from}`);
      repository.setHead(branch, `checkout: moving from ${from} to ${branch}`);
      return true;
    });
  }

  /** A fast-forward, or a merge of what does not touch the same files. */
  merge(name: string): Promise<boolean> {
    return this.#locked(async (repository) => {
      const commit = repository.read(`refs/heads/${name}`) ?? repository.read(name);
      return commit !== undefined && (await this.#mergeInto(repository, commit, `merge ${name}`));
    });
  }

  async #mergeInto(repository: Repository, theirs: string, why: string): Promise<boolean> {
    const { objects, head } = repository;
    const { branch, commit: ours } = head;
    if (branch === undefined || ours === undefined || objects.isAncestor(theirs, ours))
      return false;
    if (objects.isAncestor(ours, theirs)) {
      if (!(await this.#bring(repository, objects.get(theirs).tree))) return false;
      repository.setBranch(branch, theirs, `${why}: Fast-forward`);
      return true;
    }
    const base = objects.history(ours).find(({ id }) => objects.isAncestor(id, theirs));
    const tree = mergeTrees(
      base?.tree ?? new Map(),
      objects.get(ours).tree,
      objects.get(theirs).tree,
    );
    if (!tree || !(await this.#bring(repository, tree))) return false;
    const merged = objects.commit([ours, theirs], tree, why);
    repository.setBranch(branch, merged, `${why}: Merge made`);
    return true;
  }

  fetch(): boolean {
    const main = this.repository.objects.origin.get(MAIN);
    if (main === undefined) return false;
    this.repository.setRemote(ORIGIN_MAIN, main, "fetch: fast-forward");
    return true;
  }

  async pull(): Promise<boolean> {
    if (!this.fetch()) return false;
    return await this.#locked(async (repository) => {
      const commit = repository.read(ORIGIN_MAIN);
      if (commit === undefined || repository.head.branch !== MAIN) return false;
      return await this.#mergeInto(repository, commit, "pull");
    });
  }

  /** False where `origin` has what this clone does not. */
  push(): boolean {
    const { objects, head } = this.repository;
    const there = objects.origin.get(MAIN);
    if (head.branch !== MAIN || head.commit === undefined) return false;
    if (there !== undefined && !objects.isAncestor(there, head.commit)) return false;
    objects.origin.set(MAIN, head.commit);
    this.repository.setRemote(ORIGIN_MAIN, head.commit, "update by push");
    return true;
  }

  resetHard(to: string): Promise<boolean> {
    return this.#locked(async (repository) => {
      const { branch } = repository.head;
      if (branch === undefined) return false;
      await this.#bring(repository, repository.objects.get(to).tree, true);
      repository.setBranch(branch, to, `reset: moving to ${to}`);
      return true;
    });
  }

  /** `git stash -u`: what is changed, or not tracked, goes away. */
  stash(untracked: readonly string[]): Promise<boolean> {
    return this.#locked(async (repository) => {
      const { commit } = repository.head;
      if (commit === undefined || repository.read(STASH) !== undefined) return false;
      const there = untracked.filter(
        (path) => this.#bytes(repository, path) && !this.#isIgnored(repository, path),
      );
      const tree = this.#worktree(repository, there);
      const head = treeOf(repository, commit);
      if (isEqual(tree, head)) return false;
      const stashed = repository.objects.commit([commit], tree, "WIP");
      repository.write(STASH, stashed);
      repository.write("logs/refs/stash", `${stashed}\t0\tWIP on ${repository.head.branch}\n`);
      await this.#bring(repository, head, true, there);
      return true;
    });
  }

  pop(): Promise<boolean> {
    return this.#locked(async (repository) => {
      const stashed = repository.read(STASH);
      if (stashed === undefined) return false;
      const { index } = repository;
      const { tree } = repository.objects.get(stashed);
      const changed = [...tree].filter(([path, blob]) => index.get(path) !== blob);
      const isFree = changed.every(([path]) => this.#blob(repository, path) === index.get(path));
      if (!isFree) return false;
      for (const [path, blob] of changed) await this.#put(repository, path, blob);
      repository.remove(STASH);
      repository.remove("logs/refs/stash");
      return true;
    });
  }

  /** Gives the working tree the files of a commit; those that were changed only by `force`. */
  async #bring(repository: Repository, tree: Tree, force = false, more: readonly string[] = []) {
    const { index } = repository;
    const paths = new Set([...index.keys(), ...tree.keys(), ...more]);
    const changed = [...paths].filter((path) => {
      const isWanted = force ? this.#blob(repository, path) : index.get(path);
      return isWanted !== tree.get(path);
    });
    const isClean = changed.every((path) => this.#blob(repository, path) === index.get(path));
    if (!isClean && !force) return false;
    for (const path of changed) await this.#put(repository, path, tree.get(path));
    await this.#step();
    repository.index = tree;
    // Before HEAD moves: for a moment another commit's files stand under the old name.
    repository.remove("index.lock");
    this.#options.onChanged();
    await this.#step();
    return true;
  }

  /** As git does: the old file goes, and a new one is written. */
  async #put(repository: Repository, path: string, blob: string | undefined): Promise<void> {
    const { volume, root, objects } = repository;
    const place = join(root, path);
    const before = volume.find(place)?.bytes.toString() ?? "";
    const bytes = blob === undefined ? undefined : objects.readBlob(blob);
    this.#options.onTouched(place, before, bytes?.toString() ?? "");
    if (volume.find(place)) volume.remove(place);
    await this.#step();
    if (bytes) volume.putByPerson(place, bytes);
    volume.flushFolder(root);
    this.#options.onChanged();
  }

  /** The index with the files as they are now. */
  #worktree(repository: Repository, added: readonly string[]): Tree {
    const paths = [...repository.index.keys(), ...added];
    const found = paths.map((path) => [path, this.#blob(repository, path)] as const);
    return new Map(found.flatMap(([path, blob]) => (blob === undefined ? [] : [[path, blob]])));
  }

  #bytes({ volume, root }: Repository, path: string): Buffer | undefined {
    return volume.find(join(root, path))?.bytes;
  }

  #blob(repository: Repository, path: string): string | undefined {
    const bytes = this.#bytes(repository, path);
    return bytes && repository.objects.blob(bytes);
  }

  #isIgnored(repository: Repository, path: string): boolean {
    return (repository.read("info/exclude") ?? "").split("\n").includes(path);
  }

  async #locked(command: (repository: Repository) => Promise<boolean>): Promise<boolean> {
    const { repository } = this;
    if (repository.read("index.lock") !== undefined) return false;
    repository.write("index.lock", "");
    try {
      await this.#step();
      return await command(repository);
    } finally {
      repository.remove("index.lock");
      this.#options.onChanged();
    }
  }

  #step(): Promise<void> {
    return this.#options.scheduler.pause(this.#options.stepMs(), PEOPLE);
  }
}

function treeOf({ objects }: Repository, commit: string | undefined): Tree {
  return commit === undefined ? new Map() : objects.get(commit).tree;
}

function isEqual(one: Tree, other: Tree): boolean {
  return one.size === other.size && [...one].every(([path, blob]) => other.get(path) === blob);
}

/** Undefined where both sides changed a file differently. */
function mergeTrees(base: Tree, ours: Tree, theirs: Tree): Tree | undefined {
  const merged = new Map<string, string>();
  for (const path of new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])) {
    const [was, mine, other] = [base, ours, theirs].map((tree) => tree.get(path));
    if (mine !== was && other !== was && mine !== other) return undefined;
    const blob = mine === was ? other : mine;
    if (blob !== undefined) merged.set(path, blob);
  }
  return merged;
}
