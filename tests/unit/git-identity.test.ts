import { afterAll, describe, expect, test } from "bun:test";
import { access, chmod, mkdir, rename, stat, symlink, utimes } from "node:fs/promises";
import { identifyProject } from "../../daemon/git/identity.ts";
import { parseRemoteUrl } from "../../daemon/git/remote-url.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { findWorkingTree, projectFolder } from "../../daemon/git/working-tree.ts";
import { createGitSandbox } from "../support/git-sandbox.ts";

const sandbox = createGitSandbox();
const { git } = sandbox;
afterAll(() => sandbox.remove());

/** What version 0.1.0 called `github.com/Acme/Widget`. */
const FORMER = "proj_evywmcecdiu44jx3rs5evn5fyl";

/** The project id of a folder that is expected to have one. */
async function idOf(folder: string): Promise<string> {
  const identity = await identifyProject(git, folder);
  if (identity.kind === "none") throw new Error(`${folder} has no identity: ${identity.why}`);
  return identity.projectId;
}

describe("a remote's URL", () => {
  const same = [
    "git@example.com:Owner/repo.git",
    "git@EXAMPLE.com:Owner/repo",
    "example.com:Owner/repo",
    "git@example.com:/Owner/repo.git",
    "[git@example.com:22]:Owner/repo",
    "ssh://git@example.com:22/Owner/repo",
    "ssh://git@example.com/Owner/repo.git",
    "git+ssh://git@example.com/Owner/repo.git",
    "https://user:tok@example.com/Owner/repo.git/",
    "https://tok@Example.com:443/Owner//repo/",
    "https://a:b@c@example.com/Owner/repo",
    "http://example.com:80/Owner/repo.git",
    "HTTPS://example.com/Owner/repo?private_token=secret#readme",
    "git://example.com:9418/Owner/repo.git",
    "https://example.com/Own%65r/repo.git",
    " https://example.com/Owner/repo.git\n",
  ];
  for (const url of same) {
    test(`${JSON.stringify(url)} is example.com/Owner/repo`, () => {
      expect(parseRemoteUrl(url)).toEqual({ kind: "network", text: "example.com/Owner/repo" });
    });
  }

  const caseless = [
    ["git@github.com:Owner/Repo.git", "github.com/Owner/Repo"],
    ["https://GitHub.com/OWNER/repo", "github.com/OWNER/repo"],
    ["ssh://git@ssh.github.com:443/Owner/repo.git", "github.com/Owner/repo"],
    ["https://gitlab.com/Group/Sub/Repo.git", "gitlab.com/Group/Sub/Repo"],
    ["git@bitbucket.org:Team/repo.git", "bitbucket.org/Team/repo"],
  ] as const;
  for (const [url, written] of caseless) {
    test(`${url} compares without its case of letters`, () => {
      const text = written.toLowerCase();
      expect(parseRemoteUrl(url)).toEqual({ kind: "network", text, written });
    });
  }

  const withWww = [
    ["https://www.github.com/Owner/repo.git", "github.com/owner/repo", "www.github.com/Owner/repo"],
    ["git@www.gitlab.com:group/repo", "gitlab.com/group/repo", "www.gitlab.com/group/repo"],
    ["https://WWW.bitbucket.org/t/r", "bitbucket.org/t/r", "www.bitbucket.org/t/r"],
  ] as const;
  for (const [url, text, written] of withWww) {
    test(`${url} is ${text}, to which its host leads`, () => {
      expect(parseRemoteUrl(url)).toEqual({ kind: "network", text, written });
    });
  }

  const others: readonly (readonly [string, string])[] = [
    ["https://example.com/owner/repo", "example.com/owner/repo"],
    ["https://example.com:8443/o/r.git", "example.com:8443/o/r"],
    ["ssh://git@example.com:2222/o/r.git", "example.com:2222/o/r"],
    ["[git@example.com:2222]:o/r.git", "example.com:2222/o/r"],
    ["ssh://git@[::1]:22/o/r", "[::1]/o/r"],
    ["git@[::1]:o/r", "[::1]/o/r"],
    ["ssh://git@ssh.github.com:443/o/r.git", "github.com/o/r"],
    ["host:~user/r.git", "host/~user/r"],
    ["ssh://host/%7Euser/r.git", "host/~user/r"],
    ["https://host/100%/r", "host/100%/r"],
    ["https://www.example.com/o/r", "www.example.com/o/r"],
    ["https://host/group/sub/r.git", "host/group/sub/r"],
    ["https://host/o/dot.github.io", "host/o/dot.github.io"],
    ["codecommit://profile@repo", "repo/"],
    ["ext::ssh host %S repo.git", "ext::ssh host %S repo.git"],
  ];
  for (const [url, text] of others) {
    test(`${url} is ${text}`, () => {
      expect(parseRemoteUrl(url)).toEqual({ kind: "network", text });
    });
  }

  const local: readonly (readonly [string, string])[] = [
    ["/srv/git/x.git", "/srv/git/x.git"],
    ["file:///srv/git/x.git", "/srv/git/x.git"],
    ["file://localhost/srv/a%20b", "/srv/a b"],
    ["file://nas/share/x.git", "//nas/share/x.git"],
    ["../x", "../x"],
    ["./a:b", "./a:b"],
    ["C:\\git\\x", "C:\\git\\x"],
  ];
  for (const [url, path] of local) {
    test(`${url} is a path`, () => {
      expect(parseRemoteUrl(url)).toEqual({ kind: "local", path });
    });
  }
});

describe("with an origin", () => {
  test("the id is the same for every way to write one URL, and tells nothing of it", async () => {
    const one = await sandbox.repository("url/one", { "CLAUDE.md": "one" });
    const two = await sandbox.repository("url/two", { "CLAUDE.md": "two" });
    await sandbox.run(one, "remote", "add", "origin", "git@example.com:owner/repo.git");
    await sandbox.run(two, "remote", "add", "origin", "https://u:secret@example.com/owner/repo");
    const identity = await identifyProject(git, one);
    expect(identity).toMatchObject({ kind: "origin", name: "repo", root: one, pathInside: "" });
    expect(await idOf(one)).toBe(await idOf(two));
    expect(await idOf(one)).toMatch(/^proj_[a-z2-7]{26}$/);
  });

  test("the id of a known URL never changes from release to release", async () => {
    const folder = await sandbox.repository("golden", { "a/b/CLAUDE.md": "" });
    await sandbox.run(folder, "remote", "add", "origin", "git@github.com:owner/repo.git");
    expect(await idOf(folder)).toBe("proj_pelimgwhdsdranrxr6cz7kclk7");
    expect(await idOf(`${folder}/a/b`)).toBe("proj_6dtyz7afzslpbzw2kxgzurrgyy");
  });

  test("two clones of one bare repository are one project, however they name it", async () => {
    const bare = sandbox.path("bare/x.git");
    await sandbox.run(sandbox.folder, "init", "-q", "--bare", "-b", "main", bare);
    await symlink(sandbox.path("bare"), sandbox.path("link-to-bare"));
    const names = [
      bare,
      `file://${bare}`,
      sandbox.path("bare/x"),
      sandbox.path("link-to-bare/x.git"),
    ];
    const ids = new Set<string>();
    for (const [at, name] of names.entries()) {
      const clone = sandbox.path(`clone-${at}`);
      await sandbox.run(sandbox.folder, "clone", "-q", name, clone);
      ids.add(await idOf(clone));
    }
    const relative = await sandbox.repository("relative", { "CLAUDE.md": "" });
    await sandbox.run(relative, "remote", "add", "origin", "../bare/x.git");
    ids.add(await idOf(relative));
    expect(ids.size).toBe(1);
  });

  test("a linked worktree is the project of its main checkout", async () => {
    const main = await sandbox.repository("tree/main", { "sub/CLAUDE.md": "" });
    await sandbox.run(main, "remote", "add", "origin", "../elsewhere.git");
    await sandbox.run(main, "worktree", "add", "-q", "../deeper/linked", "-b", "side");
    const linked = sandbox.path("tree/deeper/linked");
    expect(await idOf(linked)).toBe(await idOf(main));
    expect(await idOf(`${linked}/sub`)).toBe(await idOf(`${main}/sub`));
    const identity = await identifyProject(git, `${linked}/sub`);
    expect(identity).toMatchObject({ name: "elsewhere/sub", root: linked, pathInside: "sub" });
  });

  test("a sub-folder is a project of its own, the same one in each clone", async () => {
    const one = await sandbox.repository("mono/one", { "packages/ä b/CLAUDE.md": "" });
    const two = await sandbox.repository("mono/two", { "packages/ä b/CLAUDE.md": "" });
    for (const each of [one, two]) {
      await sandbox.run(each, "remote", "add", "origin", "git@example.com:owner/mono.git");
    }
    expect(await idOf(`${one}/packages/ä b`)).not.toBe(await idOf(one));
    expect(await idOf(`${one}/packages/ä b`)).toBe(await idOf(`${two}/packages/ä b`));
    const identity = await identifyProject(git, `${one}/packages/ä b`);
    expect(identity).toMatchObject({ name: "mono/packages/ä b", pathInside: "packages/ä b" });
  });

  test("a shorthand of insteadOf counts as the URL that it stands for", async () => {
    const short = await sandbox.repository("short", { "CLAUDE.md": "" });
    await sandbox.run(short, "remote", "add", "origin", "work:owner/repo");
    await sandbox.run(short, "config", "url.https://example.com/.insteadOf", "work:");
    const long = await sandbox.repository("long", { "CLAUDE.md": "" });
    await sandbox.run(long, "remote", "add", "origin", "https://example.com/owner/repo.git");
    expect(await idOf(short)).toBe(await idOf(long));
  });

  test("a shallow clone has the full clone's id", async () => {
    const source = await sandbox.repository("deep", { "CLAUDE.md": "1" });
    await sandbox.commit(source, { "CLAUDE.md": "2" });
    const url = `file://${source}`;
    await sandbox.run(sandbox.folder, "clone", "-q", url, sandbox.path("full"));
    await sandbox.run(sandbox.folder, "clone", "-q", "--depth=1", url, sandbox.path("shallow"));
    expect(await idOf(sandbox.path("shallow"))).toBe(await idOf(sandbox.path("full")));
  });

  test("a submodule is its own project", async () => {
    const inner = await sandbox.repository("inner", { "CLAUDE.md": "" });
    const outer = await sandbox.repository("outer", { "CLAUDE.md": "" });
    const allow = ["-c", "protocol.file.allow=always"];
    await sandbox.run(outer, ...allow, "submodule", "--quiet", "add", inner, "sub");
    const identity = await identifyProject(git, `${outer}/sub`);
    expect(identity).toMatchObject({ kind: "origin", name: "inner", root: `${outer}/sub` });
    expect(await projectFolder(git, `${outer}/sub`)).toBe(`${outer}/sub`);
  });
});

describe("without an origin", () => {
  test("two copies of one history are one project, on any branch", async () => {
    const one = await sandbox.repository("copy/one", { "sub/CLAUDE.md": "1" });
    await sandbox.run(sandbox.folder, "clone", "-q", one, sandbox.path("copy/two"));
    const two = sandbox.path("copy/two");
    await sandbox.run(two, "remote", "remove", "origin");
    await sandbox.run(two, "checkout", "-q", "-b", "side");
    await sandbox.commit(two, { "other.md": "2" });
    expect((await identifyProject(git, two)).kind).toBe("root-commit");
    expect(await idOf(two)).toBe(await idOf(one));
    expect(await idOf(`${two}/sub`)).toBe(await idOf(`${one}/sub`));
    await sandbox.run(two, "checkout", "-q", "--detach");
    expect(await idOf(two)).toBe(await idOf(one));
  });

  test("a remote of another name is no origin", async () => {
    const one = await sandbox.repository("fork/one", { "CLAUDE.md": "1" });
    const before = await idOf(one);
    await sandbox.run(one, "remote", "add", "upstream", "git@example.com:owner/repo.git");
    expect(await idOf(one)).toBe(before);
  });

  test("a linked worktree has the main checkout's id and name", async () => {
    const main = await sandbox.repository("plain", { "CLAUDE.md": "" });
    await sandbox.run(main, "worktree", "add", "-q", sandbox.path("plain-side"), "-b", "side");
    const linked = await identifyProject(git, sandbox.path("plain-side"));
    expect(linked).toMatchObject({ name: "plain", root: sandbox.path("plain-side") });
    expect(await idOf(sandbox.path("plain-side"))).toBe(await idOf(main));
  });

  test("a worktree whose repository was moved is known to be one", async () => {
    const main = await sandbox.repository("moving", { "CLAUDE.md": "" });
    const side = sandbox.path("moving-side");
    await sandbox.run(main, "worktree", "add", "-q", side, "-b", "side");
    await rename(main, sandbox.path("moved"));
    const left = { kind: "unknown", why: { trouble: "left-behind" } };
    expect(await findWorkingTree(git, side)).toMatchObject(left);
    await sandbox.run(sandbox.path("moved"), "worktree", "repair");
    expect(await findWorkingTree(git, side)).toMatchObject({ kind: "tree" });
  });

  test("merging in another project's history, older or newer, changes nothing", async () => {
    const main = await sandbox.repository("rooted", { "CLAUDE.md": "1" });
    const before = await idOf(main);
    for (const year of ["2010", "2040"]) {
      const library = sandbox.path(`library-${year}`);
      await sandbox.run(sandbox.folder, "init", "-q", "-b", "main", library);
      await sandbox.commit(library, { [`${year}.md`]: "" }, `${year}-01-01T00:00:00Z`);
      await sandbox.run(main, "fetch", "-q", library, "main");
      const merge = ["merge", "-q", "--allow-unrelated-histories", "-m", "merge", "FETCH_HEAD"];
      await sandbox.run(main, ...merge);
      expect(await idOf(main)).toBe(before);
    }
    expect(await sandbox.run(main, "rev-list", "--count", "--max-parents=0", "HEAD")).toBe("3\n");
  });

  test("an orphan branch that is checked out changes nothing", async () => {
    const main = await sandbox.repository("with-pages", { "CLAUDE.md": "1" });
    const before = await idOf(main);
    await sandbox.run(main, "checkout", "-q", "--orphan", "pages");
    expect(await idOf(main)).toBe(before);
    await sandbox.commit(main, { "page.md": "1" });
    expect(await idOf(main)).toBe(before);
  });

  test("a shallow clone has no identity", async () => {
    const source = await sandbox.repository("cut", { "CLAUDE.md": "1" });
    await sandbox.commit(source, { "CLAUDE.md": "2" });
    const clone = sandbox.path("cut-clone");
    await sandbox.run(sandbox.folder, "clone", "-q", "--depth=1", `file://${source}`, clone);
    await sandbox.run(clone, "remote", "remove", "origin");
    expect(await identifyProject(git, clone)).toEqual({
      kind: "none",
      why: "shallow",
      name: "cut-clone",
      root: clone,
      pathInside: "",
    });
  });

  test("a repository before its first commit has no identity", async () => {
    await sandbox.run(sandbox.folder, "init", "-q", sandbox.path("unborn"));
    const identity = await identifyProject(git, sandbox.path("unborn"));
    expect(identity).toMatchObject({ kind: "none", why: "no-commit", name: "unborn" });
  });

  test("a remote that has lost its URL is no origin", async () => {
    const folder = await sandbox.repository("lost", { "CLAUDE.md": "" });
    await sandbox.run(folder, "remote", "add", "origin", "git@example.com:owner/repo.git");
    await sandbox.run(folder, "config", "--unset", "remote.origin.url");
    expect((await identifyProject(git, folder)).kind).not.toBe("origin");
  });
});

describe("without git", () => {
  test("a folder has no identity but its name, and is its own project folder", async () => {
    const folder = sandbox.path("no git here");
    await mkdir(folder);
    const identity = await identifyProject(git, folder);
    expect(identity).toEqual({ kind: "none", why: "no-git", name: "no git here" });
    expect(await projectFolder(git, folder)).toBe(folder);
  });

  test("a machine without the program says so, and does not fail", async () => {
    const folder = await sandbox.repository("no-program", { "CLAUDE.md": "" });
    const missing = createGit({ program: sandbox.path("no-such-git"), env: sandbox.env });
    expect(await missing(folder, ["version"])).toEqual({ kind: "no-program" });
    expect(await identifyProject(missing, folder)).toMatchObject({ kind: "none", why: "unknown" });
    expect(await projectFolder(missing, folder)).toBe(folder);
    expect(await findWorkingTree(missing, sandbox.folder)).toEqual({ kind: "no-git" });
  });

  test("the inside of a bare repository or of .git is no working tree", async () => {
    const repository = await sandbox.repository("inside", { "CLAUDE.md": "" });
    await sandbox.run(sandbox.folder, "init", "-q", "--bare", sandbox.path("inside.git"));
    expect(await findWorkingTree(git, sandbox.path("inside.git"))).toEqual({ kind: "no-git" });
    expect(await findWorkingTree(git, `${repository}/.git`)).toEqual({ kind: "no-git" });
  });
});

describe("running git", () => {
  test("a git that does not end is given up at its deadline", async () => {
    await sandbox.write(sandbox.path("slow-git"), "#!/bin/sh\nexec cat /dev/zero >/dev/null\n");
    await chmod(sandbox.path("slow-git"), 0o755);
    const slow = createGit({ program: sandbox.path("slow-git"), env: sandbox.env, deadlineMs: 50 });
    expect((await slow(sandbox.folder, ["version"])).kind).toBe("failed");
  });

  test("a missing folder and an impossible argument are answers, not crashes", async () => {
    expect((await git(sandbox.path("nowhere"), ["status"])).kind).toBe("refused");
    expect((await git(sandbox.folder, ["log", "a\0b"])).kind).toBe("failed");
  });

  test("the index is not refreshed, though a command would like to", async () => {
    const folder = await sandbox.repository("stale", { "CLAUDE.md": "text" });
    await utimes(`${folder}/CLAUDE.md`, 1, 1);
    const before = await stat(`${folder}/.git/index`, { bigint: true });
    expect((await git(folder, ["status", "--porcelain"])).kind).toBe("done");
    const after = await stat(`${folder}/.git/index`, { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
  });

  test("another repository named by the environment is not looked at", async () => {
    const mine = await sandbox.repository("mine", { "CLAUDE.md": "" });
    const other = await sandbox.repository("other", { "CLAUDE.md": "" });
    const env = { ...sandbox.env, GIT_DIR: `${other}/.git`, GIT_WORK_TREE: other };
    const search = await findWorkingTree(createGit({ env }), mine);
    expect(search).toMatchObject({ kind: "tree", tree: { root: mine } });
  });

  test("a file system monitor that the repository names is not started", async () => {
    const folder = await sandbox.repository("monitored", { "CLAUDE.md": "" });
    await sandbox.write(`${folder}/.git/monitor`, `#!/bin/sh\ntouch ${folder}/started\n`);
    await chmod(`${folder}/.git/monitor`, 0o755);
    await sandbox.run(folder, "config", "core.fsmonitor", `${folder}/.git/monitor`);
    expect((await git(folder, ["status", "--porcelain"])).kind).toBe("done");
    await expect(access(`${folder}/started`)).rejects.toThrow();
  });
});

describe("a repository at a host that everybody knows", () => {
  /** A repository whose `origin` is at `url`. */
  async function cloneOf(name: string, url: string, ...config: string[]): Promise<string> {
    const folder = await sandbox.repository(name, { "README.md": "" });
    await sandbox.run(folder, "remote", "add", "origin", url);
    for (let at = 0; at < config.length; at += 2) {
      await sandbox.run(folder, "config", config[at] ?? "", config[at + 1] ?? "");
    }
    return folder;
  }

  async function identityOf(folder: string) {
    const identity = await identifyProject(git, folder);
    if (identity.kind === "none") throw new Error(identity.why);
    return identity;
  }

  test("a repository at a host that everybody knows is one project in any case of letters, and has its former name beside it", async () => {
    const lower = await identityOf(await cloneOf("lower", "https://github.com/acme/widget.git"));
    const upper = await identityOf(await cloneOf("upper", "git@github.com:Acme/Widget.git"));
    expect(upper.projectId).toBe(lower.projectId);
    expect(lower.formerId).toBeUndefined();
    expect([upper.formerId === undefined, upper.formerId === upper.projectId]).toEqual([
      false,
      false,
    ]);
    // What is shown keeps its own.
    expect([lower.name, upper.name]).toEqual(["widget", "Widget"]);
    // The name that every link of the URL has had since the first version.
    expect(upper.formerId).toBe<string | undefined>(FORMER);
  });

  test("a repository at a host that everybody knows is the same behind a mirror that one machine alone goes by", async () => {
    const url = "https://github.com/acme/mirrored.git";
    const plain = await identityOf(await cloneOf("plain", url));
    const mirror = "url.https://mirror.example.com/gh/.insteadOf";
    const mirrored = await identityOf(
      await cloneOf("mirrored", url, mirror, "https://github.com/"),
    );
    expect(mirrored.projectId).toBe(plain.projectId);
    expect(mirrored.formerId).not.toBe(plain.projectId);
    const shorthand = await identityOf(
      await cloneOf("shorthand", "gh:acme/mirrored", "url.git@github.com:.insteadOf", "gh:"),
    );
    expect([shorthand.projectId, shorthand.formerId]).toEqual([plain.projectId, undefined]);
  });

  test("elsewhere case counts, and what git fetches from, as ever", async () => {
    const upper = await identityOf(await cloneOf("other-upper", "https://example.com/Acme/w"));
    const lower = await identityOf(await cloneOf("other-lower", "https://example.com/acme/w"));
    expect(upper.projectId).not.toBe(lower.projectId);
    expect([upper.formerId, lower.formerId]).toEqual([undefined, undefined]);
    const to = "url.https://example.com/acme/.insteadOf";
    const short = await identityOf(await cloneOf("other-short", "work:w", to, "work:"));
    expect(short.projectId).toBe(lower.projectId);
  });
});
