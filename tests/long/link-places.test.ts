import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Lab, scenarioOnDisk as scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { Mounts, mounting, unbornMounts } from "../support/mounted-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const START = "# Guide\n\nBuild with make.\n";

/** A machine whose clone `a` may be written into, and another one, which runs once it saves. */
async function startAgreed(lab: Lab, account: string): Promise<readonly [Machine, Machine]> {
  const [a, b] = await lab.twoMachines(emulator.account(account), { [FILE]: START });
  await mkdir(lab.git.path("elsewhere"));
  await a.up();
  await a.memsync("link", "--write");
  await untilText(a, START);
  return [a, b];
}

async function untilText(machine: Machine, text: string): Promise<void> {
  const { id } = await machine.projectOf();
  await waitFor("the document to have its text", async () => (await machine.doc(id)) === text);
}

async function folderOf(machine: Machine, dir: string) {
  const folders = (await machine.status()).projects.flatMap(({ folders }) => folders);
  return folders.find((folder) => folder.dir === dir);
}

async function untilFolder(
  machine: Machine,
  dir: string,
  expected: Readonly<Record<string, unknown>>,
): Promise<void> {
  await waitFor(`${dir} to be ${JSON.stringify(expected)}`, async () => {
    const found = await folderOf(machine, dir);
    return found !== undefined && Bun.deepMatch(expected, found);
  });
}

/** The other machine saves something, and all of these folders' files have it or not. */
async function expectWritten(
  [a, b]: readonly [Machine, Machine],
  text: string,
  wanted: Readonly<Record<string, boolean>>,
): Promise<void> {
  if (!b.daemon) await b.up();
  await writeFile(join(b.folder, FILE), text);
  await untilText(b, text);
  const { id } = await b.projectOf();
  await waitFor("a's document to have it", async () => (await a.doc(id)) === text);
  for (const [dir, isWritten] of Object.entries(wanted)) {
    if (!isWritten) continue;
    await waitFor(`${dir} to be written`, async () => {
      return (await readFile(join(dir, FILE), "utf8")) === text;
    });
  }
  await waitFor("all looks", () => a.syncOnce());
  for (const [dir, isWritten] of Object.entries(wanted)) {
    expect([dir, (await readFile(join(dir, FILE), "utf8")) === text]).toEqual([dir, isWritten]);
  }
}

scenario("a worktree that is linked while its clone is away does not get its link", async (lab) => {
  const [a, b] = await startAgreed(lab, "worktree");
  const moved = lab.git.path("elsewhere", "a");
  const tree = lab.git.path("tree");
  await rename(a.folder, moved);
  await untilFolder(a, a.folder, { state: "left-alone" });
  await lab.git.run(moved, "worktree", "add", "-q", "-f", tree, "main");
  const linked = await a.run(["link"], { cwd: tree });
  expect(linked.stderr).toContain(`memsync unlink ${a.folder}`);
  await untilFolder(a, tree, { state: "upwards", place: null });
  const gone = await folderOf(a, a.folder);
  expect(gone?.note).toContain(`memsync unlink ${a.folder}`);
  const { stdout, stderr } = await a.run(["status"], { cwd: moved });
  expect(stderr).toContain(`${a.folder} was moved to ${moved}, and is followed here again`);
  expect(stdout).toContain("was moved from ~/a, followed here again");
  expect(stdout).not.toContain("not looked at yet");
  await untilFolder(a, moved, { state: "followed", place: { kind: "moved", from: a.folder } });
  expect(await folderOf(a, a.folder)).toBeUndefined();
  await expectWritten([a, b], `${START}\nOf b.\n`, { [moved]: true, [tree]: false });
  expect(await lab.git.run(tree, "status", "--porcelain")).toBe("");
});

scenario("a clone that is back is followed as before, beside one linked meanwhile", async (lab) => {
  const [a, b] = await startAgreed(lab, "back");
  const other = lab.git.path("other");
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "other");
  await rename(a.folder, lab.git.path("elsewhere", "kept"));
  await untilFolder(a, a.folder, { state: "left-alone" });
  const linked = await a.memsyncWith({ cwd: other }, "link", "--json");
  expect(JSON.parse(linked)).toMatchObject({ dir: other, write: false });
  await rename(lab.git.path("elsewhere", "kept"), a.folder);
  await untilFolder(a, a.folder, { state: "followed", place: null });
  await expectWritten([a, b], `${START}\nOf b.\n`, { [a.folder]: true, [other]: false });
});

scenario("a copy of a clone is a link of its own", async (lab) => {
  const [a, b] = await startAgreed(lab, "copied");
  const copy = lab.git.path("copy");
  await cp(a.folder, copy, { recursive: true, preserveTimestamps: true });
  await a.memsync("link", copy);
  expect((await a.projectOf(copy)).id).toBe((await a.projectOf()).id);
  await expectWritten([a, b], `${START}\nOf b.\n`, { [a.folder]: true, [copy]: false });
});

scenario("a clone made anew in its place is followed, and may not be written into", async (lab) => {
  const [a, b] = await startAgreed(lab, "again");
  await rm(a.folder, { recursive: true });
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "a");
  await untilFolder(a, a.folder, {
    state: "upwards",
    place: { kind: "replaced", moved_to: null, wrote: true },
  });
  expect(await a.memsync("status")).toContain("until `memsync link --write` there");
  await expectWritten([a, b], `${START}\nOf b.\n`, { [a.folder]: false });
  expect(await lab.git.run(a.folder, "status", "--porcelain")).toBe("");
  await a.memsync("link");
  await untilFolder(a, a.folder, { place: { kind: "replaced" } });
  await a.memsync("link", "--write");
  await untilFolder(a, a.folder, { place: null });
  await expectWritten([a, b], `${START}\nOf b, again.\n`, { [a.folder]: true });
});

scenario("a folder that is put back from a backup is another one", async (lab) => {
  const [a, b] = await startAgreed(lab, "backup");
  const backup = lab.git.path("elsewhere", "backup");
  await cp(a.folder, backup, { recursive: true, preserveTimestamps: true });
  await a.down();
  await rm(a.folder, { recursive: true });
  await cp(backup, a.folder, { recursive: true, preserveTimestamps: true });
  await a.up(backup);
  await untilFolder(a, a.folder, { state: "upwards", place: { kind: "replaced", wrote: true } });
  await expectWritten([a, b], `${START}\nOf b.\n`, { [a.folder]: false, [backup]: false });
  await a.memsync("link", "--write");
  await expectWritten([a, b], `${START}\nOf b, again.\n`, { [a.folder]: true, [backup]: false });
});

scenario(
  "a clone that was renamed, and another one under its name, are both followed",
  async (lab) => {
    const [a, b] = await startAgreed(lab, "renamed");
    const old = lab.git.path("a-old");
    await a.down();
    await rename(a.folder, old);
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "a");
    await a.up(lab.git.path("elsewhere"));
    await untilFolder(a, old, { state: "followed", place: { kind: "moved", from: a.folder } });
    await untilFolder(a, a.folder, {
      state: "upwards",
      place: { kind: "replaced", moved_to: old, wrote: true },
    });
    await expectWritten([a, b], `${START}\nOf b.\n`, { [old]: true, [a.folder]: false });
    await a.memsync("unlink");
    expect(await folderOf(a, a.folder)).toBeUndefined();
    expect((await folderOf(a, old))?.state).toBe("followed");
  },
);

scenario("a clone moved far away is known again, though another took its path", async (lab) => {
  const [a, b] = await startAgreed(lab, "far");
  const far = lab.git.path("elsewhere", "deep", "a");
  await mkdir(lab.git.path("elsewhere", "deep"));
  await rename(a.folder, far);
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "a");
  await untilFolder(a, a.folder, { place: { kind: "replaced", moved_to: null } });
  await a.memsyncWith({ cwd: far }, "list");
  await untilFolder(a, far, { state: "followed", place: { kind: "moved", from: a.folder } });
  await untilFolder(a, a.folder, { state: "upwards" });
  await expectWritten([a, b], `${START}\nOf b.\n`, { [far]: true, [a.folder]: false });
});

scenario("the first status in a worktree at a moved clone's path says what is so", async (lab) => {
  const [a, b] = await startAgreed(lab, "comer");
  const moved = lab.git.path("elsewhere", "a");
  await rename(a.folder, moved);
  await untilFolder(a, a.folder, { why: "folder-gone" });
  await lab.git.run(moved, "worktree", "add", "-q", "-f", a.folder, "main");
  const shown = await a.memsyncWith({ cwd: a.folder }, "status");
  // The daemon may have found the moved one by itself before the worktree was there.
  expect(shown).toMatch(
    /took the place of the folder that was linked here, which is |^here .* not followed/m,
  );
  expect(shown).not.toContain("is gone");
  await untilFolder(a, moved, { state: "followed", place: { kind: "moved", from: a.folder } });
  await expectWritten([a, b], `${START}\nOf b.\n`, { [moved]: true, [a.folder]: false });
});

scenario("the first status in a stranger's clone at a moved one's path says so", async (lab) => {
  const [a] = await startAgreed(lab, "comer-of-others");
  await rename(a.folder, lab.git.path("elsewhere", "a"));
  await untilFolder(a, a.folder, { why: "folder-gone" });
  await lab.git.repository("a", { "README.md": "another project\n" });
  const shown = await a.memsyncWith({ cwd: a.folder }, "status");
  expect(shown).toContain("another folder was put in place of the linked one");
  expect(shown).not.toContain("is gone");
});

scenario("two clones that change their places keep what was agreed for each", async (lab) => {
  const [a, b] = await startAgreed(lab, "swapped");
  const other = lab.git.path("other");
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "other");
  await a.memsync("link", other);
  await untilFolder(a, other, { state: "upwards" });
  await a.down();
  await rename(a.folder, lab.git.path("between"));
  await rename(other, a.folder);
  await rename(lab.git.path("between"), other);
  await a.up(a.folder);
  await untilFolder(a, other, { state: "followed", place: { kind: "moved", from: a.folder } });
  await untilFolder(a, a.folder, { state: "upwards", place: { kind: "moved", from: other } });
  await expectWritten([a, b], `${START}\nOf b.\n`, { [other]: true, [a.folder]: false });
});

scenario(
  "a folder inside a clone that was moved goes along, whatever takes its path",
  async (lab) => {
    const [a] = await startAgreed(lab, "inside");
    await lab.git.write(join(a.folder, "web", FILE), "# Web\n");
    await a.memsync("link", join(a.folder, "web"));
    const { id } = await a.projectOf(join(a.folder, "web"));
    const old = lab.git.path("a-old");
    await rename(a.folder, old);
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "a");
    await lab.git.write(join(a.folder, "web", "x"), "");
    await untilFolder(a, join(old, "web"), {
      place: { kind: "moved", from: join(a.folder, "web") },
    });
    expect((await a.projectOf(join(old, "web"))).id).toBe(id);
  },
);

scenario("another project's clone under the same path gets nothing of the link", async (lab) => {
  const [a] = await startAgreed(lab, "stranger");
  await rename(a.folder, lab.git.path("elsewhere", "a"));
  await lab.git.repository("a", { "README.md": "another project\n" });
  await untilFolder(a, a.folder, { state: "left-alone" });
  const linked = JSON.parse(await a.memsync("link", "--json"));
  expect(linked).toMatchObject({ dir: a.folder, write: false });
  await a.memsyncWith({ cwd: lab.git.path("elsewhere", "a") }, "list");
  const back = await folderOf(a, lab.git.path("elsewhere", "a"));
  expect(back?.place).toMatchObject({ kind: "moved", from: a.folder });
  expect((await a.projectOf(lab.git.path("elsewhere", "a"))).id).not.toBe(linked.project_id);
});

scenario("a link of an older version is kept, with what was agreed for it", async (lab) => {
  const [a, b] = await startAgreed(lab, "older");
  await a.down();
  const database = new Database(join(a.home, "memsync.db"));
  database.run("delete from link_places");
  database.close();
  await a.up();
  await untilFolder(a, a.folder, { state: "followed", place: null });
  await expectWritten([a, b], `${START}\nOf b.\n`, { [a.folder]: true });
});

/** As on a file system that keeps no time of birth. */
async function withoutBirth(machine: Machine, device: string): Promise<void> {
  await machine.down();
  const database = new Database(join(machine.home, "memsync.db"));
  database.run(`update link_places set born_at = '', device = ${device}`);
  database.close();
}

scenario("without a time of birth the device and the inode tell a folder", async (lab) => {
  const [a, b] = await startAgreed(lab, "unborn");
  await withoutBirth(a, "device");
  await a.up();
  await untilFolder(a, a.folder, { state: "followed", place: null });
  await expectWritten([a, b], `${START}\nOf b.\n`, { [a.folder]: true });
  await withoutBirth(a, "'4711'");
  await a.up(lab.git.path("elsewhere"));
  await untilFolder(a, a.folder, { state: "upwards", place: { kind: "replaced", wrote: true } });
});

scenario("a link that asks for its consent again can be told no", async (lab) => {
  const [a] = await startAgreed(lab, "no");
  await rm(a.folder, { recursive: true });
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "a");
  await untilFolder(a, a.folder, { place: { kind: "replaced", wrote: true } });
  await a.memsync("link", "--no-write");
  await untilFolder(a, a.folder, { state: "upwards", place: null });
});

scenario(
  "on a file system without times of birth a repository has one, and a folder without is asked",
  async (lab) => {
    using mounts = new Mounts();
    const disk = lab.git.path("disk");
    mounts.mountUnborn(lab.git.path("image"), disk);
    const b = lab.machine("b", lab.git.path("b"), emulator.account("old-disk"));
    const a = lab.machine("a", join(disk, "a"), emulator.account("old-disk"));
    await lab.git.repository("first", { [FILE]: START });
    await lab.git.run(lab.git.folder, "clone", "-q", "--bare", "first", "origin.git");
    for (const folder of [a.folder, b.folder]) {
      await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", folder);
    }
    const plain = join(disk, "plain");
    await lab.git.write(join(plain, FILE), "# Plain\n");
    await Promise.all([a.up(a.folder, plain), b.up()]);
    await a.memsync("link", "--write");
    await a.memsyncWith({ cwd: plain }, "link", "--write");
    const { id } = await a.projectOf(plain);
    await waitFor("the plain text", async () => (await a.doc(id)) === "# Plain\n");
    await rename(a.folder, join(disk, "a2"));
    await rename(plain, join(disk, "plain2"));
    await untilFolder(a, join(disk, "a2"), { place: { kind: "moved", wrote: false } });
    await a.memsyncWith({ cwd: join(disk, "plain2") }, "list");
    await untilFolder(a, join(disk, "plain2"), { place: { kind: "moved", wrote: true } });
    expect((await a.projectOf(join(disk, "plain2"))).id).toBe(id);
    await expectWritten([a, b], `${START}\nOf b.\n`, { [join(disk, "a2")]: true });
    // The inode is given to the next folder that is made.
    await rm(join(disk, "a2"), { recursive: true });
    await lab.git.run(disk, "clone", "-q", lab.git.path("origin.git"), "a2");
    await untilFolder(a, join(disk, "a2"), { place: { kind: "replaced", wrote: true } });
  },
  { needs: unbornMounts() },
);

scenario(
  "a second path to a linked folder is no second link",
  async (lab) => {
    using mounts = new Mounts();
    const [a, b] = await startAgreed(lab, "bound");
    const second = lab.git.path("second");
    mounts.bind(a.folder, second);
    expect(await a.memsyncWith({ cwd: second }, "link")).toContain(`linked ${a.folder} to`);
    await a.memsyncWith({ cwd: second }, "set", "key", "value");
    const { projects } = await a.status();
    expect(projects.flatMap(({ folders }) => folders.map(({ dir }) => dir))).toEqual([a.folder]);
    expect(await a.memsync("get", "key")).toBe("value");
    await expectWritten([a, b], `${START}\nOf b.\n`, { [a.folder]: true });
    await a.memsyncWith({ cwd: second }, "unlink");
    expect((await a.status()).projects).toEqual([]);
  },
  { needs: mounting() },
);

scenario("clones that are made again and again under a linked path all succeed", async (lab) => {
  const [a] = await startAgreed(lab, "cloned");
  for (let times = 0; times < 20; times++) {
    await rm(a.folder, { recursive: true });
    await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "a");
    await a.run(["link", "--write"]);
    expect(await lab.git.run(a.folder, "status", "--porcelain")).toBe("");
  }
  await untilFolder(a, a.folder, { state: "followed" });
});

scenario("a command waits for no other work of the daemon where nothing was moved", async (lab) => {
  const folder = await lab.git.repository("a", { "README.md": "" });
  const slow = await lab.git.repository("slow", { "README.md": "slow" });
  await lab.git.run(slow, "remote", "add", "origin", "https://example.com/team/slow.git");
  const path = (name: string) => lab.git.path(name);
  // The first look for a repository's first commit, which a link needs, lasts until it is let go.
  const isFirst = `[ -p '${path("gate")}' ] && [ ! -e '${path("reached")}' ]`;
  const wait = `touch '${path("reached")}'; read -r _ < '${path("gate")}'`;
  const words = `case "$*" in *rev-list*) if ${isFirst}; then ${wait}; fi;; esac`;
  const git = Bun.which("git", { PATH: lab.git.env.PATH ?? "" });
  await lab.git.write(path("bin/git"), `#!/bin/sh\n${words}\nexec '${git}' "$@"\n`);
  await chmod(path("bin/git"), 0o755);
  const machine = lab.machine("a", folder);
  const env = { PATH: `${path("bin")}:${lab.git.env.PATH}` };
  await machine.memsyncWith({ env }, "start", folder);
  expect(Bun.spawnSync(["mkfifo", path("gate")]).exitCode).toBe(0);
  const link = machine.spawn(["link", slow]);
  await waitFor("git to be asked", () => existsSync(path("reached")));
  expect(await machine.memsync("status")).toContain("here      a   proj_");
  expect(link.running).toBe(true);
  await writeFile(path("gate"), "\n");
  expect((await link.ended()).status).toBe(0);
});

scenario("the home folder, and what holds it, is no project's folder", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  await machine.up();
  for (const dir of ["/", lab.git.folder]) {
    const { status, stderr } = await machine.run(["link", dir]);
    expect([dir, status]).toEqual([dir, 1]);
    expect(stderr).toContain(`${dir} is your home folder, or holds it: link the folder of one`);
  }
});

scenario("a .git, and what is inside of one, is no project's folder", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  for (const args of [
    ["link", ".git"],
    ["link", ".git/hooks"],
    ["start", ".git"],
  ]) {
    const { status, stdout, stderr } = await machine.run(args);
    expect([args, status, stdout]).toEqual([args, 1, ""]);
    expect(stderr).toMatch(/^memsync: \S+\.git\S* is .*git's own: `memsync link \S+\/a` links/);
  }
  expect(machine.holder()).toBeUndefined();
  await machine.up();
  const inside = await machine.run(["link"], { cwd: `${machine.folder}/.git/hooks` });
  expect([inside.status, inside.stderr]).toEqual([1, expect.stringContaining("git's own")]);
  const linked = { dir: `${machine.folder}/.git` };
  expect((await machine.gateway("POST", "/_memsync/link", linked)).status).toBe(400);
  expect((await machine.status()).projects).toHaveLength(1);
});

scenario("a worktree whose repository was moved is no project of its own", async (lab) => {
  const repository = await lab.git.repository("a", { "README.md": "" });
  await lab.git.run(repository, "worktree", "add", "-q", "../beside");
  const beside = lab.git.path("beside");
  const moved = lab.git.path("moved");
  await rename(repository, moved);
  const machine = lab.machine("a", moved);
  await machine.up();
  const { status, stderr } = await machine.run(["link"], { cwd: beside });
  expect([status, stderr]).toEqual([1, expect.stringContaining("git worktree repair")]);
  expect((await machine.status()).projects).toHaveLength(1);
  await lab.git.run(moved, "worktree", "repair", beside);
  expect((await machine.run(["link"], { cwd: beside })).status).toBe(0);
  expect((await machine.status()).projects).toHaveLength(1);
});

scenario("in a worktree without its repository nothing is read or written", async (lab) => {
  const repository = await lab.git.repository("a", { "README.md": "" });
  await lab.git.run(repository, "worktree", "add", "-q", "inside");
  await lab.git.run(repository, "worktree", "add", "-q", "../beside");
  const lib = await lab.git.repository("lib", { "lib.ts": "" });
  const add = ["submodule", "--quiet", "add", lib, "sub"];
  await lab.git.run(repository, "-c", "protocol.file.allow=always", ...add);
  const moved = lab.git.path("moved");
  await rename(repository, moved);
  await rename(join(moved, ".git", "modules"), join(moved, ".git", "away"));
  const machine = lab.machine("a", moved);
  await machine.up();
  await machine.memsync("set", "greeting", "hello");
  await machine.memsync("set", "greeting", "mine", "--layer", "user");
  const lost = [
    [lab.git.path("beside"), "git worktree repair"],
    [join(moved, "inside"), "git worktree repair"],
    [join(moved, "sub"), "git submodule update --init"],
  ] as const;
  const calls = [
    ["get", "greeting"],
    ["set", "k", "v"],
    ["add", "x"],
    ["rm", "greeting"],
    ["list"],
  ];
  const expectRefused = async () => {
    for (const [cwd, mending] of lost) {
      for (const args of calls) {
        const { status, stdout, stderr } = await machine.run(args, { cwd });
        expect([cwd, args, status, stdout]).toEqual([cwd, args, 1, ""]);
        expect(stderr).toContain(mending);
      }
      const shown = (await machine.run(["status"], { cwd })).stdout;
      expect(shown).toContain(mending);
      expect(shown).not.toContain("`memsync link` follows it");
    }
  };
  await expectRefused();
  for (const [dir] of lost) {
    expect((await machine.gateway("POST", "/_memsync/link", { dir })).status).toBe(400);
  }
  expect((await machine.list()).map(({ value }) => value)).toEqual(["hello", "mine"]);
  await machine.memsync("stop");
  await expectRefused();
  await lab.git.run(moved, "worktree", "repair", "inside", "../beside");
  expect(await machine.memsyncWith({ cwd: join(moved, "inside") }, "get", "greeting")).toBe(
    "hello",
  );
});

scenario("a link to a worktree counts, though its repository was moved", async (lab) => {
  const repository = await lab.git.repository("a", { "README.md": "" });
  await lab.git.run(repository, "worktree", "add", "-q", "../beside");
  const beside = lab.git.path("beside");
  const machine = lab.machine("a", beside);
  await machine.up();
  await machine.memsync("set", "greeting", "hello");
  await rename(repository, lab.git.path("moved"));
  expect(await machine.memsync("get", "greeting")).toBe("hello");
  expect(await machine.memsync("status")).toContain("here      a   proj_");
});

scenario("an id that is all but a project's is taken for a mistyped one", async (lab) => {
  const machine = lab.machine("a", await lab.git.repository("a", { "README.md": "" }));
  await machine.up();
  const { id } = await machine.projectOf();
  const last = id.endsWith("a") ? "b" : "a";
  const { status, stderr } = await machine.run(["link", "--id", `${id.slice(0, -1)}${last}`]);
  expect(status).toBe(1);
  expect(stderr).toContain(`: did you mean "${id}"?`);
  expect((await machine.projectOf()).id).toBe(id);
});
