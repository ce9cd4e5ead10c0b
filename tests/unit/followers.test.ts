import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { FollowedFile } from "../../daemon/files/followed-file.ts";
import { Followers, RESCAN_INTERVAL_MS } from "../../daemon/files/followers.ts";
import { GRACE_MS } from "../../daemon/files/state/grace.ts";
import type { Git } from "../../daemon/git/run-git.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { writePosition } from "../../daemon/home/positions.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { WatchFolder } from "../../daemon/watch/watched-folder.ts";
import { silentLog } from "../../shared/log.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { DISK } from "../support/disk.ts";
import { createDrivenWorld, type DrivenWorld } from "../support/driven-world.ts";
import { openTestReplica } from "../support/empty-home.ts";
import { projectId } from "../support/project-id.ts";
import { waitFor } from "../support/wait-for.ts";

const PROJECT = projectId("a");
const ADDRESS = { owner: LOCAL_ACCOUNT, name: PROJECT };
const SERVICE = "service";

const noGit: Git = async () => ({ kind: "no-program" });
/** Tells of nothing. */
const deaf: WatchFolder = () => ({ begun: watched, close: async () => {} });

let root = "";
let world: DrivenWorld;
let store: ReplicaStore<DaemonTables>;
let followers: Followers;
let asked: string[];
/** When the watches have begun. */
let watched: Promise<void> | undefined;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(DISK, "memsync-followers-")));
  mkdirSync(join(root, "project"));
  writeFileSync(join(root, "project", "CLAUDE.md"), "# One\n");
  world = createDrivenWorld();
  asked = [];
  watched = undefined;
  store = await openTestReplica(join(root, "memsync.db"), world, { machine: "machine" });
  await store.write(async (context) => {
    const { id } = await context.open(ADDRESS);
    await writePosition(context.db, SERVICE, {
      documentId: id,
      position: {
        remote: { epoch: "", seq: 0 },
        ackedSeq: 0,
        refused: undefined,
      },
    });
  });
  followers = new Followers({
    store,
    world,
    log: silentLog,
    git: noGit,
    watch: deaf,
    account: LOCAL_ACCOUNT,
    service: SERVICE,
    onRepository: ({ dir }) => void asked.push(dir),
  });
});

afterEach(async () => {
  await followers.stop();
  await store.close();
  rmSync(root, { recursive: true, force: true });
});

async function lookAfterGrace(file: FollowedFile): Promise<void> {
  file.look();
  await file.settled();
  expect(file.status.state).toBe("waiting");
  world.advance(GRACE_MS);
  await waitFor("the grace to be over", () => file.status.state !== "waiting");
  await file.settled();
}

async function textOf(): Promise<string | undefined> {
  return await store.write(async (context) => (await context.open(ADDRESS)).document.content());
}

test("what nobody told of is found by the rescan, every hour", async () => {
  const dir = join(root, "project");
  const file = await followers.add({ dir, projectId: PROJECT, name: "a", write: false });
  await file.settled();
  expect(await textOf()).toBe("# One\n");
  for (const text of ["# Two\n", "# Three\n"]) {
    writeFileSync(join(dir, "CLAUDE.md"), text);
    world.advance(RESCAN_INTERVAL_MS - 1);
    await file.settled();
    expect(await textOf()).not.toBe(text);
    world.advance(1);
    await waitFor(`the rescan to find ${text}`, async () => (await textOf()) === text);
    await file.settled();
  }
  expect(asked).toEqual([dir, dir]);
});

test("a file is looked at for the first time when what is saved later is told of", async () => {
  const dir = join(root, "project");
  const begun = Promise.withResolvers<void>();
  watched = begun.promise;
  const adding = followers.add({ dir, projectId: PROJECT, name: "a", write: false });
  await waitFor("the folder to be followed", () => followers.files().length === 1);
  await followers.files()[0]?.settled();
  writeFileSync(join(dir, "CLAUDE.md"), "# Saved meanwhile\n");
  begun.resolve();
  await (await adding).settled();
  expect(await textOf()).toBe("# Saved meanwhile\n");
});

test("a file in a folder that went away is neither empty nor deleted", async () => {
  const dir = join(root, "project");
  const file = await followers.add({ dir, projectId: PROJECT, name: "a", write: false });
  await file.settled();
  rmSync(dir, { recursive: true });
  for (let look = 0; look < 5; look++) {
    world.advance(60_000);
    file.look();
    await file.settled();
  }
  expect(await textOf()).toBe("# One\n");
  expect(file.status.note).toContain("folder is gone");
  mkdirSync(dir);
  for (let look = 0; look < 5; look++) {
    world.advance(60_000);
    file.look();
    await file.settled();
  }
  expect(await textOf()).toBe("# One\n");
});

test("another file is not taken for one that is only gone for a moment", async () => {
  const dir = join(root, "project");
  const file = await followers.add({ dir, projectId: PROJECT, name: "a", write: false });
  await file.settled();
  writeFileSync(join(dir, "AGENTS.md"), "# Agents\n");
  renameSync(join(dir, "CLAUDE.md"), join(dir, "away"));
  file.look();
  await file.settled();
  expect(file.status.state).toBe("waiting");
  renameSync(join(dir, "away"), join(dir, "CLAUDE.md"));
  world.advance(GRACE_MS);
  await file.settled();
  expect(await textOf()).toBe("# One\n");
  expect(readFileSync(join(dir, "AGENTS.md"), "utf8")).toBe("# Agents\n");
  rmSync(join(dir, "CLAUDE.md"));
  await lookAfterGrace(file);
  expect(file.status.note).toContain("is gone, which deletes nothing elsewhere");
  expect(await textOf()).toBe("# One\n");
});

test("a file that was renamed as it was is followed under its other name", async () => {
  const dir = join(root, "project");
  const file = await followers.add({ dir, projectId: PROJECT, name: "a", write: false });
  await file.settled();
  renameSync(join(dir, "CLAUDE.md"), join(dir, "AGENTS.md"));
  await lookAfterGrace(file);
  file.look();
  await file.settled();
  expect(file.status).toMatchObject({ path: "AGENTS.md", state: "followed" });
  writeFileSync(join(dir, "AGENTS.md"), "# One\n\ntwo\n");
  file.look();
  await file.settled();
  expect(await textOf()).toBe("# One\n\ntwo\n");
});

test("a file of another name that is gone for a moment is not made anew by the first", async () => {
  const dir = join(root, "project");
  renameSync(join(dir, "CLAUDE.md"), join(dir, "AGENTS.md"));
  const file = await followers.add({ dir, projectId: PROJECT, name: "a", write: true });
  await file.settled();
  renameSync(join(dir, "AGENTS.md"), join(dir, "away"));
  file.look();
  await file.settled();
  expect(readdirSync(dir)).toEqual(["away"]);
  renameSync(join(dir, "away"), join(dir, "AGENTS.md"));
  world.advance(GRACE_MS);
  await file.settled();
  expect(readdirSync(dir)).toEqual(["AGENTS.md"]);
  rmSync(join(dir, "AGENTS.md"));
  await lookAfterGrace(file);
  expect(await textOf()).toBe("# One\n");
  expect(readdirSync(dir)).toEqual([]);
});

test("what was saved late is taken before a file is followed no more", async () => {
  const dir = join(root, "project");
  const path = join(dir, "CLAUDE.md");
  const file = await followers.add({ dir, projectId: PROJECT, name: "a", write: false });
  await file.settled();
  const editor = await open(path, "r+");
  await store.write(async (context) => {
    (await context.open(ADDRESS)).document.setContent("# One\n\nfrom elsewhere\n", context.now);
  });
  await waitFor("the file to be replaced", async () => readFileSync(path, "utf8").includes("from"));
  await file.settled();
  file.look();
  await file.settled();
  await editor.truncate();
  await editor.write("# One\n\nsaved late\n", 0);
  await editor.close();
  await followers.remove(dir);
  const text = await textOf();
  expect(text).toContain("saved late");
  expect(text).toContain("from elsewhere");
});
