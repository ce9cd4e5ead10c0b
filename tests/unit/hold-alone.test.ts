import { afterAll, expect } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { loadHoldAlone } from "../../daemon/disk/hold-alone.ts";
import { DISK } from "../support/disk.ts";
import { LINUX, testWith } from "../support/needs.ts";
import { waitFor } from "../support/wait-for.ts";

const folder = mkdtempSync(join(DISK, "memsync-alone-"));
afterAll(() => rmSync(folder, { recursive: true }));

testWith(LINUX, "another's save waits until a file is let go", async () => {
  const path = join(folder, "held");
  writeFileSync(path, "before");
  const holdAlone = await loadHoldAlone();
  const handle = await open(path, "r+");
  const letGo = holdAlone(handle.fd);
  expect(letGo).toBeDefined();
  const { ino } = await handle.stat();
  const other = Bun.spawn(["sh", "-c", `echo saved > '${path}'`]);
  await waitFor("the other to wait for the file", () => {
    const locks = readFileSync("/proc/locks", "utf8").split("\n");
    return locks.some((lock) => lock.includes("BREAKING") && lock.includes(`:${ino} `));
  });
  expect((await handle.readFile()).toString()).toBe("before");
  letGo?.();
  expect(await other.exited).toBe(0);
  expect(readFileSync(path, "utf8")).toBe("saved\n");
  await handle.close();
});

testWith(LINUX, "a file that somebody may write into already can't be held", async () => {
  const path = join(folder, "open");
  writeFileSync(path, "before");
  const holdAlone = await loadHoldAlone();
  const [handle, other] = [await open(path, "r+"), await open(path, "r+")];
  expect(holdAlone(handle.fd)).toBeUndefined();
  await other.close();
  const letGo = holdAlone(handle.fd);
  expect(letGo).toBeDefined();
  letGo?.();
  await handle.close();
});
