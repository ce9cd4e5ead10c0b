import { afterEach, beforeEach, expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGit, type Git } from "../../daemon/git/run-git.ts";
import { createGitSandbox, type GitSandbox } from "../support/git-sandbox.ts";
import { remembering } from "../support/remembered-git.ts";
import { waitFor } from "../support/wait-for.ts";

const REFS = ["for-each-ref", "--format=%(refname) %(objectname) %(symref)"];
const INDEX = ["ls-files", "-s", "-t", "-z", "--full-name"];
const HEAD = ["rev-parse", "HEAD"];
const PLACE = ["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
const LOG = ["log", "-g", "--format=%H %gs", "HEAD", "--"];
const PAST = ["--literal-pathspecs", "rev-list", "--branches", "--", "CLAUDE.md"];
const TREE = ["ls-tree", "-z", "--full-tree", "HEAD"];
/** A text that no commit has. */
const ALONE = "alone\n";
const OBJECT = ["cat-file", "-e", "84452ce94a8c4f8d9383c4678a557e3d6db12017"];
const QUESTIONS = [REFS, INDEX, HEAD, PLACE, LOG, PAST, TREE, OBJECT];

let sandbox: GitSandbox;
let folder: string;
let real: Git;
let runs: number;
let git: Git;

beforeEach(async () => {
  sandbox = createGitSandbox();
  folder = await sandbox.repository("a", { "CLAUDE.md": "one\n" });
  await sandbox.commit(folder, { "CLAUDE.md": "two\n" });
  real = createGit({ env: sandbox.env });
  runs = 0;
  git = remembering((...question) => {
    runs += 1;
    return real(...question);
  });
});

afterEach(() => sandbox.remove());

/** Until nothing is so new that it could be written again in the same tick of the disk's clock. */
async function known(): Promise<void> {
  await waitFor("answers that are remembered", async () => {
    for (const question of QUESTIONS) await git(folder, question);
    const before = runs;
    for (const question of QUESTIONS) await git(folder, question);
    return runs === before;
  });
}

/** Ways to change a repository, the quickest of which leave all names and lengths as they were. */
const CHANGES: Readonly<Record<string, () => Promise<unknown>>> = {
  "a commit": () => sandbox.commit(folder, { "CLAUDE.md": "three\n" }),
  "a branch put back": () => sandbox.run(folder, "reset", "-q", "--soft", "HEAD~1"),
  "a ref that is written in its place": async () => {
    const before = await sandbox.run(folder, "rev-parse", "HEAD~1");
    writeFileSync(join(folder, ".git/refs/heads/main"), before);
  },
  "a checkout of another branch": () => sandbox.run(folder, "checkout", "-qb", "other"),
  "refs that are packed, and one that is deleted": async () => {
    await sandbox.run(folder, "branch", "gone");
    await known();
    await sandbox.run(folder, "pack-refs", "--all");
    await sandbox.run(folder, "branch", "-D", "gone");
  },
  "a file that is no longer tracked": () =>
    sandbox.run(folder, "rm", "-q", "--cached", "CLAUDE.md"),
  "a file that is marked": () =>
    sandbox.run(folder, "update-index", "--skip-worktree", "CLAUDE.md"),
  "an object that comes alone": async () => {
    await sandbox.write(sandbox.path("alone"), ALONE);
    await sandbox.run(folder, "hash-object", "-w", sandbox.path("alone"));
  },
  "an object that goes": async () => {
    const name = (await sandbox.run(folder, "rev-parse", "HEAD^{tree}")).trim();
    rmSync(join(folder, ".git/objects", name.slice(0, 2), name.slice(2)));
  },
  "a log that is forgotten": () => sandbox.run(folder, "reflog", "expire", "--expire=all", "--all"),
  "a repository that is gone": async () => {
    renameSync(join(folder, ".git"), sandbox.path("elsewhere"));
  },
  "a folder that is gone": async () => renameSync(folder, sandbox.path("moved")),
  "another repository in its place": async () => {
    const other = await sandbox.repository("b", { "CLAUDE.md": "one\n" });
    renameSync(folder, sandbox.path("moved"));
    renameSync(other, folder);
  },
};

for (const [what, change] of Object.entries(CHANGES)) {
  test(`git that remembers answers as git itself, after ${what}`, async () => {
    await known();
    await change();
    for (const question of QUESTIONS) {
      expect(await git(folder, question)).toEqual(await real(folder, question));
    }
  });
}

test("a repository inside of a folder is found, whatever was known of the one around it", async () => {
  const inside = join(folder, "inside");
  await sandbox.write(join(inside, "CLAUDE.md"), "in\n");
  const before = await git(inside, PLACE);
  await sandbox.run(inside, "init", "-q");
  const after = await git(inside, PLACE);
  expect(after).toEqual(await real(inside, PLACE));
  expect(after).not.toEqual(before);
});

test("what depends on a person's files is asked each time", async () => {
  await known();
  const asked = ["diff-files", "--name-only"];
  await git(folder, asked);
  const before = runs;
  await git(folder, asked);
  expect(runs).toBe(before + 1);
});
