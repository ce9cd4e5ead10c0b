import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import {
  chmod,
  chown,
  link,
  mkdir,
  open,
  readFile,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { hashOf } from "../../daemon/disk/read-file.ts";
import { replaceFile } from "../../daemon/disk/write-file.ts";
import { explain } from "../../shared/reasons.ts";
import { DISK } from "../support/disk.ts";
import {
  accessList,
  allowUser,
  getAttribute,
  setAttribute,
} from "../support/extended-attributes.ts";
import { mounting } from "../support/mounted-folder.ts";
import { type Need, programs, ROOT_USER, testWith } from "../support/needs.ts";
import { openSmallDisk } from "../support/small-disk.ts";
import { createTestWorld } from "../support/test-world.ts";

const PROGRAM = join(import.meta.dir, "..", "support", "replace-file-program.ts");
const OTHER = 65534;

const folder = mkdtempSync(join(DISK, "memsync-kept-"));
afterAll(() => rmSync(folder, { recursive: true }));
// Another user has to come to what lies inside.
await chmod(folder, 0o755);
const world = createTestWorld();
const path = (name: string) => join(folder, name);

/** The note that is left of what a write could not keep. */
async function replace(name: string, to = "after"): Promise<string> {
  const outcome = await replaceFile(path(name), to, { expectedHash: hashOf("before"), world });
  if (outcome.kind !== "written") return outcome.kind;
  await outcome.replaced?.close();
  return outcome.notKept.join(" ");
}

const AS_OTHER = ["setpriv", `--reuid=${OTHER}`, `--regid=${OTHER}`, "--clear-groups"];

/** Whether a user who is nobody can run the program; not where the checkout is closed to others. */
function canRunAsOther(): boolean {
  if (!ROOT_USER.isMet || !programs("setpriv").isMet) return false;
  const arguments_ = [...AS_OTHER, process.execPath, PROGRAM, "/nowhere/file", "", ""];
  const { stderr } = Bun.spawnSync(arguments_, { stderr: "pipe", env: {} });
  return stderr.toString().includes("/nowhere");
}

/** The same in a process of another user's. */
async function replaceAsOther(name: string): Promise<unknown> {
  const command = [...AS_OTHER, process.execPath, PROGRAM, path(name), "after", hashOf("before")];
  const program = Bun.spawn(command, { stdout: "pipe", stderr: "inherit", env: {} });
  return JSON.parse(await new Response(program.stdout).text());
}

testWith(ROOT_USER, "a file keeps its owner and all of its mode", async () => {
  await writeFile(path("owned"), "before");
  await chown(path("owned"), OTHER, OTHER - 1);
  await chmod(path("owned"), 0o6751);
  expect(await replace("owned")).toBe("");
  const { uid, gid, mode } = await stat(path("owned"));
  expect([uid, gid, mode & 0o7777]).toEqual([OTHER, OTHER - 1, 0o6751]);
});

test("a file that has other names is written in its place, longer or shorter", async () => {
  for (const to of ["after, and longer", "a", ""]) {
    await writeFile(path("named"), "before");
    await link(path("named"), path("other-name"));
    const { ino } = await stat(path("named"));
    expect(await replace("named", to)).toBe("");
    expect(await readFile(path("other-name"), "utf8")).toBe(to);
    expect((await stat(path("named"))).ino).toBe(ino);
    rmSync(path("other-name"));
  }
});

test("a file with other names that has changed is left as it is", async () => {
  await writeFile(path("changed"), "saved meanwhile");
  await link(path("changed"), path("changed-too"));
  expect(await replace("changed")).toBe("changed");
  expect(await readFile(path("changed-too"), "utf8")).toBe("saved meanwhile");
});

test("a file that another program has open is written in its place all the same", async () => {
  await writeFile(path("held"), "before");
  await link(path("held"), path("held-too"));
  const editor = await open(path("held"), "r+");
  expect(await replace("held")).toBe("");
  expect(await editor.readFile("utf8")).toBe("after");
  await editor.close();
});

await writeFile(path("probe"), "");
const ATTRIBUTES: Need = {
  isMet: setAttribute(path("probe"), "user.memsync", "probe"),
  missing: "the folder for temporary files has no extended attributes",
};

testWith(ATTRIBUTES, "a file keeps its extended attributes", async () => {
  await writeFile(path("marked"), "before");
  const long = "x".repeat(900);
  setAttribute(path("marked"), "user.author", "somebody");
  setAttribute(path("marked"), "user.empty", "");
  setAttribute(path("marked"), "user.long", long);
  expect(await replace("marked")).toBe("");
  expect(await readFile(path("marked"), "utf8")).toBe("after");
  expect(getAttribute(path("marked"), "user.author")?.toString()).toBe("somebody");
  expect(getAttribute(path("marked"), "user.empty")?.length).toBe(0);
  expect(getAttribute(path("marked"), "user.long")?.toString()).toBe(long);
});

const ACCESS_LISTS: Need = {
  isMet: allowUser(path("probe"), OTHER),
  missing: "the folder for temporary files has no access lists",
};

testWith(ACCESS_LISTS, "a file keeps its access list, and gets no folder's", async () => {
  await mkdir(path("listed"));
  await writeFile(path("listed/plain"), "before");
  await writeFile(path("listed/listed"), "before");
  await chmod(path("listed/plain"), 0o640);
  allowUser(path("listed/listed"), OTHER);
  allowUser(path("listed"), OTHER - 1, "system.posix_acl_default");
  const before = accessList(path("listed/listed"));
  expect(await replace("listed/plain")).toBe("");
  expect(await replace("listed/listed")).toBe("");
  expect(accessList(path("listed/plain"))).toBeUndefined();
  expect((await stat(path("listed/plain"))).mode & 0o777).toBe(0o640);
  expect(before).toBeDefined();
  expect(accessList(path("listed/listed"))).toEqual(before);
});

const ROOM = 20 * 4096;

testWith(mounting(), "a disk without room leaves a file as it was", async () => {
  using disk = openSmallDisk(path("disk"));
  if (disk?.kind !== "tmpfs") throw new Error("no file system was mounted");
  const longer = "after\n".repeat(100_000);
  await writeFile(path("disk/file"), "before");
  await link(path("disk/file"), path("disk/name"));
  disk.fill();
  await truncate(
    path("disk/filler"),
    (await stat(path("disk/filler"))).size - longer.length - ROOM,
  );
  await expect(replace("disk/file", longer)).rejects.toThrow("ENOSPC");
  expect(await readFile(path("disk/name"), "utf8")).toBe("before");
  expect(readdirSync(path("disk")).sort()).toEqual(["file", "filler", "name"]);
  disk.free();
  expect(await replace("disk/file", longer)).toBe("");
  expect(await readFile(path("disk/name"), "utf8")).toBe(longer);
});

const OTHER_USER: Need = {
  isMet: canRunAsOther(),
  missing: "no process of another user can be started that reads the program",
};

testWith(
  OTHER_USER,
  "another user's file is written in its place, where that is permitted",
  async () => {
    await mkdir(path("shared"));
    await chmod(path("shared"), 0o777);
    await writeFile(path("shared/open"), "before");
    await chmod(path("shared/open"), 0o666);
    expect(await replaceAsOther("shared/open")).toEqual({ kind: "written", notKept: [] });
    expect(await readFile(path("shared/open"), "utf8")).toBe("after");
    expect((await stat(path("shared/open"))).uid).toBe(0);
    expect(readdirSync(path("shared"))).toEqual(["open"]);
  },
);

testWith(OTHER_USER, "what could not be kept is told", async () => {
  await mkdir(path("closed"));
  await chmod(path("closed"), 0o777);
  await writeFile(path("closed/file"), "before");
  await chmod(path("closed/file"), 0o4755);
  await link(path("closed/file"), path("closed/name"));
  expect(await replaceAsOther("closed/file")).toEqual({
    kind: "written",
    notKept: ["owner", "links"],
  });
  expect(await readFile(path("closed/file"), "utf8")).toBe("after");
  expect(await readFile(path("closed/name"), "utf8")).toBe("before");
  const { uid, mode } = await stat(path("closed/file"));
  expect([uid, mode & 0o7777]).toEqual([OTHER, 0o755]);
});

test("nothing of ours stays in the folder", () => {
  expect(readdirSync(folder).filter((name) => name.endsWith(".memsync"))).toEqual([]);
});

test("what was not kept is named", () => {
  expect(explain({ code: "not-kept", what: ["links"] })).toMatch(/keep its hard links$/);
  expect(explain({ code: "not-kept", what: ["owner", "links", "attributes"] })).toMatch(
    /keep its owner, hard links and extended attributes$/,
  );
});
