import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type FolderPlace, isSamePlace, readPlace } from "../../daemon/files/folder-place.ts";
import { findMoved } from "../../daemon/links/find-moved.ts";
import { DISK } from "../support/disk.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(DISK, "memsync-moved-")));
  mkdirSync(join(root, "src", "app"), { recursive: true });
  mkdirSync(join(root, "src", "other"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function placeOf(...names: string[]): Promise<FolderPlace> {
  const read = await readPlace(join(root, ...names));
  if (read.kind === "folder") return read.place;
  throw new Error(read.kind);
}

/** Not every file system keeps when a folder was made; without that nothing is guessed. */
async function keepsBirth(): Promise<boolean> {
  return (await placeOf("src", "app")).bornAt !== "";
}

test("a renamed folder is found, and one whose parent was renamed", async () => {
  const place = await placeOf("src", "app");
  if (!(await keepsBirth())) return;
  renameSync(join(root, "src", "app"), join(root, "src", "renamed"));
  expect(await findMoved(join(root, "src", "app"), place)).toBe(join(root, "src", "renamed"));
  renameSync(join(root, "src", "renamed"), join(root, "src", "app"));
  renameSync(join(root, "src"), join(root, "code"));
  expect(await findMoved(join(root, "src", "app"), place)).toBe(join(root, "code", "app"));
});

test("a copy is not the folder, and neither is what was made in its place", async () => {
  const place = await placeOf("src", "app");
  cpSync(join(root, "src", "app"), join(root, "src", "copy"), { recursive: true });
  rmSync(join(root, "src", "app"), { recursive: true });
  expect(await findMoved(join(root, "src", "app"), place)).toBeUndefined();
  mkdirSync(join(root, "src", "again"));
  if (place.bornAt !== "") expect(isSamePlace(place, await placeOf("src", "again"))).toBeFalse();
});

test("a folder is the same on a device that has got another number", () => {
  const place = { device: "1", inode: "7", bornAt: "99" };
  expect(isSamePlace(place, { ...place, device: "2" })).toBeTrue();
  expect(isSamePlace(place, { ...place, bornAt: "100" })).toBeFalse();
  expect(isSamePlace(place, { ...place, inode: "8" })).toBeFalse();
  const unborn = { ...place, bornAt: "" };
  expect(isSamePlace(unborn, { ...unborn, device: "2" })).toBeFalse();
  expect(isSamePlace(unborn, place)).toBeTrue();
});

test("what can't be looked at is away, and says why", async () => {
  expect(await readPlace(join(root, "nowhere"))).toEqual({
    kind: "away",
    isReplaced: false,
  });
});
