import type { Stats } from "node:fs";
import { chmod, readdir, readlink, realpath, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { EmulatorSeed } from "../../daemon/embedded/emulator-program.ts";
import { PRIVATE_FILE, renameDurably, syncFile } from "../../shared/durable-files.ts";
import { fileFailure } from "../../shared/file-failures.ts";
import { realWorld } from "../../shared/world-real.ts";
import { CommandFailed } from "../screen/errors.ts";

/** A partial file that is younger than this may still be written by another process. */
const LEFT_BEHIND_MS = 60 * 60 * 1000;

/** No bit that lets a file run as another user. */
const PERMISSIONS = 0o777;

/**
 * Throws if no export can be written to `path`. It is tried at the start, because at the end the
 * data would be lost.
 */
export async function assertExportable(path: string): Promise<void> {
  const target = await targetOf(path);
  const partial = partialOf(target);
  try {
    await writeFile(partial, "", { mode: PRIVATE_FILE });
  } catch (thrown) {
    throw new CommandFailed(`nothing can be exported to ${path}: ${fileFailure(thrown)}`);
  } finally {
    await rm(partial, { force: true }).catch(() => undefined);
  }
  await deleteLeftBehind(target);
}

/** Writes an export. A reader finds either the former file or the new one, whole. */
export async function writeExport(path: string, seed: EmulatorSeed): Promise<void> {
  const target = await targetOf(path);
  const former = await stat(target).catch(() => undefined);
  const partial = partialOf(target);
  try {
    await writeFile(partial, `${JSON.stringify(seed, null, 2)}\n`, { mode: PRIVATE_FILE });
    await syncFile(partial);
    // The new file may be read by those who could read the former one.
    if (former) await chmod(partial, former.mode & PERMISSIONS);
    await renameDurably(partial, target);
  } catch (thrown) {
    // Nothing is left behind, even if the disk is full.
    await rm(partial, { force: true });
    throw thrown;
  }
}

/** The file to replace. A link stays, and leads to the export. */
async function targetOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found && !found.isFile()) {
    throw new CommandFailed(`${path} is ${kindOf(found)}: --export-on-exit takes a file`);
  }
  if (found) return await realpath(path);
  const led = await readlink(path).catch(() => undefined);
  return led === undefined ? path : resolve(dirname(path), led);
}

function kindOf(found: Stats): string {
  return found.isDirectory() ? "a folder" : "no regular file";
}

function partialOf(path: string): string {
  return `${path}.partial-${process.pid}`;
}

/** Deletes partial files of emulators that were killed while they wrote. */
async function deleteLeftBehind(target: string): Promise<void> {
  const folder = dirname(target);
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, of] = /^(.*)\.partial-\d+$/.exec(name) ?? [];
    if (of !== basename(target)) continue;
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (!found?.isFile() || realWorld.now() - found.mtimeMs < LEFT_BEHIND_MS) continue;
    await rm(join(folder, name), { force: true }).catch(() => undefined);
  }
}
