import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { makeScratchFolder } from "../../cli/contact/scratch-folder.ts";
import { prepareHome } from "../../daemon/home/home.ts";

const LOCK = join(import.meta.dir, "../../shared/sqlite/lock.ts");

const before = process.env.TMPDIR;
let place = "";

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "memsync-scratch-"));
  process.env.TMPDIR = place;
});

afterAll(async () => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  await rm(place, { recursive: true, force: true });
});

/** A process that has the home's lock, and answers to nothing. */
async function occupy(home: { lock: string; record: string }, isKnown: boolean) {
  const script = `
    const { takeLock } = await import(${JSON.stringify(LOCK)});
    globalThis.lock = await takeLock(${JSON.stringify(home.lock)});
    const record = JSON.stringify({ pid: process.pid, started: "background", ready: false });
    if (${isKnown}) await Bun.write(${JSON.stringify(home.record)}, record);
    console.log("has it");
    setInterval(() => {}, 1000);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("has it\n");
  return child;
}

test("what has its home and does not answer is killed", async () => {
  const scratch = await makeScratchFolder("exec");
  const child = await occupy(scratch.home, true);
  try {
    expect(await scratch.clear()).toBeUndefined();
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    expect(await readdir(place)).not.toContain(basename(scratch.dir));
  } finally {
    child.kill("SIGKILL");
  }
});

test("of what can't be ended it is said that it runs on, and its folder stays", async () => {
  const scratch = await makeScratchFolder("exec");
  const child = await occupy(scratch.home, false);
  try {
    const remains = await scratch.clear();
    expect(remains).toMatchObject({ isInUse: true });
    expect(remains?.why).toContain(`a process has ${scratch.home.dir}`);
    expect(await readdir(place)).toContain(basename(scratch.dir));
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
  // Whoever comes next deletes it.
  await (await makeScratchFolder("exec")).clear();
  expect(await readdir(place)).toEqual([]);
});

test("a home that went with its folder is not made anew", async () => {
  const { home, clear } = await makeScratchFolder("demo");
  await rm(home.dir, { recursive: true });
  prepareHome(home);
  expect(await clear()).toBeUndefined();
  expect(() => prepareHome(home)).toThrow(/is gone/);
  expect(await readdir(place)).toEqual([]);
});

test("folders that may only be read are deleted, too", async () => {
  const { home, clear } = await makeScratchFolder("exec");
  await mkdir(join(home.dir, "cache", "in"), { recursive: true });
  await writeFile(join(home.dir, "cache", "in", "file"), "");
  for (const path of [join(home.dir, "cache", "in"), join(home.dir, "cache"), home.dir]) {
    await chmod(path, 0o500);
  }
  expect(await clear()).toBeUndefined();
  expect(await readdir(place)).toEqual([]);
});

test("a folder whose maker was killed at once is deleted, and none with something in it", async () => {
  await mkdir(join(place, "memsync-exec-Abc123"), { mode: 0o700 });
  await mkdir(join(place, "memsync-exec-backup"), { mode: 0o700 });
  await writeFile(join(place, "memsync-exec-backup", "note"), "");
  const many = await Promise.all([1, 2, 3, 4].map(() => makeScratchFolder("exec")));
  for (const { clear } of many) await clear();
  expect(await readdir(place)).toEqual(["memsync-exec-backup"]);
});

test("a place for temporary folders that is not there is said in a sentence", async () => {
  process.env.TMPDIR = join(place, "nowhere");
  try {
    await expect(makeScratchFolder("exec")).rejects.toThrow(
      `no folder can be made in ${join(place, "nowhere")}: there is no such file or folder`,
    );
  } finally {
    process.env.TMPDIR = place;
  }
});
