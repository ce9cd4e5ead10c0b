import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { type Git, GitTrouble, gitOutput } from "./run-git.ts";
import type { WorkingTree } from "./working-tree.ts";

/** What a working tree has checked out. */
export interface Head {
  /** Short name of the branch; undefined when HEAD is detached. */
  readonly branch: string | undefined;
  /** Undefined on a branch without a commit. */
  readonly commit: string | undefined;
}

/** HEAD and the refs that decide the default branch, read at one moment. */
export interface Refs {
  readonly head: Head;
  /** Commits by the ref's full name: the requested refs that exist, and refs below them. */
  readonly commits: ReadonlyMap<string, string>;
  /** Full name of the ref that `refs/remotes/origin/HEAD` points to, if that exists. */
  readonly originHead: string | undefined;
  /** `CHERRY_PICK_HEAD` and the like where they are refs and not files (the reftable format). */
  readonly operationRefs: ReadonlySet<string>;
  /** Another object stands for one of the repository's (git-replace(1)). */
  readonly isReplacing: boolean;
}

export const BRANCHES = "refs/heads/";
export const ORIGIN_BRANCHES = "refs/remotes/origin/";
const ORIGIN_HEAD = `${ORIGIN_BRANCHES}HEAD`;
/** Usual names of a default branch, in order, where nothing says which one it is. */
export const USUAL_DEFAULTS = ["main", "master"] as const;

const REPLACEMENTS = "refs/replace/";

const ASKED = [
  ORIGIN_HEAD,
  REPLACEMENTS,
  ...USUAL_DEFAULTS.flatMap((name) => [`${BRANCHES}${name}`, `${ORIGIN_BRANCHES}${name}`]),
];
const OPERATION_REFS = ["CHERRY_PICK_HEAD", "REVERT_HEAD"];
/** What `HEAD` contains in the reftable format (gitrepository-layout). */
const REFTABLE_HEAD = "ref: refs/heads/.invalid";

/** One git process; two in the reftable format. Throws `GitTrouble`. */
export async function readRefs(git: Git, tree: WorkingTree): Promise<Refs> {
  const text = (await readHeadFile(tree)).trim();
  if (text === REFTABLE_HEAD) return readReftable(git, tree);
  const target = text.startsWith("ref:") ? text.slice(4).trim() : undefined;
  // What follows becomes an argument of git, so it must be a ref or an object id.
  if (!/^(refs\/.+|[0-9a-f]{40,64})$/.test(target ?? text)) {
    throw new GitTrouble({ trouble: "odd-head" });
  }
  const found = await lookUp(git, tree, {
    names: target === undefined ? ASKED : [...ASKED, target],
  });
  const commit = target === undefined ? text : found.commits.get(target);
  return { ...found, head: { branch: shortName(target), commit }, operationRefs: new Set() };
}

async function readReftable(git: Git, tree: WorkingTree): Promise<Refs> {
  // Exit code 1: a detached HEAD.
  const symbolic = await gitOutput(git, tree.root, {
    args: ["symbolic-ref", "-q", "HEAD"],
    absent: [1],
  });
  const target = symbolic?.toString("utf8").trim();
  const roots = ["HEAD", ...OPERATION_REFS];
  const found = await lookUp(git, tree, {
    names: [...ASKED, ...roots],
    options: ["--include-root-refs"],
  });
  return {
    ...found,
    head: { branch: shortName(target), commit: found.commits.get("HEAD") },
    operationRefs: new Set(OPERATION_REFS.filter((name) => found.commits.has(name))),
  };
}

function shortName(ref: string | undefined): string | undefined {
  return ref?.startsWith(BRANCHES) ? ref.slice(BRANCHES.length) : ref;
}

/** The commits of those of these refs that exist. One git process. Throws `GitTrouble`. */
export async function commitsOf(
  git: Git,
  tree: WorkingTree,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return (await lookUp(git, tree, { names })).commits;
}

async function lookUp(
  git: Git,
  tree: WorkingTree,
  {
    names,
    options = [],
  }: { readonly names: readonly string[]; readonly options?: readonly string[] | undefined },
): Promise<Pick<Refs, "commits" | "originHead" | "isReplacing">> {
  const format = "--format=%(refname) %(objectname) %(symref)";
  const printed = await gitOutput(git, tree.root, {
    args: ["for-each-ref", ...options, format, ...names],
  });
  const commits = new Map<string, string>();
  let originHead: string | undefined;
  let isReplacing = false;
  for (const line of String(printed).split("\n")) {
    const [name, commit, target] = line.split(" ");
    if (name === undefined || commit === undefined) continue;
    commits.set(name, commit);
    if (name === ORIGIN_HEAD && target) originHead = target;
    isReplacing ||= name.startsWith(REPLACEMENTS);
  }
  return { commits, originHead, isReplacing };
}

/**
 * A text that changes whenever HEAD moves to another branch or commit. Comparing two of them tells,
 * without a process, that HEAD did not move. It may also change for harmless reasons, as when refs
 * are packed. Throws `GitTrouble` where there is no HEAD.
 */
export async function headSignature(tree: WorkingTree): Promise<string> {
  const head = (await readHeadFile(tree)).trim();
  const read = (folder: string, name: string) =>
    readFile(join(folder, name), "utf8").catch(() => "");
  if (head === REFTABLE_HEAD) {
    const lists = [tree.gitDir, tree.commonDir].map((each) => read(each, "reftable/tables.list"));
    return [head, ...(await Promise.all(lists))].join("\n");
  }
  if (!head.startsWith("ref:")) return head;
  const target = head.slice(4).trim();
  const loose = await read(tree.commonDir, target);
  return [head, loose === "" ? await read(tree.commonDir, "packed-refs") : loose].join("\n");
}

async function readHeadFile(tree: WorkingTree): Promise<string> {
  try {
    return await readFile(join(tree.gitDir, "HEAD"), "utf8");
  } catch (thrown) {
    throw new GitTrouble({ trouble: "refused", said: messageOf(thrown) });
  }
}
