import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type FolderPlace, isSamePlace, readPlace } from "../../daemon/files/names/folder-place.ts";
import { findMoved } from "../../daemon/links/find-moved.ts";
import { DISK } from "../support/disk.ts";
import { type Need, testWith } from "../support/needs.ts";

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

const disk = await readPlace(DISK);

/** Without that nothing is guessed. */
const BIRTHS: Need = {
  isMet: disk.kind === "folder" && disk.place.bornAt !== "",
  missing: "this file system does not keep when a folder was made",
};

testWith(BIRTHS, "a renamed folder is found, and one whose parent was renamed", async () => {
  const place = await placeOf("src", "app");
  renameSync(join(root, "src", "app"), join(root, "src", "renamed"));
  expect(await findMoved(join(root, "src", "app"), place)).toBe(join(root, "src", "renamed"));
  renameSync(join(root, "src", "renamed"), join(root, "src", "app"));
  renameSync(join(root, "src"), join(root, "code"));
  expect(await findMoved(join(root, "src", "app"), place)).toBe(join(root, "code", "app"));
});

test("a copy is not the folder", async () => {
  const place = await placeOf("src", "app");
  cpSync(join(root, "src", "app"), join(root, "src", "copy"), { recursive: true });
  rmSync(join(root, "src", "app"), { recursive: true });
  expect(await findMoved(join(root, "src", "app"), place)).toBeUndefined();
});

testWith(BIRTHS, "a folder that was made in a folder's place is another one", async () => {
  const place = await placeOf("src", "app");
  rmSync(join(root, "src", "app"), { recursive: true });
  mkdirSync(join(root, "src", "app"));
  expect(isSamePlace(place, await placeOf("src", "app"))).toBeFalse();
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
