import { readdir, readFile, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";

/** From the access modes in `open(2)`. */
const O_ACCMODE = 3;
const OCTAL = 8;

/** The other processes that this user can look into; none where there is no `proc(5)`. */
export async function otherProcesses(): Promise<string[]> {
  if (process.platform !== "linux") return [];
  const names = await readdir("/proc").catch(() => []);
  return names.filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
}

/** Whether a process has a file open for writing whose path is meant. */
export async function writesTo(pid: string, isMeant: (path: string) => boolean): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder).catch(() => []);
  for (const each of descriptors) {
    const path = await readlink(join(folder, each)).catch(() => "");
    if (!isMeant(path)) continue;
    const info = await readFile(`/proc/${pid}/fdinfo/${each}`, "utf8").catch(() => "");
    const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? "0", OCTAL);
    if ((flags & O_ACCMODE) !== 0) return true;
  }
  return false;
}

/**
 * Whether some other process has this file open for writing. False where the system does not show
 * processes as files, or not to this user.
 */
export async function isOpenToWrite(path: string): Promise<boolean> {
  const real = await realpath(path).catch(() => path);
  for (const pid of await otherProcesses()) {
    if (await writesTo(pid, (each) => each === real)) return true;
  }
  return false;
}
