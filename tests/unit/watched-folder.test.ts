import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { POLL_MS } from "../../daemon/watch/poll-interval.ts";
import { type OpenEvents, openEvents } from "../../daemon/watch/watch.ts";
import { examineDisk, readType, watchTrouble } from "../../daemon/watch/watch-trouble.ts";
import {
  type Change,
  createWatchFolder,
  type FolderWatch,
  SECOND_GLANCE_MS,
  type WatchSeams,
} from "../../daemon/watch/watched-folder.ts";
import { silentLog } from "../../shared/log.ts";
import { DISK } from "../support/disk.ts";
import { createDrivenWorld, type DrivenWorld } from "../support/driven-world.ts";
import { Mounts, mounting } from "../support/mounted-folder.ts";
import { LINUX, testWith } from "../support/needs.ts";
import { waitFor } from "../support/wait-for.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const SAVES = 20;
const FILE = "CLAUDE.md";
const REAL: WatchSeams = { open: openEvents, readType };

/** As editors do: there is no moment in which the file holds half of it. */
async function save(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content);
  await rename(`${file}.new`, file);
}

/** The system's events, as a test makes them. */
interface Told {
  readonly heard: (name: string, cameOrWent?: boolean) => void;
  readonly failed: (thrown: unknown) => void;
  readonly ready: () => void;
}

class Bench {
  readonly root = mkdtempSync(join(DISK, "memsync-watch-"));
  readonly dir = join(this.root, "project");
  readonly file = join(this.dir, FILE);
  readonly gitDir = join(this.dir, ".git");
  world: DrivenWorld = createDrivenWorld();
  changes: Change[] = [];
  watch: FolderWatch | undefined;
  /** By the name of the folder that is listened to. */
  readonly told = new Map<string, Told>();

  constructor() {
    mkdirSync(this.gitDir, { recursive: true });
  }

  /** Listening that never tells anything by itself. */
  readonly open: OpenEvents = (folder, { heard, failed, ready }) => {
    const name = folder.slice(this.root.length + 1);
    const told = (of: string, cameOrWent = false) => heard(of, cameOrWent);
    this.told.set(name, { heard: told, failed, ready });
    return {
      close: async () => void this.told.delete(name),
    };
  };

  /** Begins to watch, and resolves when the clock may be driven. */
  async begin(seams: WatchSeams): Promise<void> {
    const changed = (change: Change = "file") => void this.changes.push(change);
    const watchFolder = createWatchFolder(seams);
    this.watch = watchFolder({
      dir: this.dir,
      gitDir: this.gitDir,
      world: this.world,
      log: silentLog,
      changed,
    });
    await waitFor("the watch to be up", () => this.world.timers > 0);
  }

  async beginTold(): Promise<void> {
    await this.begin({ open: this.open, readType });
  }

  /** Lets the clock come to the next glance, and resolves when that is over. */
  async glanceAfter(delayMs: number): Promise<void> {
    const before = this.world.timers;
    this.world.advance(delayMs);
    await waitFor("the glance to be over", () => this.world.timers >= before);
  }

  /** Lets glance follow glance, of which the first may still be at work on something else. */
  async untilGlanceTells(everyMs: number): Promise<void> {
    await waitFor("a glance to tell of a change", async () => {
      await this.glanceAfter(everyMs);
      return this.changes.length > 0;
    });
    this.changes = [];
  }

  async untilChanged(): Promise<void> {
    await waitFor("a change to be told", () => this.changes.length > 0);
    this.changes = [];
  }

  async end(): Promise<void> {
    await this.watch?.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench.end());

describe("watching by the system's events", () => {
  test("watching by the system's events hears of the file to which a link leads", async () => {
    const target = join(bench.dir, "docs", "guide.md");
    mkdirSync(join(bench.dir, "docs"));
    await writeFile(target, "one");
    await symlink("docs/guide.md", bench.file);
    await bench.begin(REAL);
    await save(target, "two");
    await bench.untilChanged();
  });

  test("watching by the system's events hears of each save, however soon it follows the one before", async () => {
    await save(bench.file, "");
    await bench.begin(REAL);
    const seen = new Set<string>();
    const look = (content: string) => {
      if (bench.changes.length > 0) seen.add(readFileSync(bench.file, "utf8"));
      bench.changes = [];
      return seen.has(content);
    };
    await waitFor("the first save to be heard of", async () => {
      await save(bench.file, "up");
      return look("up");
    });
    for (let at = 0; at < SAVES; at++) {
      await save(bench.file, `save ${at}`);
      await waitFor(`save ${at} to be heard of`, () => look(`save ${at}`));
    }
  });

  test("watching by the system's events listens to a folder that is made later, and to no other", async () => {
    await bench.beginTold();
    expect([...bench.told.keys()].sort()).toEqual(["project", "project/.git"]);
    await mkdir(join(bench.dir, ".claude"));
    await mkdir(join(bench.dir, "node_modules"));
    bench.told.get("project")?.heard(".claude");
    await waitFor("the folder", () => bench.told.has("project/.claude"));
    expect(bench.told.size).toBe(3);
    bench.told.get("project/.claude")?.heard(FILE);
    await bench.untilChanged();
  });

  test("watching by the system's events listens to .github, whose name begins as git's folder does", async () => {
    await mkdir(join(bench.dir, ".github"));
    await bench.beginTold();
    await waitFor("the folder", () => bench.told.has("project/.github"));
    bench.changes = [];
    bench.told.get("project/.github")?.heard("copilot-instructions.md");
    expect(bench.changes).toEqual(["file"]);
  });

  test("watching by the system's events tells of git's operations once they are quiet, and of its configuration", async () => {
    await bench.beginTold();
    for (let at = 0; at < 5; at++) {
      bench.told.get("project/.git")?.heard("index");
      bench.world.advance(100);
    }
    expect(bench.changes).toEqual([]);
    bench.world.advance(300);
    expect(bench.changes).toEqual(["file"]);
    bench.told.get("project/.git")?.heard("config");
    bench.told.get("project/.git")?.heard("COMMIT_EDITMSG");
    expect(bench.changes).toEqual(["file", "repository"]);
  });

  test("watching by the system's events tells of what was saved before the system's events came", async () => {
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const changed = (change: Change = "file") => void bench.changes.push(change);
    const watchFolder = createWatchFolder({
      open: bench.open,
      readType: async () => {
        asked.resolve();
        await held.promise;
        return 0;
      },
    });
    bench.watch = watchFolder({
      dir: bench.dir,
      gitDir: bench.gitDir,
      world: bench.world,
      log: silentLog,
      changed,
    });
    await bench.watch.begun;
    await asked.promise;
    writeFileSync(bench.file, "too early to be heard of");
    held.resolve();
    await waitFor("the folder to be listened to", () => bench.told.has("project"));
    expect(bench.changes).toEqual([]);
    bench.told.get("project")?.ready();
    await bench.untilChanged();
    bench.told.get("project/.git")?.ready();
    await bench.glanceAfter(SECOND_GLANCE_MS);
    expect(bench.changes).toEqual([]);
  });

  test("watching by the system's events makes up for an event that never came within a minute", async () => {
    await bench.beginTold();
    writeFileSync(bench.file, "unheard of");
    await bench.glanceAfter(SECOND_GLANCE_MS);
    await bench.untilChanged();
    await bench.glanceAfter(SECOND_GLANCE_MS);
    expect(bench.changes).toEqual([]);
  });

  test("watching by the system's events listens to the folder that takes a removed one's place", async () => {
    await bench.begin(REAL);
    renameSync(bench.dir, join(bench.root, "away"));
    await bench.untilChanged();
    mkdirSync(bench.dir);
    await bench.glanceAfter(POLL_MS);
    await bench.untilChanged();
    await waitFor("a save in it to be heard of", async () => {
      await save(bench.file, String(performance.now()));
      return bench.changes.length > 0;
    });
  });
});

const MOUNTING = mounting();

describe("a file system that is unmounted", () => {
  const mounts = new Mounts();
  afterEach(() => mounts[Symbol.dispose]());

  testWith(
    MOUNTING,
    "a file system that is unmounted is told of at once where nobody uses it",
    async () => {
      mounts.mount(bench.dir);
      const listening = Promise.withResolvers<void>();
      const open: OpenEvents = (folder, { heard, failed, ready }) => {
        const isReady = () => {
          ready();
          listening.resolve();
        };
        return openEvents(folder, { heard, failed, ready: folder === bench.dir ? isReady : ready });
      };
      await bench.begin({ open, readType });
      await listening.promise;
      mounts.unmount(bench.dir);
      await bench.untilChanged();
    },
  );

  testWith(
    MOUNTING,
    "a file system that is unmounted is found in the next glance where somebody does",
    async () => {
      mounts.mount(bench.dir);
      await bench.begin(REAL);
      await bench.watch?.begun;
      const used = openSync(bench.dir, "r");
      mounts.unmount(bench.dir);
      await bench.untilGlanceTells(SECOND_GLANCE_MS);
      closeSync(used);
    },
  );

  testWith(
    MOUNTING,
    "a file system that is unmounted is not taken for another one, whose first folder has the same inode",
    async () => {
      mounts.mount(bench.dir);
      await bench.beginTold();
      const first = bench.told.get("project");
      mounts.mount(bench.dir);
      await bench.untilGlanceTells(SECOND_GLANCE_MS);
      await waitFor("the other to be listened to", () => bench.told.get("project") !== first);
    },
  );

  testWith(
    MOUNTING,
    "a file system that is unmounted is listened to anew where it is mounted again before anybody looked",
    async () => {
      await bench.beginTold();
      const first = bench.told.get("project");
      first?.heard("project", true);
      await waitFor("the folder to be listened to anew", () => {
        const second = bench.told.get("project");
        return second !== undefined && second !== first;
      });
    },
  );
});

class SystemError extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

describe("polling", () => {
  test("polling begins when the system has no more watches, and finds what is saved", async () => {
    await bench.beginTold();
    const { failed } = bench.told.get("project") as Told;
    for (let at = 0; at < 300; at++) failed(new SystemError("ENOSPC"));
    await waitFor("nothing to be listened to", () => bench.told.size === 0);
    expect(bench.watch?.polled).toMatchObject({ code: "watch-limit", limit: "max_user_watches" });
    writeFileSync(bench.file, "polled");
    await bench.untilGlanceTells(POLL_MS);
    writeFileSync(join(bench.gitDir, "MERGE_HEAD"), "");
    await bench.untilGlanceTells(POLL_MS);
  });

  testWith(LINUX, "polling is how network file systems are watched", async () => {
    await bench.begin({ open: bench.open, readType: async () => 0x6969 });
    expect(bench.watch?.polled).toEqual({ code: "network-disk", why: "it is on NFS", limit: null });
    expect(bench.told.size).toBe(0);
    writeFileSync(bench.file, "by another machine");
    await bench.untilGlanceTells(POLL_MS);
  });

  testWith(
    LINUX,
    "polling knows file systems by their numbers, with a sign or without",
    async () => {
      for (const type of [0xff534d42, 0xff534d42 - 2 ** 32]) {
        const { trouble, isNear } = await examineDisk("/", async () => type);
        expect([trouble?.why, isNear]).toEqual(["it is on CIFS", false]);
      }
      const fail = () => Promise.reject(new SystemError("EACCES"));
      expect(await examineDisk("/", fail)).toEqual({ trouble: undefined, isNear: false });
      expect(await examineDisk(bench.dir, readType)).toEqual({ trouble: undefined, isNear: true });
    },
  );

  test("polling names the limit, and is not begun for a folder that is gone", () => {
    expect(watchTrouble(new SystemError("EMFILE"))?.limit).toBe("max_user_instances");
    expect(watchTrouble(new SystemError("EIO"))?.limit).toBeNull();
    expect(watchTrouble(new SystemError("ENOENT"))).toBeUndefined();
  });
});
