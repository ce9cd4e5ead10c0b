import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LINUX, type Need } from "./needs.ts";

/** Folders that file systems are mounted on. All are unmounted when the test is over. */
export class Mounts implements Disposable {
  readonly #folders: string[] = [];

  /** Mounts an empty file system of its own on a folder, which is made if it is not there. */
  mount(folder: string): void {
    mkdirSync(folder, { recursive: true });
    run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder);
    this.#folders.push(folder);
  }

  /** Mounts an empty file system that keeps no time of birth, of which `image` is the file. */
  mountUnborn(image: string, folder: string): void {
    mkdirSync(folder, { recursive: true });
    run("truncate", "-s", "8M", image);
    run("mkfs.ext4", "-q", "-F", "-I", "128", image);
    run("mount", "-o", "loop", image, folder);
    this.#folders.push(folder);
  }

  /** Makes one folder stand at a second path, too, as a disk that is mounted there does. */
  bind(from: string, to: string): void {
    mkdirSync(to, { recursive: true });
    run("mount", "--bind", from, to);
    this.#folders.push(to);
  }

  /** At once, whoever still uses it. */
  unmount(folder: string): void {
    run("umount", "-l", folder);
    this.#folders.splice(this.#folders.lastIndexOf(folder), 1);
  }

  [Symbol.dispose](): void {
    for (const folder of [...this.#folders].reverse()) this.unmount(folder);
  }
}

/** Mounting a file system that keeps no time of birth. */
export function unbornMounts(): Need {
  const plain = mounting();
  if (!plain.isMet) return plain;
  const isMet = works((mounts, folder) =>
    mounts.mountUnborn(join(folder, "image"), join(folder, "mounted")),
  );
  return { isMet, missing: "no old file system can be made here" };
}

/** Mounting file systems, which not every user may. */
export function mounting(): Need {
  if (!LINUX.isMet) return LINUX;
  const isMet = works((mounts, folder) => mounts.mount(folder));
  return { isMet, missing: "this user may not mount" };
}

function works(mount: (mounts: Mounts, folder: string) => void): boolean {
  const folder = mkdtempSync(join(tmpdir(), "memsync-mount-"));
  try {
    using mounts = new Mounts();
    mount(mounts, folder);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(command: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args);
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}
