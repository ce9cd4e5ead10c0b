import { expect, test } from "bun:test";
import { storageFailure, unforeseen } from "../../shared/sqlite/failures.ts";

test("what is wrong with the disk is told by its own remedy", () => {
  for (const [code, remedy] of [
    ["ENOSPC", /^the disk of \/home is full: make room/],
    ["SQLITE_FULL", /^the disk of \/home is full: make room/],
    ["EROFS", /^the disk of \/home is mounted read-only: mount it for writing/],
    ["EACCES", /^the disk of \/home can't be written: mend its permissions/],
    ["SQLITE_IOERR_WRITE", /^the disk of \/home failed \(disk I\/O error\)/],
  ] as const) {
    const thrown = Object.assign(new Error("disk I/O error"), { code });
    expect(storageFailure(thrown, "/home")).toMatch(remedy);
  }
  expect(storageFailure(new Error("something else"))).toBeUndefined();
});

test("a place that has room is not the one that a write has filled", () => {
  const thrown = Object.assign(new Error("no space left on device, write"), { code: "ENOSPC" });
  expect(unforeseen(thrown, import.meta.dir)).toMatch(/^the disk is full: /);
  const named = Object.assign(thrown, { path: "/notes.txt" });
  expect(unforeseen(named, import.meta.dir)).toMatch(/^the disk of \/notes.txt is full: /);
});
