import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { type Lab, scenarioOnDisk as scenario, sharedEmulator } from "../support/lab.ts";
import type { Machine } from "../support/machine.ts";
import { Mounts, mounting } from "../support/mounted-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const emulator = sharedEmulator();
const FILE = "CLAUDE.md";
const START = "# Notes\n\none\n\ntwo\n";
/** Longer than the time for which an emptied or deleted file is given a chance. */
const BEYOND_GRACE_MS = 12_000;

/** A machine that follows a folder without git, and one more of its account. */
async function startPlain(lab: Lab, account: string): Promise<readonly [Machine, Machine]> {
  const service = emulator.account(account);
  await mkdir(lab.git.path("x"), { recursive: true });
  await mkdir(lab.git.path("elsewhere"), { recursive: true });
  await lab.git.write(lab.git.path("x", "notes", FILE), START);
  await lab.git.write(lab.git.path("other", FILE), START);
  const a = lab.machine("a", lab.git.path("x", "notes"), service);
  const b = lab.machine("b", lab.git.path("other"), service);
  await a.up();
  const { id } = await a.projectOf();
  await b.up();
  await b.memsync("link", "--id", id, "--yes");
  await b.untilSynced();
  await untilFile(b, START);
  await untilDoc(a, id, START);
  return [a, b];
}

async function untilDoc(machine: Machine, id: string, text: string): Promise<void> {
  await waitFor(`${machine.name}'s document to be ${JSON.stringify(text)}`, async () => {
    return (await machine.doc(id)) === text;
  });
}

async function untilFile(machine: Machine, text: string, folder = machine.folder): Promise<void> {
  await waitFor(`${folder}'s file to be ${JSON.stringify(text)}`, async () => {
    return (await readFile(`${folder}/${FILE}`, "utf8").catch(() => "")) === text;
  });
}

async function untilNoted(machine: Machine, note: RegExp): Promise<void> {
  await waitFor(`a note like ${note}`, async () => {
    return note.test((await machine.fileStatus())?.note ?? "");
  });
}

/** Where the machine follows a project now. */
async function untilLinked(machine: Machine, id: string, dir: string): Promise<void> {
  await waitFor(`${dir} to be linked`, async () => {
    const { projects } = await machine.status();
    const folders = projects.find((project) => project.id === id)?.folders ?? [];
    return folders.length === 1 && folders[0]?.dir === dir;
  });
}

scenario(
  "a folder that is removed deletes nothing, and one that comes back is met",
  async (lab) => {
    const [a, b] = await startPlain(lab, "removed");
    const { id } = await a.projectOf();
    await rename(a.folder, lab.git.path("elsewhere", "kept"));
    await untilNoted(a, /folder is gone, which deletes nothing/);
    const { stdout } = await a.run(["doctor"], { cwd: lab.git.path("elsewhere") });
    expect(stdout).toContain(`bring the folder back, or \`memsync unlink ${a.folder}\``);
    const goneAt = performance.now();
    await writeFile(`${b.folder}/${FILE}`, `${START}\nof b\n`);
    await untilDoc(a, id, `${START}\nof b\n`);
    await waitFor("the time of grace to be over", async () => {
      expect(await b.doc(id)).toBe(`${START}\nof b\n`);
      return performance.now() - goneAt > BEYOND_GRACE_MS;
    });
    await waitFor("a to be synced without its folder", () => a.syncOnce());
    expect(existsSync(a.folder)).toBe(false);
    await writeFile(`${lab.git.path("elsewhere", "kept")}/${FILE}`, `of a\n\n${START}`);
    await rename(lab.git.path("elsewhere", "kept"), a.folder);
    await untilFile(a, `of a\n\n${START}\nof b\n`);
    await untilFile(b, `of a\n\n${START}\nof b\n`);
  },
);

scenario("a folder that takes the place of a linked one is no part of its project", async (lab) => {
  const [a, b] = await startPlain(lab, "replaced");
  const { id } = await a.projectOf();
  await rename(a.folder, lab.git.path("elsewhere", "kept"));
  await mkdir(a.folder);
  await untilNoted(a, /another folder was put in place/);
  await writeFile(`${a.folder}/${FILE}`, "# A stranger's\n");
  await a.sync();
  expect(await b.doc(id)).toBe(START);
  await writeFile(`${b.folder}/${FILE}`, `${START}\nof b\n`);
  await untilDoc(a, id, `${START}\nof b\n`);
  expect(await readFile(`${a.folder}/${FILE}`, "utf8")).toBe("# A stranger's\n");
  await a.memsync("link");
  expect((await a.projectOf()).id).toBe(id);
  await waitFor("both texts, once the user has said so", async () => {
    const text = await b.doc(id);
    return text.includes("of b") && text.includes("A stranger's");
  });
});

scenario("a renamed folder is followed where it is, its edits as edits", async (lab) => {
  const [a, b] = await startPlain(lab, "renamed");
  const { id } = await a.projectOf();
  const renamed = lab.git.path("x", "renamed");
  await rename(a.folder, renamed);
  await untilLinked(a, id, renamed);
  await writeFile(`${renamed}/${FILE}`, START.replace("one\n\n", ""));
  await untilFile(b, START.replace("one\n\n", ""));
  await writeFile(`${b.folder}/${FILE}`, "# Notes\n\ntwo\n\nof b\n");
  await untilFile(a, "# Notes\n\ntwo\n\nof b\n", renamed);
});

scenario("a folder whose parent was renamed while no daemon ran is found again", async (lab) => {
  const [a, b] = await startPlain(lab, "parent");
  const { id } = await a.projectOf();
  await a.down();
  await rename(lab.git.path("x"), lab.git.path("y"));
  await writeFile(lab.git.path("y", "notes", FILE), START.replace("two", "two, offline"));
  await writeFile(`${b.folder}/${FILE}`, START.replace("one", "one, of b"));
  await b.untilSynced();
  const spawned = a.spawn(["up", lab.git.path("other")], { cwd: lab.git.folder });
  await spawned.untilPrinted(/memsync is up/);
  await untilLinked(a, id, lab.git.path("y", "notes"));
  await untilFile(b, "# Notes\n\none, of b\n\ntwo, offline\n");
  await spawned.end("SIGTERM");
});

scenario("a folder that was moved far away is known again when it is linked there", async (lab) => {
  const [a, b] = await startPlain(lab, "far");
  const { id } = await a.projectOf();
  const moved = lab.git.path("elsewhere", "moved");
  await rename(a.folder, moved);
  await untilNoted(a, /folder is gone/);
  await writeFile(`${moved}/${FILE}`, START.replace("one\n\n", ""));
  await a.memsyncWith({ cwd: moved }, "set", "key", "value");
  expect(await a.memsyncWith({ cwd: moved }, "get", "key")).toBe("value");
  await a.memsyncWith({ cwd: moved }, "link");
  await untilLinked(a, id, moved);
  await untilFile(b, START.replace("one\n\n", ""));
});

scenario("a clone that takes a deleted clone's place goes on as the same project", async (lab) => {
  const [folder, other] = await lab.clones({ ".gitignore": FILE });
  const account = emulator.account("recloned");
  const a = lab.machine("a", folder, account);
  const b = lab.machine("b", other, account);
  await Promise.all([a.up(), b.up()]);
  await writeFile(`${folder}/${FILE}`, START);
  await untilFile(b, START);
  await rm(folder, { recursive: true });
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "a");
  await untilFile(a, START);
  await writeFile(`${b.folder}/${FILE}`, `${START}\nof b\n`);
  await untilFile(a, `${START}\nof b\n`);
  await a.untilSynced();
  expect(await b.doc((await b.projectOf()).id)).toBe(`${START}\nof b\n`);
});

scenario("a save that is held outlives the folder that it was made in", async (lab) => {
  const [folder] = await lab.clones({ ".gitignore": FILE });
  const a = lab.machine("a", folder, emulator.account("held-lost"));
  await writeFile(`${folder}/${FILE}`, START);
  await a.up();
  const { id } = await a.projectOf();
  await untilDoc(a, id, START);
  const secret = `gh${"p_"}${"aB3dE6gH9kL2nP5rS8uW1yZ4cF7hJ0mQ3tV6"}`;
  await writeFile(`${folder}/${FILE}`, `${START}\n${secret}\n`);
  await waitFor("the save to be held", async () => (await a.fileStatus())?.state === "held");
  await rm(folder, { recursive: true });
  await lab.git.run(lab.git.folder, "clone", "-q", "origin.git", "a");
  await untilFile(a, START);
  const [held] = JSON.parse(await a.memsync("held", "--json")) as [{ readonly id: string }];
  expect(await a.memsync("held", "show", held.id)).toBe(`${START}\n${secret}\n`);
  await a.memsync("held", "drop", held.id);
  expect(await a.doc(id)).toBe(START);
});

const MOUNTING = mounting();

/** The daemon looks by itself within a minute, or at once where it is told. */
async function untilLookedAt(machine: Machine, note: RegExp | null): Promise<void> {
  await waitFor(`a note like ${note}`, async () => {
    await machine.syncOnce();
    const status = await machine.fileStatus();
    return note ? note.test(status?.note ?? "") : status?.state === "followed";
  });
}

scenario(
  "an unmounted folder deletes nothing, and is followed when it is mounted again",
  async (lab) => {
    using mounts = new Mounts();
    const [disk, folder] = [lab.git.path("elsewhere", "disk"), lab.git.path("x", "notes")];
    mounts.mount(disk);
    // What lies below the mount is an old copy.
    await lab.git.write(`${folder}/${FILE}`, START);
    mounts.bind(disk, folder);
    const [a, b] = await startPlain(lab, "unmounted");
    const { id } = await a.projectOf();
    mounts.unmount(folder);
    await untilLookedAt(a, /another folder was put in place .* is not mounted/);
    await writeFile(`${b.folder}/${FILE}`, `${START}\nof b\n`);
    await untilDoc(a, id, `${START}\nof b\n`);
    expect(await readFile(`${folder}/${FILE}`, "utf8")).toBe(START);
    await writeFile(`${folder}/${FILE}`, "a stranger's\n");
    await a.syncOnce();
    mounts.bind(disk, folder);
    await untilLookedAt(a, null);
    await untilFile(a, `${START}\nof b\n`);
    expect(await b.doc(id)).toBe(`${START}\nof b\n`);
  },
  { needs: MOUNTING },
);

scenario(
  "a folder inside a file system that is unmounted is gone, and an empty one is not it",
  async (lab) => {
    using mounts = new Mounts();
    mounts.mount(lab.git.path("x"));
    const [a, b] = await startPlain(lab, "inside");
    const { id } = await a.projectOf();
    mounts.unmount(lab.git.path("x"));
    // A file system that is in use tells nobody that it goes: the next glance or look shows it.
    await untilLookedAt(a, /folder is gone, which deletes nothing/);
    mounts.mount(lab.git.path("x"));
    await mkdir(a.folder);
    await untilLookedAt(a, /another folder was put in place/);
    await a.sync();
    expect(await b.doc(id)).toBe(START);
    expect(existsSync(`${a.folder}/${FILE}`)).toBe(false);
  },
  { needs: MOUNTING },
);
