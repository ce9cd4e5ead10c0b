import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import { assert } from "../../shared/errors.ts";
import { base32, type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { LIMITS, utf8Bytes } from "../../shared/limits.ts";
import { defaultBranchOf, defaultCommitsOf } from "./default-branch.ts";
import { readRefs } from "./git-refs.ts";
import { isAtKnownHost, parseRemoteUrl, type RemotePlace, withoutGitSuffix } from "./remote-url.ts";
import { type Git, GitTrouble, gitOutput, troubleOf } from "./run-git.ts";
import {
  findWorkingTree,
  mainFolder,
  orUnknown,
  pathInsideOf,
  realPathOf,
  type WorkingTree,
} from "./working-tree.ts";

/** Which project a folder is, from what every clone of its repository shares. */
export type ProjectIdentity =
  /** Evidence, the stronger kind first: the `origin` URL, or the repository's first commit. */
  | {
      readonly kind: "origin" | "root-commit";
      readonly projectId: ProjectId;
      /**
       * What the same URL gave before letter case and `insteadOf` were seen through, where that is
       * another one: links of that time have it.
       */
      readonly formerId?: ProjectId;
      /** Suggested name of the project; at most `LIMITS.projectNameBytes`. */
      readonly name: string;
      /** Top level of the working tree. */
      readonly root: string;
      /** The folder from there, with "/"; "" for the top level itself. */
      readonly pathInside: string;
      /** The repository's first commit, where that is the evidence. */
      readonly rootCommit?: string;
    }
  /** No evidence: the caller takes a random id, and asks again later. */
  | {
      readonly kind: "none";
      readonly why: "no-git" | "no-commit" | "shallow" | "unknown";
      /** For `unknown`: what git said. */
      readonly reason?: string;
      readonly name: string;
      readonly root?: string;
      readonly pathInside?: string;
    };

/**
 * The identity of `folder`, the same in every clone and linked worktree. A remote not named
 * `origin` is no evidence: names like `upstream` or `fork` mean something else in each clone.
 * Never rejects for what git says. Two or three git processes with an origin, at most six without.
 */
export async function identifyProject(git: Git, folder: string): Promise<ProjectIdentity> {
  const real = await realPathOf(folder);
  const search = await findWorkingTree(git, real);
  const none = { kind: "none", name: projectName(basename(real), "") } as const;
  if (search.kind === "no-git") return { ...none, why: "no-git" };
  if (search.kind === "unknown") return { ...none, why: "unknown", reason: search.reason };
  const pathInside = pathInsideOf(search.tree, real);
  if (pathInside === undefined) return { ...none, why: "no-git" };
  const found = await orUnknown(() => identifyIn(git, search.tree, pathInside));
  if (found.kind !== "unknown") return found;
  const { root } = search.tree;
  return { ...none, why: "unknown", reason: found.reason, root, pathInside };
}

async function identifyIn(
  git: Git,
  tree: WorkingTree,
  pathInside: string,
): Promise<ProjectIdentity> {
  const place = { root: tree.root, pathInside };
  const url = await originOf(git, tree);
  if (url !== undefined) {
    const { text, written, former } = await comparableUrl(git, url, tree);
    const name = projectName(basename(written), pathInside);
    const projectId = projectIdOf("origin", text, pathInside);
    const formerId = former === text ? undefined : projectIdOf("origin", former, pathInside);
    return { kind: "origin", projectId, ...(formerId && { formerId }), name, ...place };
  }
  const name = projectName(withoutGitSuffix(basename(mainFolder(tree))), pathInside);
  // A shallow clone's oldest commit is wherever its history was cut off.
  if (tree.shallow) return { kind: "none", why: "shallow", name, ...place };
  const root = await rootCommitOf(git, tree);
  if (root === undefined) return { kind: "none", why: "no-commit", name, ...place };
  const projectId = projectIdOf("root-commit", root, pathInside);
  return { kind: "root-commit", projectId, name, rootCommit: root, ...place };
}

/** The URL that git would fetch from, `insteadOf` applied, so that shorthands compare equal. */
async function originOf(git: Git, tree: WorkingTree): Promise<string | undefined> {
  const result = await git(tree.root, ["remote", "get-url", "origin"]);
  if (result.kind === "refused" && /No such remote/.test(result.message)) return undefined;
  if (result.kind !== "done") throw new GitTrouble(troubleOf(result));
  const url = result.stdout.toString("utf8").trim();
  // A remote without a URL is printed as its own name.
  return url === "" || url === "origin" ? undefined : url;
}

/** A remote's URL as it compares between clones. */
interface ComparableUrl {
  readonly text: string;
  /** The same with its own case of letters. */
  readonly written: string;
  /** What it was compared by before. */
  readonly former: string;
}

async function comparableUrl(git: Git, url: string, tree: WorkingTree): Promise<ComparableUrl> {
  const place = parseRemoteUrl(url);
  const fetched = await textOf(place, tree);
  if (isAtKnownHost(place)) return { ...fetched, former: fetched.written };
  // A mirror, say, that this machine alone goes by.
  const configured = parseRemoteUrl((await configuredOrigin(git, tree)) ?? url);
  const meant = isAtKnownHost(configured) ? await textOf(configured, tree) : fetched;
  return { ...meant, former: fetched.written };
}

async function textOf(place: RemotePlace, tree: WorkingTree) {
  if (place.kind === "network") return { text: place.text, written: place.written ?? place.text };
  // A relative one is relative to the main checkout, or a linked worktree would be another project.
  const real = await realPathOf(resolve(mainFolder(tree), place.path));
  const text = `file:${withoutGitSuffix(real)}`;
  return { text, written: text };
}

/** The URL as it is configured, without `insteadOf`. */
async function configuredOrigin(git: Git, tree: WorkingTree): Promise<string | undefined> {
  const result = await git(tree.root, ["config", "--get-all", "remote.origin.url"]);
  // A remote may be configured by other means.
  if (result.kind === "refused") return undefined;
  if (result.kind !== "done") throw new GitTrouble(troubleOf(result));
  return result.stdout.toString("utf8").split("\n")[0]?.trim() || undefined;
}

/**
 * The identity by the name that it has among `known` ids: what was linked or derived before stays
 * what it is.
 */
export function identityAmong(
  identity: ProjectIdentity,
  known: readonly (string | undefined)[],
): ProjectIdentity {
  if (identity.kind === "none" || identity.formerId === undefined) return identity;
  if (!known.includes(identity.formerId)) return identity;
  const { formerId, ...rest } = identity;
  return { ...rest, projectId: formerId };
}

/**
 * The first commit of the default branch's line of first parents: of several roots the one that
 * merging in another project's history does not change. Without a default branch, HEAD's.
 */
async function rootCommitOf(git: Git, tree: WorkingTree): Promise<string | undefined> {
  const refs = await readRefs(git, tree);
  const branch = await defaultBranchOf(git, tree, refs);
  const [tip = refs.head.commit] = await defaultCommitsOf(git, tree, {
    refs,
    defaultBranch: branch,
  });
  if (tip === undefined) return undefined;
  const asked = ["--no-replace-objects", "rev-list", "--first-parent", "--max-parents=0", tip];
  const printed = await gitOutput(git, tree.root, { args: asked });
  const commit = String(printed).split("\n")[0];
  return commit === "" ? undefined : commit;
}

/**
 * The commit that the repository of `folder` began with: the same in all its clones and forks,
 * whatever their URLs. Undefined where that can't be known. Never rejects for what git says.
 */
export async function findRootCommit(git: Git, folder: string): Promise<string | undefined> {
  const search = await findWorkingTree(git, folder);
  if (search.kind !== "tree" || search.tree.shallow) return undefined;
  const found = await orUnknown(async () => ({ root: await rootCommitOf(git, search.tree) }));
  return "root" in found ? found.root : undefined;
}

/** Hashed with what kind of evidence it is, so that no two kinds can give one id. */
function projectIdOf(kind: string, evidence: string, pathInside: string): ProjectId {
  // macOS may hand out the same folder name in another Unicode form.
  const text = `memsync project ${kind}\n${evidence}\n${pathInside.normalize("NFC")}`;
  const digest = createHash("sha256").update(text).digest();
  const id = parseProjectId(`proj_${base32(digest).slice(0, 26)}`);
  assert(id !== undefined, "base32 makes a project id");
  return id;
}

function projectName(repository: string, pathInside: string): string {
  const name = pathInside === "" ? repository : `${repository}/${pathInside}`;
  let kept = "";
  let bytes = 0;
  for (const character of name === "" ? "project" : name) {
    bytes += utf8Bytes(character);
    if (bytes > LIMITS.projectNameBytes) break;
    kept += character;
  }
  return kept;
}
