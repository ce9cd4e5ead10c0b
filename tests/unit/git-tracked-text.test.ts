import { afterAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { appendFile, mkdir, rm, symlink, utimes } from "node:fs/promises";
import {
  QUIET_MS,
  RESTLESS_MS,
  readTrackedText,
  type Sighting,
  type TrackedRead,
} from "../../daemon/git/read-tracked-text.ts";
import type { Git } from "../../daemon/git/run-git.ts";
import { type PlacedFile, placeFile } from "../../daemon/git/working-tree.ts";
import { createGitSandbox } from "../support/git-sandbox.ts";

const sandbox = createGitSandbox();
const { git, run, runToFailure, commit, repository } = sandbox;
afterAll(() => sandbox.remove());

const NAME = "CLAUDE.md";

async function place(folder: string, name = NAME): Promise<PlacedFile> {
  const search = await placeFile(git, `${folder}/${name}`);
  if (search.kind !== "placed") throw new Error(search.kind);
  return search.file;
}

/** Looks again and again as a daemon does, on a clock that only the test moves. */
function createWatch(file: PlacedFile, runner: Git = git) {
  let nowMs = 0;
  let sighting: Sighting | undefined;
  return {
    async look(afterMs = 0): Promise<TrackedRead> {
      nowMs += afterMs;
      const read = await readTrackedText(
        runner,
        { monotonic: () => nowMs },
        { file, last: sighting },
      );
      sighting = read.sighting;
      return read;
    },
  };
}

/** A read in one line: the text under its branch, or why not. */
function told(read: TrackedRead): string {
  if (read.kind === "not-now") return read.why.code;
  return `${read.head.branch ?? "detached"}: ${read.bytes?.toString("utf8") ?? "missing"}`;
}

/** The answer for a file that is left in peace: the second of two looks far enough apart. */
async function settled(file: PlacedFile): Promise<string> {
  const watch = createWatch(file);
  await watch.look();
  return told(await watch.look(QUIET_MS));
}

/** Two branches with a text each; `main` is checked out. */
async function twoBranches(name: string): Promise<string> {
  const folder = await repository(name, { [NAME]: "text of main" });
  await run(folder, "checkout", "-q", "-b", "dev");
  await commit(folder, { [NAME]: "text of dev" });
  await run(folder, "checkout", "-q", "main");
  return folder;
}

/** A git that first does something of its own, once, when this command is asked of it. */
function interrupted(command: string, first: () => Promise<unknown>): Git {
  let done = false;
  return async (folder, args) => {
    if (!done && args.includes(command)) {
      done = true;
      await first();
    }
    return git(folder, args);
  };
}

describe("the quiet second", () => {
  test("a text counts once two looks a second apart saw the same", async () => {
    const watch = createWatch(await place(await twoBranches("quiet")));
    // Nobody touched it: that it has changed would not be true.
    expect(await watch.look()).toMatchObject({ why: { code: "not-now" } });
    expect(told(await watch.look(QUIET_MS - 1))).toBe("not-now");
    expect(told(await watch.look(1))).toBe("main: text of main");
    expect(told(await watch.look())).toBe("main: text of main");
  });

  test("the file's own time proves nothing", async () => {
    const folder = await twoBranches("old-time");
    await utimes(`${folder}/${NAME}`, 1, 1);
    const watch = createWatch(await place(folder));
    expect(told(await watch.look())).toBe("not-now");
    await utimes(`${folder}/${NAME}`, 4e9, 4e9);
    expect(told(await watch.look(QUIET_MS))).toBe("not-now");
    expect(told(await watch.look(QUIET_MS))).toBe("main: text of main");
  });

  test("a save, a save of the same text and a commit each begin it anew", async () => {
    const folder = await twoBranches("anew");
    const watch = createWatch(await place(folder));
    await watch.look();
    await sandbox.write(`${folder}/${NAME}`, "edited");
    expect(told(await watch.look(QUIET_MS))).toBe("not-now");
    await rm(`${folder}/${NAME}`);
    await sandbox.write(`${folder}/${NAME}`, "edited");
    expect(told(await watch.look(QUIET_MS))).toBe("not-now");
    await run(folder, "commit", "-q", "-a", "-m", "edited");
    expect(told(await watch.look(QUIET_MS))).toBe("not-now");
    expect(told(await watch.look(QUIET_MS))).toBe("main: edited");
  });

  test("a look that could not be made forgets what was seen before", async () => {
    const folder = await twoBranches("forgets");
    const watch = createWatch(await place(folder));
    await watch.look();
    await sandbox.write(`${folder}/.git/index.lock`, "");
    expect(told(await watch.look(QUIET_MS))).toBe("leave-busy");
    await rm(`${folder}/.git/index.lock`);
    expect(told(await watch.look(QUIET_MS))).toBe("not-now");
    expect(told(await watch.look(QUIET_MS))).toBe("main: text of main");
  });

  test("a look that takes a second is not a quiet second", async () => {
    const file = await place(await twoBranches("slow"));
    let nowMs = 0;
    const slow: Git = (folder, args) => {
      nowMs += QUIET_MS;
      return git(folder, args);
    };
    const world = { monotonic: () => nowMs };
    const first = await readTrackedText(slow, world, { file });
    const second = await readTrackedText(slow, world, { file, last: first.sighting });
    expect([told(first), told(second)]).toEqual(["not-now", "not-now"]);
    expect(told(await readTrackedText(slow, world, { file, last: second.sighting }))).not.toBe(
      "not-now",
    );
  });

  test("a missing file is an answer like a text, and needs the second too", async () => {
    const folder = await twoBranches("missing");
    await rm(`${folder}/${NAME}`);
    const watch = createWatch(await place(folder));
    expect(told(await watch.look())).toBe("not-now");
    expect(told(await watch.look(QUIET_MS))).toBe("main: missing");
  });

  test("the head that a text is told with is the commit that it was read at", async () => {
    const folder = await twoBranches("head");
    const tip = (await run(folder, "rev-parse", "HEAD")).trim();
    const watch = createWatch(await place(folder));
    await watch.look();
    const read = await watch.look(QUIET_MS);
    expect(read).toMatchObject({ kind: "read", head: { branch: "main", commit: tip } });
  });
});

describe("a file that is never quiet", () => {
  /** Appends a line every 0.7 seconds. Resolves with what is read, and when. */
  async function appended(folder: string, whileAppended: (turn: number) => Promise<unknown>) {
    const watch = createWatch(await place(folder));
    await watch.look();
    await watch.look(QUIET_MS);
    const step = 0.7 * QUIET_MS;
    for (let turn = 1; turn <= 40; turn += 1) {
      await appendFile(`${folder}/${NAME}`, `\nline ${turn}`);
      await whileAppended(turn);
      const read = await watch.look(step);
      if (read.kind === "read") return { atMs: turn * step, text: told(read), watch };
    }
    return undefined;
  }

  test("a file that is always written is read ten seconds after its first change, and again", async () => {
    const folder = await twoBranches("restless");
    const first = await appended(folder, async () => {});
    expect(first?.text).toEndWith("line 16");
    expect(first?.atMs).toBeLessThanOrEqual(RESTLESS_MS + 2 * QUIET_MS);
    await appendFile(`${folder}/${NAME}`, "\nmore");
    expect(told((await first?.watch.look(QUIET_MS / 2)) as TrackedRead)).toBe("not-now");
  });

  test("a file that is always written waits anew when git writes its index or HEAD", async () => {
    const works: readonly ((folder: string) => Promise<unknown>)[] = [
      (folder) => run(folder, "update-index", "--force-write-index"),
      (folder) => run(folder, "commit", "-q", "--allow-empty", "-m", "empty"),
      (folder) => sandbox.write(`${folder}/.git/index.lock`, ""),
    ];
    for (const [nth, work] of works.entries()) {
      const folder = await twoBranches(`restless-git-${nth}`);
      const read = await appended(folder, async (turn) => {
        await rm(`${folder}/.git/index.lock`, { force: true });
        if (turn % 10 === 0) await work(folder);
      });
      expect(read).toBeUndefined();
    }
  });
});

describe("between a checkout's last file and its HEAD", () => {
  test("the new branch's text is not taken for the old one's", async () => {
    const folder = await twoBranches("window");
    const watch = createWatch(await place(folder));
    await watch.look();
    expect(told(await watch.look(QUIET_MS))).toBe("main: text of main");
    // What a checkout leaves at that moment: files and index are dev's, unlocked, HEAD is main's.
    await run(folder, "checkout", "-q", "dev");
    await run(folder, "symbolic-ref", "HEAD", "refs/heads/main");
    await utimes(`${folder}/${NAME}`, 1, 1);
    expect(told(await watch.look(QUIET_MS))).toBe("not-now");
    await run(folder, "symbolic-ref", "HEAD", "refs/heads/dev");
    expect(told(await watch.look(QUIET_MS))).toBe("not-now");
    expect(told(await watch.look(QUIET_MS))).toBe("dev: text of dev");
  });

  test("a checkout during the look makes it void", async () => {
    for (const command of ["for-each-ref", "ls-files"]) {
      const folder = await twoBranches(`during-${command}`);
      const checkout = () => run(folder, "checkout", "-q", "dev");
      const watch = createWatch(await place(folder), interrupted(command, checkout));
      expect(told(await watch.look())).toBe("head-moved");
      expect(told(await watch.look(QUIET_MS))).toBe("not-now");
      expect(told(await watch.look(QUIET_MS))).toBe("dev: text of dev");
    }
  });

  test("a commit during the look makes it void, on a packed branch too", async () => {
    const folder = await twoBranches("commit-during");
    const empty = () => run(folder, "commit", "-q", "--allow-empty", "-m", "empty");
    const loose = createWatch(await place(folder), interrupted("ls-files", empty));
    expect(told(await loose.look())).toBe("head-moved");
    await run(folder, "pack-refs", "--all");
    const repack = () => empty().then(() => run(folder, "pack-refs", "--all"));
    const packed = createWatch(await place(folder), interrupted("ls-files", repack));
    expect(told(await packed.look())).toBe("head-moved");
  });

  test("a lock given up during the look makes it void", async () => {
    const folder = await twoBranches("unlock");
    await sandbox.write(`${folder}/.git/index.lock`, "");
    const give = () => rm(`${folder}/.git/index.lock`);
    const watch = createWatch(await place(folder), interrupted("ls-files", give));
    expect(told(await watch.look())).toBe("leave-busy");
  });

  test("a lock taken during the look makes it void", async () => {
    for (const lock of ["index.lock", "HEAD.lock"]) {
      const folder = await twoBranches(`lock-${lock}`);
      const take = () => sandbox.write(`${folder}/.git/${lock}`, "");
      const watch = createWatch(await place(folder), interrupted("ls-files", take));
      expect(told(await watch.look())).toBe("leave-busy");
    }
  });

  test("while branches are switched beside it, no text comes under the other's name", async () => {
    const folder = await twoBranches("race");
    // Between two switches the script dwells in commands that only read, so that many polls in a
    // row see one branch; the clock runs so that the second is over after ten of them.
    const dwell = "i=0; while [ $i -lt 40 ]; do git log -1; i=$((i+1)); done";
    const turn = `git checkout -q dev; ${dwell}; git checkout -q main; ${dwell}`;
    const flipping = sandbox.start(folder, `while [ ! -e ../enough ]; do ${turn}; done`);
    const texts = new Set<string>();
    try {
      const watch = createWatch(await place(folder));
      for (let poll = 0; poll < 400 || (texts.size < 2 && poll < 5000); poll += 1) {
        const read = await watch.look(QUIET_MS / 10);
        if (read.kind === "read") texts.add(told(read));
      }
    } finally {
      await sandbox.write(sandbox.path("enough"), "");
      await flipping.done;
    }
    // A wrong pair would be a third text.
    expect([...texts].sort()).toEqual(["dev: text of dev", "main: text of main"]);
    expect(await settled(await place(folder))).toBe("main: text of main");
  }, 60_000);
});

describe("what is not read", () => {
  test("a file with a conflict, or in the middle of an operation, is not read", async () => {
    const folder = await twoBranches("conflict");
    await commit(folder, { [NAME]: "changed on main" });
    await runToFailure(folder, "merge", "dev");
    expect(await settled(await place(folder))).toBe("leave-busy");
    await rm(`${folder}/.git/MERGE_HEAD`);
    expect(await settled(await place(folder))).toBe("leave-busy");
    await run(folder, "add", NAME);
    expect(await settled(await place(folder))).toContain("<<<<<<<");
  });

  test("a file that the operation in progress does not touch", async () => {
    const folder = await twoBranches("bisect");
    await run(folder, "bisect", "start");
    expect(await settled(await place(folder))).toBe("leave-busy");
    await run(folder, "bisect", "reset");
    expect(await settled(await place(folder))).toBe("main: text of main");
  });

  test("a file that a sparse checkout left out is not a deleted one", async () => {
    const folder = await repository("sparse", { "kept/a.md": "", "left/CLAUDE.md": "text" });
    await run(folder, "sparse-checkout", "set", "--cone", "kept");
    expect(await settled(await place(folder, "left/CLAUDE.md"))).toBe("not-checked-out");
  });

  test("a folder, and a pipe that nobody writes to", async () => {
    const folder = await repository("odd", { "README.md": "" });
    await mkdir(`${folder}/${NAME}`);
    expect(await settled(await place(folder))).toBe("not-a-file");
    execFileSync("mkfifo", [`${folder}/pipe.md`]);
    expect(await settled(await place(folder, "pipe.md"))).toBe("not-a-file");
  });

  test("nothing is read in a repository that git cannot read", async () => {
    const folder = await twoBranches("damaged");
    const file = await place(folder);
    await sandbox.write(`${folder}/.git/index`, "nonsense");
    expect(await settled(file)).toBe("git-failed");
    await sandbox.write(`${folder}/.git/HEAD`, "nonsense");
    expect(await settled(file)).toBe("git-failed");
    await rm(`${folder}/.git`, { recursive: true });
    expect(await settled(file)).toBe("git-failed");
  });
});

describe("where the text is", () => {
  test("a detached HEAD has no branch", async () => {
    const folder = await twoBranches("detached");
    await run(folder, "checkout", "-q", "--detach", "dev");
    expect(await settled(await place(folder))).toBe("detached: text of dev");
  });

  test("each linked worktree reads its own file under its own HEAD", async () => {
    const folder = await twoBranches("worktrees");
    const linked = sandbox.path("worktrees-dev");
    await run(folder, "worktree", "add", "-q", linked, "dev");
    expect(await settled(await place(folder))).toBe("main: text of main");
    expect(await settled(await place(linked))).toBe("dev: text of dev");
  });

  test("a symbolic link is read through", async () => {
    const folder = await repository("link", { "AGENTS.md": "text" });
    await symlink("AGENTS.md", `${folder}/${NAME}`);
    expect(await settled(await place(folder))).toBe("main: text");
  });

  test("before the first commit the branch has a name and no commit", async () => {
    const folder = sandbox.path("unborn");
    await run(sandbox.folder, "init", "-q", "-b", "trunk", folder);
    await sandbox.write(`${folder}/${NAME}`, "first");
    await run(folder, "add", NAME);
    expect(await settled(await place(folder))).toBe("trunk: first");
  });
});
