import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, link, mkdir, rm, stat, symlink, utimes } from "node:fs/promises";
import { type FileStanding, fileStanding, readHeadText } from "../../daemon/git/git-state.ts";
import { createGit, type Git } from "../../daemon/git/run-git.ts";
import { createGitSandbox } from "../support/git-sandbox.ts";

const sandbox = createGitSandbox();
const { git, run, runToFailure, commit, repository } = sandbox;
afterAll(() => sandbox.remove());

const NAME = "CLAUDE.md";

function standing(folder: string, name = NAME): Promise<FileStanding> {
  return fileStanding(git, `${folder}/${name}`);
}

/** The parts of a standing that tell one from another. */
async function told(folder: string, name = NAME): Promise<string> {
  const found = await standing(folder, name);
  if (found.kind === "untracked") return found.ignored ? "untracked, ignored" : "untracked";
  if (found.kind === "busy") return `busy: ${found.operation}`;
  if (found.kind === "unknown") return `unknown: ${found.why.trouble}`;
  if (found.kind === "no-git") return found.kind;
  const where = found.onDefaultBranch ? "on default" : "elsewhere";
  return `tracked, ${where}, ${found.branch ?? "detached"} of ${found.defaultBranch ?? "?"}`;
}

describe("which files are tracked", () => {
  test("without a repository git has no say", async () => {
    await sandbox.write(sandbox.path("nothing", NAME), "text");
    expect(await standing(sandbox.path("nothing"))).toEqual({ kind: "no-git" });
    expect(await standing(sandbox.path("nothing/not/yet/there"))).toEqual({ kind: "no-git" });
  });

  test("where no folder above has a repository, git is not even started", async () => {
    await sandbox.write(sandbox.path("bare-folder", NAME), "text");
    const none: Git = () => Promise.reject(new Error("git was started"));
    expect(await fileStanding(none, sandbox.path("bare-folder", NAME))).toEqual({ kind: "no-git" });
  });

  test("a committed file on the default branch is tracked", async () => {
    const folder = await repository("committed", { [NAME]: "text" });
    expect(await told(folder)).toBe("tracked, on default, main of main");
  });

  test("a file in the index only is tracked", async () => {
    const folder = await repository("index-only", { "README.md": "" });
    await sandbox.write(`${folder}/${NAME}`, "text");
    expect(await told(folder)).toBe("untracked");
    await run(folder, "add", NAME);
    expect(await told(folder)).toBe("tracked, on default, main of main");
  });

  test("what a commit holds is asked once, and a replacement of it counts while it is there", async () => {
    const folder = await repository("replaced", { "README.md": "" });
    const bare = (await run(folder, "rev-parse", "HEAD")).trim();
    const full = await commit(folder, { [NAME]: "text" });
    await run(folder, "reset", "-q", "--hard", bare);
    const asked: string[] = [];
    const counting: Git = (at, args) => {
      if (args.includes("ls-tree")) asked.push(args.join(" "));
      return git(at, args);
    };
    const kind = async () => (await fileStanding(counting, `${folder}/${NAME}`)).kind;
    expect([await kind(), await kind()]).toEqual(["untracked", "untracked"]);
    expect(asked).toHaveLength(1);
    await run(folder, "replace", bare, full);
    expect(await kind()).toBe("tracked");
    await run(folder, "pack-refs", "--all");
    expect(await kind()).toBe("tracked");
    await run(folder, "replace", "-d", bare);
    expect(await kind()).toBe("untracked");
    expect(asked).toHaveLength(3);
    await run(folder, "reset", "-q", "--hard", full);
    await run(folder, "rm", "-q", "--cached", NAME);
    expect([await kind(), await kind()]).toEqual(["tracked", "tracked"]);
    expect(asked).toHaveLength(4);
  });

  test("a file that is meant to be added is tracked", async () => {
    const folder = await repository("intent", { "README.md": "" });
    await sandbox.write(`${folder}/${NAME}`, "text");
    await run(folder, "add", "-N", NAME);
    expect(await told(folder)).toBe("tracked, on default, main of main");
  });

  test("a file in HEAD only, after git rm --cached, is tracked", async () => {
    const folder = await repository("head-only", { [NAME]: "text" });
    await run(folder, "rm", "-q", "--cached", NAME);
    expect(await told(folder)).toBe("tracked, on default, main of main");
  });

  test("a file in the tree of another branch's HEAD only is tracked", async () => {
    const folder = await repository("side-head", { "README.md": "" });
    await run(folder, "checkout", "-q", "-b", "side");
    await commit(folder, { [NAME]: "text" });
    await run(folder, "rm", "-q", "--cached", NAME);
    expect(await told(folder)).toBe("tracked, elsewhere, side of main");
  });

  test("a file on the default branch only, seen from an old branch, is tracked", async () => {
    const folder = await repository("old-branch", { "README.md": "" });
    await run(folder, "branch", "old");
    await commit(folder, { [NAME]: "text" });
    await run(folder, "checkout", "-q", "old");
    expect(await told(folder)).toBe("tracked, elsewhere, old of main");
    await run(folder, "checkout", "-q", "--detach");
    expect(await told(folder)).toBe("tracked, elsewhere, detached of main");
  });

  test("a file on origin's default branch only is tracked once fetched", async () => {
    const source = await repository("ahead", { "README.md": "" });
    const clone = sandbox.path("behind");
    await run(sandbox.folder, "clone", "-q", source, clone);
    await commit(source, { [NAME]: "text" });
    expect(await told(clone)).toBe("untracked");
    await run(clone, "fetch", "-q");
    expect(await told(clone)).toBe("tracked, on default, main of main");
  });

  test("a file on a default branch of an unusual name that is not checked out", async () => {
    const source = await repository("trunk-source", { [NAME]: "text" });
    await run(source, "branch", "-m", "trunk");
    const clone = sandbox.path("trunk-clone");
    await run(sandbox.folder, "clone", "-q", source, clone);
    await run(clone, "checkout", "-q", "--orphan", "side");
    await run(clone, "rm", "-q", "--cached", "-r", ".");
    expect(await told(clone)).toBe("tracked, elsewhere, side of trunk");
  });

  test("a file that is not added is untracked, ignored in any way or not", async () => {
    const folder = await repository("ignoring", { ".gitignore": "a.md\n/b/\n" });
    await sandbox.write(`${folder}/.git/info/exclude`, "c.md\n");
    await sandbox.write(sandbox.path("global-ignore"), "d.md\n");
    await run(folder, "config", "core.excludesFile", sandbox.path("global-ignore"));
    for (const name of ["a.md", "b/CLAUDE.md", "c.md", "d.md"]) {
      expect([name, await told(folder, name)]).toEqual([name, "untracked, ignored"]);
    }
    expect(await told(folder)).toBe("untracked");
    await sandbox.write(`${folder}/a.md`, "text");
    expect(await told(folder, "a.md")).toBe("untracked, ignored");
    await run(folder, "add", "-f", "a.md");
    expect(await told(folder, "a.md")).toBe("tracked, on default, main of main");
  });

  test("names with spaces, quotes, umlauts and pathspec magic mean themselves", async () => {
    const names = ['ä ö/it\'s "so".md', "*.md", ":(top)x.md", "-n.md", "[a].md", "tab\there.md"];
    const files = Object.fromEntries(names.map((name) => [name, `text of ${name}`]));
    const folder = await repository("odd näme's", files);
    for (const name of names) {
      const found = await standing(folder, name);
      if (found.kind !== "tracked") throw new Error(`${name}: ${found.kind}`);
      const text = await readHeadText(git, found.file, found.commit);
      expect(text.kind === "text" && text.bytes.toString()).toBe(`text of ${name}`);
    }
    await run(folder, "rm", "-q", "--cached", "-r", ".");
    for (const name of names) {
      expect(await told(folder, name)).toBe("tracked, on default, main of main");
    }
    expect(await told(folder, "b.md")).toBe("untracked");
    await sandbox.write(`${folder}/.gitignore`, ":(literal)q.md\n");
    expect(await told(folder, ":(literal)q.md")).toBe("untracked, ignored");
    expect(await told(folder, "q.md")).toBe("untracked");
  });

  test("a file in a folder that is not there yet", async () => {
    const folder = await repository("missing", { ".gitignore": ".claude/\n" });
    expect(await told(folder, ".claude/CLAUDE.md")).toBe("untracked, ignored");
    expect(await told(folder, "deep/er/CLAUDE.md")).toBe("untracked");
  });

  test("a symbolic link stands as the file that it leads to", async () => {
    const folder = await repository("linked", { "AGENTS.md": "text", ".gitignore": NAME });
    await symlink("AGENTS.md", `${folder}/${NAME}`);
    await symlink(folder, sandbox.path("link-to-linked"));
    const found = await standing(sandbox.path("link-to-linked"));
    expect(found).toMatchObject({ kind: "tracked", file: { pathInside: "AGENTS.md" } });
  });

  test("a file in a submodule stands with the submodule", async () => {
    const inner = await repository("inner", { [NAME]: "inner" });
    const outer = await repository("outer", { "README.md": "" });
    const allow = ["-c", "protocol.file.allow=always"];
    await run(outer, ...allow, "submodule", "--quiet", "add", inner, "sub");
    expect(await told(outer, "sub/CLAUDE.md")).toBe("tracked, on default, main of main");
    await run(`${outer}/sub`, "checkout", "-q", "--detach");
    expect(await told(outer, "sub/CLAUDE.md")).toBe("tracked, elsewhere, detached of main");
  });

  test("a file below a bare repository or in .git is none of git's", async () => {
    const bare = sandbox.path("bare.git");
    await run(sandbox.folder, "init", "-q", "--bare", bare);
    expect(await told(bare)).toBe("no-git");
  });

  test("a file outside of a sparse checkout is tracked", async () => {
    const folder = await repository("sparse", { "kept/a.md": "", "left/CLAUDE.md": "text" });
    await run(folder, "sparse-checkout", "set", "--cone", "--sparse-index", "kept");
    expect(await told(folder, "left/CLAUDE.md")).toBe("tracked, on default, main of main");
  });

  test("an entry spelled in another case is tracked where both names reach one file", async () => {
    const folder = await repository("case", { "claude.md": "text" });
    // On a case-sensitive disk the names are two files, until a hard link makes them one.
    if (!existsSync(`${folder}/${NAME}`)) {
      expect(await told(folder)).toBe("untracked");
      await link(`${folder}/claude.md`, `${folder}/${NAME}`);
    }
    expect(await told(folder)).toBe("tracked, on default, main of main");
  });
});

describe("which branch is the default", () => {
  test("the default branch is the one of origin/HEAD, though there is a main", async () => {
    const source = await repository("head-source", { [NAME]: "text" });
    await run(source, "checkout", "-q", "-b", "develop");
    const clone = sandbox.path("head-clone");
    await run(sandbox.folder, "clone", "-q", source, clone);
    expect(await told(clone)).toBe("tracked, on default, develop of develop");
    await run(clone, "checkout", "-q", "main");
    expect(await told(clone)).toBe("tracked, elsewhere, main of develop");
    await run(clone, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone");
    expect(await told(clone)).toBe("tracked, on default, main of main");
  });

  test("without origin/HEAD the default branch is main, else master, here or on origin", async () => {
    const folder = await repository("usual", { [NAME]: "text" });
    await run(folder, "branch", "master");
    await run(folder, "checkout", "-q", "-b", "side");
    expect(await told(folder)).toBe("tracked, elsewhere, side of main");
    await run(folder, "branch", "-D", "main");
    expect(await told(folder)).toBe("tracked, elsewhere, side of master");
    await run(folder, "update-ref", "refs/remotes/origin/main", "HEAD");
    expect(await told(folder)).toBe("tracked, elsewhere, side of main");
    await run(folder, "branch", "-D", "master");
    await run(folder, "update-ref", "-d", "refs/remotes/origin/main");
    await run(folder, "branch", "main/part");
    expect(await told(folder)).toBe("tracked, elsewhere, side of ?");
  });

  test("before the first commit the default branch is the one that this will be on", async () => {
    const folder = sandbox.path("unborn");
    await run(sandbox.folder, "init", "-q", "-b", "trunk", folder);
    await sandbox.write(`${folder}/${NAME}`, "text");
    expect(await told(folder)).toBe("untracked");
    await run(folder, "add", NAME);
    expect(await told(folder)).toBe("tracked, on default, trunk of trunk");
    await run(folder, "commit", "-q", "-m", "first");
    expect(await told(folder)).toBe("tracked, on default, trunk of trunk");
  });

  test("an orphan branch is not the default", async () => {
    const folder = await repository("orphan", { [NAME]: "text" });
    await run(folder, "branch", "-m", "trunk");
    await run(folder, "checkout", "-q", "--orphan", "pages");
    expect(await told(folder)).toBe("tracked, elsewhere, pages of trunk");
  });

  test("of several unusual branches the default is the one that git is configured to start with", async () => {
    const folder = await repository("several", { [NAME]: "text" });
    await run(folder, "branch", "-m", "trunk");
    await run(folder, "branch", "side");
    expect(await told(folder)).toBe("tracked, elsewhere, trunk of ?");
    await run(folder, "config", "init.defaultBranch", "trunk");
    expect(await told(folder)).toBe("tracked, on default, trunk of trunk");
  });

  test("the only branch of a clone, which may have fetched just that one, is not the default", async () => {
    const source = await repository("one-source", { [NAME]: "text" });
    await run(source, "branch", "-m", "trunk");
    await run(source, "branch", "side");
    const clone = sandbox.path("one-clone");
    const single = ["clone", "-q", "--single-branch", "-b", "side"];
    await run(sandbox.folder, ...single, source, clone);
    expect(await told(clone)).toBe("tracked, elsewhere, side of ?");
    await run(clone, "config", "init.defaultBranch", "side");
    expect(await told(clone)).toBe("tracked, elsewhere, side of ?");
  });

  test("each linked worktree judges by its own branch", async () => {
    const main = await repository("judge", { [NAME]: "text" });
    const linked = sandbox.path("judge-side");
    await run(main, "worktree", "add", "-q", linked, "-b", "side");
    expect(await told(main)).toBe("tracked, on default, main of main");
    expect(await told(linked)).toBe("tracked, elsewhere, side of main");
    await run(main, "checkout", "-q", "--detach");
    await run(linked, "checkout", "-q", "main");
    expect(await told(main)).toBe("tracked, elsewhere, detached of main");
    expect(await told(linked)).toBe("tracked, on default, main of main");
  });

  test("switching branches switches the standing, packed refs or not", async () => {
    const folder = await repository("switching", { [NAME]: "text" });
    await run(folder, "checkout", "-q", "-b", "feature/a");
    expect(await told(folder)).toBe("tracked, elsewhere, feature/a of main");
    await run(folder, "pack-refs", "--all");
    expect(await told(folder)).toBe("tracked, elsewhere, feature/a of main");
    await run(folder, "checkout", "-q", "main");
    expect(await told(folder)).toBe("tracked, on default, main of main");
  });
});

/** A repository whose `side` and `main` both changed the file, with `main` checked out. */
async function conflicting(name: string): Promise<string> {
  const folder = await repository(name, { ".gitignore": "own.md\n" });
  await commit(folder, { [NAME]: "base\n" });
  await run(folder, "checkout", "-q", "-b", "side");
  await commit(folder, { [NAME]: "side\n" });
  await run(folder, "checkout", "-q", "main");
  await commit(folder, { [NAME]: "main\n" });
  return folder;
}

describe("while git is in the middle of something", () => {
  const operations: readonly (readonly [string, string, readonly string[]])[] = [
    ["merge", "merge", ["merge", "side"]],
    ["rebase", "rebase", ["rebase", "side"]],
    ["rebase", "rebase-apply", ["rebase", "--apply", "side"]],
    ["cherry-pick", "cherry-pick", ["cherry-pick", "side"]],
    ["revert", "revert", ["revert", "--no-edit", "HEAD~1"]],
  ];
  for (const [operation, name, args] of operations) {
    test(`a ${name} that conflicts leaves the file alone, and an ignored one free`, async () => {
      const folder = await conflicting(name);
      await runToFailure(folder, ...args);
      expect(await told(folder)).toBe(`busy: ${operation}`);
      expect(await told(folder, ".gitignore")).toBe(`busy: ${operation}`);
      expect(await told(folder, "new.md")).toBe(`busy: ${operation}`);
      expect(await told(folder, "own.md")).toBe("untracked, ignored");
      await run(folder, args[0] ?? "", "--abort");
      expect(await told(folder)).toBe("tracked, on default, main of main");
    });
  }

  test("am, stopped at a patch that does not apply, leaves the file alone", async () => {
    const folder = await conflicting("am");
    const patch = await run(folder, "format-patch", "-1", "--stdout", "side");
    await sandbox.write(sandbox.path("side.patch"), patch);
    await runToFailure(folder, "am", "-q", sandbox.path("side.patch"));
    expect(await told(folder)).toBe("busy: am");
    await run(folder, "am", "--abort");
    expect(await told(folder)).toBe("tracked, on default, main of main");
  });

  test("a bisect leaves the file alone", async () => {
    const folder = await conflicting("bisect");
    await run(folder, "bisect", "start", "HEAD", "HEAD~1");
    expect(await told(folder)).toBe("busy: bisect");
    await run(folder, "bisect", "reset");
    expect(await told(folder)).toBe("tracked, on default, main of main");
  });

  test("a series of picks after the first was committed by hand", async () => {
    const folder = await conflicting("series");
    await run(folder, "checkout", "-q", "side");
    await commit(folder, { "second.md": "" });
    await run(folder, "checkout", "-q", "main");
    await runToFailure(folder, "cherry-pick", "main..side");
    await commit(folder, { [NAME]: "resolved\n" });
    expect(await told(folder)).toBe("busy: cherry-pick");
    await run(folder, "cherry-pick", "--continue");
    expect(await told(folder)).toBe("tracked, on default, main of main");
  });

  test("an operation in one worktree is none of another's", async () => {
    const folder = await conflicting("elsewhere");
    const linked = sandbox.path("elsewhere-side");
    await run(folder, "worktree", "add", "-q", linked, "side");
    await runToFailure(linked, "merge", "main");
    expect(await told(linked)).toBe("busy: merge");
    expect(await told(folder)).toBe("tracked, on default, main of main");
  });

  test("an entry that a stash left unmerged is as an operation that goes on", async () => {
    const folder = await conflicting("stash");
    await sandbox.write(`${folder}/${NAME}`, "stashed\n");
    await run(folder, "stash", "-q");
    await commit(folder, { [NAME]: "moved on\n" });
    await runToFailure(folder, "stash", "pop");
    expect(await told(folder)).toBe("busy: unmerged");
    expect(await told(folder, ".gitignore")).toBe("tracked, on default, main of main");
  });

  test("a lock leaves every file alone", async () => {
    const folder = await repository("locks", { [NAME]: "text", ".gitignore": "own.md\n" });
    for (const lock of ["index.lock", "HEAD.lock"]) {
      await sandbox.write(`${folder}/.git/${lock}`, "");
      expect(await told(folder)).toBe("busy: locked");
      expect(await told(folder, "own.md")).toBe("busy: locked");
      await rm(`${folder}/.git/${lock}`);
    }
    expect(await told(folder)).toBe("tracked, on default, main of main");
  });
});

describe("when git cannot tell", () => {
  test("a machine without git does not take a file under a .git for its own", async () => {
    const folder = await repository("no-program", { [NAME]: "text" });
    const missing = createGit({ program: sandbox.path("no-such-git"), env: sandbox.env });
    expect(await fileStanding(missing, `${folder}/${NAME}`)).toEqual({
      kind: "unknown",
      why: { trouble: "no-program" },
    });
    expect(await fileStanding(missing, sandbox.path("x", NAME))).toEqual({ kind: "no-git" });
  });

  test("a damaged index, HEAD or link to the repository is no licence to write", async () => {
    const index = await repository("damaged-index", { [NAME]: "text" });
    await sandbox.write(`${index}/.git/index`, "nonsense");
    expect((await standing(index)).kind).toBe("unknown");
    const main = await repository("damaged-link", { [NAME]: "text" });
    const linked = sandbox.path("damaged-link-side");
    await run(main, "worktree", "add", "-q", linked, "-b", "side");
    await rm(`${main}/.git`, { recursive: true });
    expect((await standing(linked)).kind).toBe("unknown");
  });

  test("a partial clone is never fetched from, and its files are still tracked", async () => {
    const source = await repository("partial-source", { [NAME]: "text" });
    await run(source, "config", "uploadpack.allowFilter", "true");
    const clone = sandbox.path("partial");
    const partial = ["clone", "-q", "--filter=blob:none", "--no-checkout"];
    await run(sandbox.folder, ...partial, `file://${source}`, clone);
    const found = await standing(clone);
    if (found.kind !== "tracked") throw new Error(found.kind);
    expect(found.onDefaultBranch).toBe(true);
    for (let time = 0; time < 2; time += 1) {
      expect((await readHeadText(git, found.file, found.commit)).kind).toBe("unknown");
    }
  });
});

describe("looking changes nothing", () => {
  test("the index keeps its time, though the file's changed", async () => {
    const folder = await repository("untouched", { [NAME]: "text" });
    await utimes(`${folder}/${NAME}`, 1, 1);
    const before = await stat(`${folder}/.git/index`, { bigint: true });
    expect(await told(folder)).toBe("tracked, on default, main of main");
    const after = await stat(`${folder}/.git/index`, { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
  });

  test("a repository that cannot be written to is judged all the same", async () => {
    const folder = await repository("read-only", { [NAME]: "text" });
    await chmod(`${folder}/.git`, 0o555);
    expect(await told(folder)).toBe("tracked, on default, main of main");
    await chmod(`${folder}/.git`, 0o755);
  });
});

describe("the text in HEAD", () => {
  test("the text in HEAD is the commit's bytes, whatever stands in the working tree", async () => {
    const folder = await repository("head-text", { [NAME]: "a\r\n\0b" });
    await sandbox.write(`${folder}/${NAME}`, "edited");
    const found = await standing(folder);
    if (found.kind !== "tracked") throw new Error(found.kind);
    const text = await readHeadText(git, found.file, found.commit);
    expect(text.kind === "text" && text.bytes.toString()).toBe("a\r\n\0b");
  });

  test("the text in HEAD is absent before the first commit, for a new file, and for a symbolic link", async () => {
    const folder = await repository("head-absent", { "AGENTS.md": "text" });
    await mkdir(`${folder}/d`);
    await symlink("AGENTS.md", `${folder}/was-link.md`);
    await commit(folder, {});
    await rm(`${folder}/was-link.md`);
    await sandbox.write(`${folder}/was-link.md`, "now a file");
    await sandbox.write(`${folder}/new.md`, "new");
    await run(folder, "add", "new.md");
    for (const name of ["was-link.md", "new.md"]) {
      const found = await standing(folder, name);
      if (found.kind !== "tracked") throw new Error(found.kind);
      expect(await readHeadText(git, found.file, found.commit)).toEqual({ kind: "absent" });
      expect(await readHeadText(git, found.file, undefined)).toEqual({ kind: "absent" });
    }
  });
});
