import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { FolderProjects } from "../../daemon/assistants/sessions/project-of-folder.ts";
import { identifyProject } from "../../daemon/git/identity.ts";
import type { Link } from "../../daemon/home/links.ts";
import { createGitSandbox, type GitSandbox } from "../support/git-sandbox.ts";
import { projectId } from "../support/project-id.ts";

setDefaultTimeout(60_000);

const ALLOW = ["-c", "protocol.file.allow=always"];

let git: GitSandbox;
let links: Link[];

beforeEach(() => {
  git = createGitSandbox();
  links = [];
});
afterEach(() => git.remove());

function link(name: string, dir: string): void {
  links = [...links, { dir, projectId: projectId(name), name, write: false }];
}

/** The project of a folder of the sandbox, in both ways in which it is asked. */
async function found(...names: readonly string[]): Promise<readonly (string | undefined)[]> {
  const projects = new FolderProjects(git.git);
  const folder = git.path(...names);
  const search = await projects.findAnywhere(folder, links);
  const unsure = search.kind === "unsure" ? `? ${search.links.map(({ name }) => name)}` : undefined;
  const lost = search.kind === "lost" ? `lost ${search.lost.kind}` : undefined;
  const anywhere = search.kind === "found" ? search.place : undefined;
  const [one, other] = [await projects.find(folder, links), anywhere].map((place) => {
    return place && [`${place.project}`, place.path].join(" ").trim();
  });
  return [one, other ?? unsure ?? lost];
}

async function addSubmodule(around: string, url: string, name: string): Promise<void> {
  await git.run(git.path(around), ...ALLOW, "submodule", "--quiet", "add", url, name);
  await git.run(git.path(around), "commit", "-qm", name);
}

test("a submodule of a repository on this machine is that one, by path and relative", async () => {
  const lib = await git.repository("lib", { "packages/api/a.ts": "" });
  const shop = await git.repository("shop", { "shop.ts": "" });
  await addSubmodule("shop", lib, "absolute");
  await addSubmodule("shop", "../lib", "relative");
  link("shop", shop);
  // As long as nobody linked it, it is a folder of the shop.
  expect(await found("shop", "relative")).toEqual(["proj_shop relative", "proj_shop relative"]);
  link("lib", lib);
  for (const name of ["absolute", "relative"]) {
    expect(await found("shop", name)).toEqual(["proj_lib", "proj_lib"]);
    const api = await found("shop", name, "packages", "api");
    expect(api).toEqual(["proj_lib packages/api", "proj_lib packages/api"]);
  }
  link("api", join(lib, "packages", "api"));
  expect(await found("shop", "relative", "packages", "api")).toEqual(["proj_api", "proj_api"]);
  expect(await found("shop")).toEqual(["proj_shop", "proj_shop"]);
});

test("a submodule whose repository is linked where it was cloned to, at one remove, is that one", async () => {
  await git.repository("lib", { "lib.ts": "" });
  await git.run(git.folder, "clone", "-q", "--bare", "lib", "lib.git");
  await git.run(git.folder, "clone", "-q", "lib.git", "mine");
  const shop = await git.repository("shop", { "shop.ts": "" });
  await addSubmodule("shop", "../mine", "lib");
  link("shop", shop);
  const identity = await identifyProject(git.git, git.path("mine"));
  if (identity.kind === "none") throw new Error("it has an origin");
  // Linked in another clone, which has nothing but its origin in common with `mine`.
  await git.run(git.folder, "clone", "-q", "lib.git", "other");
  links = [...links, { ...(links[0] as Link), dir: git.path("other"), ...identity }];
  expect(await found("shop", "lib")).toEqual([identity.projectId, identity.projectId]);
});

test("a submodule in a worktree that nobody linked is that of its repository, or of the worktree", async () => {
  const lib = await git.repository("lib", { "lib.ts": "" });
  const shop = await git.repository("shop", { "shop.ts": "" });
  await addSubmodule("shop", "../lib", "lib");
  await git.run(shop, "worktree", "add", "-q", git.path("hotfix"));
  await git.run(git.path("hotfix"), ...ALLOW, "submodule", "--quiet", "update", "--init");
  link("shop", shop);
  expect(await found("hotfix")).toEqual(["proj_shop", "proj_shop"]);
  expect(await found("hotfix", "lib")).toEqual(["proj_shop lib", "proj_shop lib"]);
  link("lib", lib);
  expect(await found("hotfix", "lib")).toEqual(["proj_lib", "proj_lib"]);
});

test("a linked folder of a monorepo is the same one in a worktree, and in another clone", async () => {
  const mono = await git.repository("mono", { "packages/api/a.ts": "", "packages/web/w.ts": "" });
  await git.run(mono, "worktree", "add", "-q", git.path("hotfix"));
  await git.run(git.folder, "clone", "-q", "mono", "clone");
  link("api", join(mono, "packages", "api"));
  expect(await found("hotfix", "packages", "api")).toEqual(["proj_api", "proj_api"]);
  // What is in a clone is not looked for unasked.
  expect(await found("clone", "packages", "api")).toEqual([undefined, "proj_api"]);
  expect(await found("hotfix", "packages", "web")).toEqual([undefined, undefined]);
  link("mono", mono);
  expect(await found("hotfix", "packages", "web")).toEqual([
    "proj_mono packages/web",
    "proj_mono packages/web",
  ]);
  expect(await found("clone", "packages", "api")).toEqual([undefined, "proj_api"]);
});

test("a repository whose origin is gone, or is itself, is in the folder around it", async () => {
  const lib = await git.repository("lib", { "lib.ts": "" });
  const shop = await git.repository("shop", { "shop.ts": "" });
  await addSubmodule("shop", "../lib", "lib");
  link("shop", shop);
  renameSync(lib, git.path("elsewhere"));
  expect(await found("shop", "lib")).toEqual(["proj_shop lib", "proj_shop lib"]);
  link("lib", lib);
  await git.run(git.path("shop", "lib"), "remote", "set-url", "origin", git.path("shop", "lib"));
  expect(await found("shop", "lib")).toEqual(["proj_shop lib", "proj_shop lib"]);
  // Below a repository it is no clone of that one.
  await git.run(git.path("shop", "lib"), "remote", "set-url", "origin", git.path("shop", "x"));
  expect(await found("shop", "lib")).toEqual(["proj_shop lib", "proj_shop lib"]);
});

test("what was a linked repository's is nobody's until it is known where that is now", async () => {
  const lib = await git.repository("lib", { "lib.ts": "" });
  const shop = await git.repository("shop", { "shop.ts": "" });
  await addSubmodule("shop", "../lib", "lib");
  await git.run(git.folder, "clone", "-q", "lib", "clone");
  link("shop", shop);
  link("lib", lib);
  renameSync(lib, git.path("renamed"));
  // The link is still at the former path.
  expect(await found("shop", "lib")).toEqual([undefined, "? lib"]);
  expect(await found("clone")).toEqual([undefined, "? lib"]);
  links = links.map((each) => (each.dir === lib ? { ...each, dir: git.path("renamed") } : each));
  expect(await found("shop", "lib")).toEqual([undefined, "? lib"]);
  expect(await found("clone")).toEqual([undefined, "? lib"]);
  await git.run(git.path("shop", "lib"), "remote", "set-url", "origin", git.path("renamed"));
  expect(await found("shop", "lib")).toEqual(["proj_lib", "proj_lib"]);
});

test("another repository at the path of an origin is not what was cloned from there", async () => {
  const lib = await git.repository("lib", { "lib.ts": "" });
  const shop = await git.repository("shop", { "shop.ts": "" });
  await addSubmodule("shop", "../lib", "lib");
  await git.run(git.folder, "clone", "-q", "lib", "clone");
  await git.run(git.folder, "clone", "-q", `file://${lib}`, "shallow", "--depth=1");
  rmSync(lib, { recursive: true });
  await git.repository("lib", { "other.ts": "other" });
  link("lib", lib);
  link("shop", shop);
  expect(await found("clone")).toEqual([undefined, undefined]);
  // Its history was cut off: it may be one of this repository.
  expect(await found("shallow")).toEqual([undefined, "? lib"]);
  expect(await found("shop", "lib")).toEqual(["proj_shop lib", "proj_shop lib"]);
  // Nor is another clone of it, though both have the same origin by its path.
  await git.run(git.folder, "clone", "-q", "lib", "of-other");
  const identity = await identifyProject(git.git, git.path("of-other"));
  if (identity.kind === "none") throw new Error("it has an origin");
  links = [{ ...(links[0] as Link), dir: git.path("of-other"), ...identity }];
  expect(await found("clone")).toEqual([undefined, undefined]);
});

test("what has lost its repository is in no project, unless it is linked itself", async () => {
  const lib = await git.repository("lib", { "lib.ts": "" });
  const shop = await git.repository("shop", { "shop.ts": "" });
  await addSubmodule("shop", lib, "sub");
  await git.run(shop, "worktree", "add", "-q", "tree");
  link("shop", shop);
  renameSync(join(shop, ".git"), git.path("away"));
  await git.run(git.folder, "init", "-q", "shop");
  expect(await found("shop", "sub")).toEqual([undefined, "lost submodule"]);
  expect(await found("shop", "tree")).toEqual([undefined, "lost worktree"]);
  link("tree", join(shop, "tree"));
  expect(await found("shop", "tree")).toEqual(["proj_tree", "proj_tree"]);
});
