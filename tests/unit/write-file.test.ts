import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { chmod, open, readFile, stat, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ABSENT_HASH, hashOf, openFile } from "../../daemon/disk/read-file.ts";
import { loadSwapNames } from "../../daemon/disk/swap-names.ts";
import {
  isJournalOf,
  isTemporaryOf,
  journalOf,
  newTemporary,
} from "../../daemon/disk/temporary-name.ts";
import { replaceFile } from "../../daemon/disk/write-file.ts";
import { DISK } from "../support/disk.ts";
import { createTestWorld } from "../support/test-world.ts";

const folder = mkdtempSync(join(DISK, "memsync-write-"));
afterAll(() => rmSync(folder, { recursive: true }));
const world = createTestWorld();
const path = (name: string) => join(folder, name);

test("a file that is as expected is replaced and keeps its mode", async () => {
  await writeFile(path("kept"), "before");
  await chmod(path("kept"), 0o640);
  const outcome = await replaceFile(path("kept"), "after", {
    expectedHash: hashOf("before"),
    world,
  });
  expect(outcome.kind).toBe("written");
  expect(await readFile(path("kept"), "utf8")).toBe("after");
  expect((await stat(path("kept"))).mode & 0o777).toBe(0o640);
  if (outcome.kind === "written") await outcome.replaced?.close();
});

test("the file that lost its name can still be read, with what is written into it", async () => {
  await writeFile(path("open"), "before");
  const editor = await open(path("open"), "r+");
  const outcome = await replaceFile(path("open"), "after", {
    expectedHash: hashOf("before"),
    world,
  });
  await editor.write("saved late", 0);
  await editor.close();
  const replaced = outcome.kind === "written" ? outcome.replaced : undefined;
  expect(await replaced?.readFile("utf8")).toBe("saved late");
  await replaced?.close();
  expect(await readFile(path("open"), "utf8")).toBe("after");
});

test("a file whose name leaves no room for a longer one is written, and found after a crash", async () => {
  for (const name of ["n".repeat(255), "é".repeat(127), "n".repeat(232), "n".repeat(231)]) {
    await writeFile(path(name), "before");
    const expectedHash = hashOf("before");
    const outcome = await replaceFile(path(name), "after", { expectedHash, world });
    expect(outcome.kind).toBe("written");
    if (outcome.kind === "written") await outcome.replaced?.close();
    expect(await readFile(path(name), "utf8")).toBe("after");
    const [temporary, ...rest] = [newTemporary(name, world), newTemporary(`${name}x`, world)];
    const journal = journalOf(temporary);
    expect(Buffer.byteLength(journal)).toBeLessThanOrEqual(255);
    expect([isTemporaryOf(name, temporary), isJournalOf(name, journal)]).toEqual([true, true]);
    expect(rest.some((other) => isTemporaryOf(name, other))).toBe(false);
    await writeFile(path(journal), "");
    await unlink(path(journal));
  }
});

test("a file that has changed is left as it is", async () => {
  await writeFile(path("changed"), "saved meanwhile");
  const outcome = await replaceFile(path("changed"), "after", {
    expectedHash: hashOf("before"),
    world,
  });
  expect(outcome).toEqual({ kind: "changed" });
  expect(await readFile(path("changed"), "utf8")).toBe("saved meanwhile");
});

test("a file that came or went meanwhile is no other's place", async () => {
  await writeFile(path("came"), "new");
  expect(await replaceFile(path("came"), "after", { expectedHash: ABSENT_HASH, world })).toEqual({
    kind: "changed",
  });
  expect(
    await replaceFile(path("gone"), "after", { expectedHash: hashOf("before"), world }),
  ).toEqual({
    kind: "changed",
  });
  await symlink("came", path("link"));
  expect(await replaceFile(path("link"), "after", { expectedHash: hashOf("new"), world })).toEqual({
    kind: "changed",
  });
  expect(await readFile(path("came"), "utf8")).toBe("new");
});

test("a file is made where none was, in a folder that may not be there yet", async () => {
  const made = join(folder, "new", "file");
  const outcome = await replaceFile(made, "text", {
    expectedHash: ABSENT_HASH,
    world,
    within: folder,
  });
  expect(outcome).toEqual({ kind: "written", replaced: undefined, notKept: [] });
  expect(await readFile(made, "utf8")).toBe("text");
  expect(readdirSync(join(folder, "new"))).toEqual(["file"]);
});

test("a folder that is gone is not made anew", async () => {
  const lost = path("lost");
  const options = { expectedHash: ABSENT_HASH, world, within: lost };
  for (const name of ["file", join("inner", "file")]) {
    expect(await replaceFile(join(lost, name), "text", options)).toEqual({ kind: "changed" });
  }
  expect(existsSync(lost)).toBe(false);
});

test("what is not due any more in the last moment is not done", async () => {
  await writeFile(path("due"), "before");
  const options = { expectedHash: hashOf("before"), world, isDue: async () => false };
  expect(await replaceFile(path("due"), "after", options)).toEqual({ kind: "changed" });
  expect(await readFile(path("due"), "utf8")).toBe("before");
});

test("nothing of ours stays in the folder", () => {
  expect(readdirSync(folder).filter((name) => name.endsWith(".memsync"))).toEqual([]);
});

test("two names are swapped in one step, or nothing is changed", async () => {
  const swapNames = await loadSwapNames();
  await writeFile(path("one"), "1");
  await writeFile(path("two"), "2");
  expect(swapNames(path("one"), path("two"))).toBe(true);
  expect(await readFile(path("one"), "utf8")).toBe("2");
  expect(await readFile(path("two"), "utf8")).toBe("1");
  expect(swapNames(path("one"), path("missing"))).toBe(false);
  expect(await readFile(path("one"), "utf8")).toBe("2");
});

test("a pipe is no file, and nobody waits for what is written into it", async () => {
  await Bun.spawn(["mkfifo", path("pipe")]).exited;
  await expect(openFile(path("pipe"))).rejects.toThrow("is not a file");
  const outcome = await replaceFile(path("pipe"), "after", { expectedHash: hashOf(""), world });
  expect(outcome).toEqual({ kind: "changed" });
});
