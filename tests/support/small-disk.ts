import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Need } from "./needs.ts";
import type { RunningProcess } from "./running-process.ts";
import { waitFor } from "./wait-for.ts";

/** A folder whose room can be taken away and given back, for the processes that write there. */
export interface SmallDisk extends Disposable {
  readonly kind: "tmpfs" | "limit";
  fill(...processes: readonly (RunningProcess | undefined)[]): void;
  free(...processes: readonly (RunningProcess | undefined)[]): void;
  /**
   * From now on it can only be read. For `tmpfs`, as soon as nobody has a file open for writing: a
   * daemon lets go of its lock some moments before its process has ended.
   */
  close(): Promise<void>;
}

const MEGABYTES = 6;

/** Whether this user may mount one, which is more than to be called root. */
export const MOUNTING: Need = {
  isMet: process.platform === "linux" && run("unshare", "--mount", "true"),
  missing: "this user may not mount a file system",
};

/** A process that may write no further than this into any file has as good as no room. */
const LIMIT_BYTES = 4096;

/**
 * A small file system of its own in `folder`, made where this user may mount one. Elsewhere the
 * given processes are forbidden to let files grow, which SQLite meets as a failing disk. Undefined
 * where neither can be done.
 */
export function openSmallDisk(folder: string, megabytes = MEGABYTES): SmallDisk | undefined {
  mkdirSync(folder, { recursive: true });
  const mounted = run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder);
  if (mounted) return tmpfs(folder);
  return run("prlimit", "--version") ? limited() : undefined;
}

function tmpfs(folder: string): SmallDisk {
  const filler = join(folder, "filler");
  return {
    kind: "tmpfs",
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, new Uint8Array(bavail * bsize), { flag: "a" });
    },
    free: () => rmSync(filler, { force: true }),
    close: async () => {
      await waitFor("the disk to be read-only", () => run("mount", "-o", "remount,ro", folder));
    },
    [Symbol.dispose]: () => void run("umount", "-l", folder),
  };
}

function limited(): SmallDisk {
  const limit = (processes: readonly (RunningProcess | undefined)[], bytes: string) => {
    for (const process of processes) {
      if (process) run("prlimit", "--pid", `${process.pid}`, `--fsize=${bytes}:unlimited`);
    }
  };
  return {
    kind: "limit",
    fill: (...processes) => limit(processes, `${LIMIT_BYTES}`),
    free: (...processes) => limit(processes, "unlimited"),
    close: async () => {},
    [Symbol.dispose]() {},
  };
}

function run(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}
