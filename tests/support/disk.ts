import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A temporary folder on a disk: `npm test` has those of most tests in memory, where no inode is
 * given twice and nothing waits for a flush.
 */
export const DISK = process.env.MEMSYNC_TEST_DISK ?? tmpdir();

const MEMORY = "/dev/shm";
/** Some ten times what is there at a time during `npm test`. */
const ROOM_BYTES = 2 ** 30;

/**
 * Where folders are made in a tenth of a disk's time. It is the temporary folder where memory has
 * no file system, or one that is small, full or another's, or in which no program may be run.
 */
export function placeInMemory(): string {
  if (tmpdir().startsWith(MEMORY)) return tmpdir();
  return hasRoom() && runsPrograms() ? MEMORY : tmpdir();
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, freemem()) >= ROOM_BYTES;
  } catch {
    return false;
  }
}

function runsPrograms(): boolean {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(MEMORY, "ms-"));
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
    return spawnSync(program).status === 0;
  } catch {
    return false;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  }
}
