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

/** Which project a folder is, derived from what all clones of its repository share. */
export type ProjectIdentity =
  /**
   * Found by the `origin` URL, which is the stronger evidence, or by the repository's first commit.
   */
  | {
      readonly kind: "origin" | "root-commit";
      readonly projectId: ProjectId;
      /**
       * The id that older versions derived from the same URL, without regard to letter case and
       * `insteadOf`, if it differs. Older links have it.
       */
      readonly formerId?: ProjectId;
      /** Suggested name of the project; at most `LIMITS.projectNameBytes`. */
      readonly name: string;
      /** Top level of the working tree. */
      readonly root: string;
      /** The folder's path from there, with "/"; "" for the top level itself. */
      readonly pathInside: string;
      /** The repository's first commit, if that is the evidence. */
      readonly rootCommit?: string;
    }
  /** No evidence: the caller takes a random id and asks again later. */
  | {
      readonly kind: "none";
      readonly why: "no-git" | "no-commit" | "shallow" | "unknown";
      readonly name: string;
      readonly root?: string;
      readonly pathInside?: string;
    };

/**
 * The identity of `folder`, the same in every clone and linked worktree. Only a remote named
 * `origin` counts, because names like `upstream` or `fork` mean something else in each clone. Never
 * rejects because of git. Two or three git processes with an origin, at most six without.
 */
export async function identifyProject(git: Git, folder: string): Promise<ProjectIdentity> {
  const real = await realPathOf(folder);
  const search = await findWorkingTree(git, real);
  const none = { kind: "none", name: projectName(basename(real), "") } as const;
  if (search.kind === "no-git") return { ...none, why: "no-git" };
  if (search.kind === "unknown") return { ...none, why: "unknown" };
  const pathInside = pathInsideOf(search.tree, real);
  if (pathInside === undefined) return { ...none, why: "no-git" };
  const found = await orUnknown(() => identifyIn(git, search.tree, pathInside));
  if (found.kind !== "unknown") return found;
  const { root } = search.tree;
  return { ...none, why: "unknown", root, pathInside };
}

/**
 * The identities of a folder of a working tree and of each one above it, the nearest first; none
 * where git can't say. As many git processes as for one.
 */
export async function identifyUpwards(
  git: Git,
  tree: WorkingTree,
  pathInside: string,
): Promise<ProjectIdentity[]> {
  const identify = await orUnknown(() => identifierIn(git, tree));
  if (typeof identify !== "function") return [];
  const steps = pathInside === "" ? [] : pathInside.split("/");
  const paths = [...steps.keys(), steps.length].map((count) => steps.slice(0, count).join("/"));
  return paths.reverse().map(identify);
}

/**
 * The project that a path of a working tree names, whether or not a folder is there. Undefined
 * where git can't say.
 */
export async function projectAt(
  git: Git,
  root: string,
  pathInside: string,
): Promise<ProjectId | undefined> {
  const search = await findWorkingTree(git, root);
  if (search.kind !== "tree") return undefined;
  const found = await orUnknown(() => identifyIn(git, search.tree, pathInside));
  return found.kind === "unknown" || found.kind === "none" ? undefined : found.projectId;
}

/**
 * The folder on this machine of which a working tree is a clone, as a submodule of a repository
 * beside it is. Undefined where the origin is elsewhere, or there is none.
 */
export async function localOriginOf(git: Git, tree: WorkingTree): Promise<string | undefined> {
  const found = await orUnknown(async () => ({ url: await originOf(git, tree) }));
  const place = "url" in found && found.url !== undefined ? parseRemoteUrl(found.url) : undefined;
  return place?.kind === "local" ? await localPathOf(place, tree) : undefined;
}

async function identifyIn(
  git: Git,
  tree: WorkingTree,
  pathInside: string,
): Promise<ProjectIdentity> {
  return (await identifierIn(git, tree))(pathInside);
}

/** Says which project a folder of this working tree is, by its path in there. */
async function identifierIn(
  git: Git,
  tree: WorkingTree,
): Promise<(pathInside: string) => ProjectIdentity> {
  const { root } = tree;
  const url = await originOf(git, tree);
  if (url !== undefined) {
    const { text, written, former } = await comparableUrl(git, url, tree);
    return (pathInside) => {
      const name = projectName(nameIn(written), pathInside);
      const projectId = projectIdOf("origin", text, pathInside);
      const formerId = former === text ? undefined : projectIdOf("origin", former, pathInside);
      return { kind: "origin", projectId, ...(formerId && { formerId }), name, root, pathInside };
    };
  }
  const nameOf = (pathInside: string) =>
    projectName(withoutGitSuffix(basename(mainFolder(tree))), pathInside);
  const none = (why: "shallow" | "no-commit") => (pathInside: string) =>
    ({ kind: "none", why, name: nameOf(pathInside), root, pathInside }) as const;
  // A shallow clone's oldest commit is only where its history was cut off.
  if (tree.shallow) return none("shallow");
  const rootCommit = await rootCommitOf(git, tree);
  if (rootCommit === undefined) return none("no-commit");
  return (pathInside) => {
    const projectId = projectIdOf("root-commit", rootCommit, pathInside);
    return {
      kind: "root-commit",
      projectId,
      name: nameOf(pathInside),
      rootCommit,
      root,
      pathInside,
    };
  };
}

/** The last part of a URL, without what tells who fetches from it. */
function nameIn(url: string): string {
  return basename(withoutGitSuffix(url.replace(/[?#].*$/s, ""))).replace(/^[^@]*:.*@/s, "");
}

/**
 * The URL that git would fetch from, with `insteadOf` applied, so that shorthands compare equal.
 */
async function originOf(git: Git, tree: WorkingTree): Promise<string | undefined> {
  const result = await git(tree.root, ["remote", "get-url", "origin"]);
  if (result.kind === "refused" && result.code === "no-such-remote") return undefined;
  if (result.kind !== "done") throw new GitTrouble(troubleOf(result));
  const url = result.stdout.toString("utf8").trim();
  // git prints a remote without a URL as its own name.
  return url === "" || url === "origin" ? undefined : url;
}

/** A remote's URL in forms that are equal in all clones. */
interface ComparableUrl {
  readonly text: string;
  /** The same with its original case of letters. */
  readonly written: string;
  /** The form that older versions compared. */
  readonly former: string;
}

async function comparableUrl(git: Git, url: string, tree: WorkingTree): Promise<ComparableUrl> {
  const place = parseRemoteUrl(url);
  const fetched = await textOf(place, tree);
  if (isAtKnownHost(place)) return { ...fetched, former: fetched.written };
  // `insteadOf` may lead to a mirror that only this machine uses.
  const configured = parseRemoteUrl((await configuredOrigin(git, tree)) ?? url);
  const meant = isAtKnownHost(configured) ? await textOf(configured, tree) : fetched;
  return { ...meant, former: fetched.written };
}

async function textOf(place: RemotePlace, tree: WorkingTree) {
  if (place.kind === "network") return { text: place.text, written: place.written ?? place.text };
  const text = `file:${withoutGitSuffix(await localPathOf(place, tree))}`;
  return { text, written: text };
}

/**
 * A relative path is relative to the main checkout; otherwise a linked worktree would be a project
 * of its own.
 */
async function localPathOf(
  { path }: Extract<RemotePlace, { readonly kind: "local" }>,
  tree: WorkingTree,
): Promise<string> {
  return await realPathOf(resolve(mainFolder(tree), path));
}

/** The configured URL, without `insteadOf`. */
async function configuredOrigin(git: Git, tree: WorkingTree): Promise<string | undefined> {
  const result = await git(tree.root, ["config", "--get-all", "remote.origin.url"]);
  // A remote may be configured in other ways.
  if (result.kind === "refused") return undefined;
  if (result.kind !== "done") throw new GitTrouble(troubleOf(result));
  return result.stdout.toString("utf8").split("\n")[0]?.trim() || undefined;
}

/**
 * The identity under the id by which it is known, if one of `known` is its former one. What was
 * linked before keeps its id.
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
 * The first commit on the default branch's line of first parents. Of several roots, it is the one
 * that merging another project's history does not change. Without a default branch, HEAD's.
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
 * The first commit of the repository of `folder`: the same in all clones and forks, whatever their
 * URLs. Undefined where that is unknown. Never rejects because of git.
 */
export async function findRootCommit(git: Git, folder: string): Promise<string | undefined> {
  const search = await findWorkingTree(git, folder);
  if (search.kind !== "tree" || search.tree.shallow) return undefined;
  const found = await orUnknown(async () => ({ root: await rootCommitOf(git, search.tree) }));
  return "root" in found ? found.root : undefined;
}

/** The kind of evidence is hashed, too, so that no two kinds can give the same id. */
function projectIdOf(kind: string, evidence: string, pathInside: string): ProjectId {
  // macOS may return the same folder name in another Unicode form.
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
