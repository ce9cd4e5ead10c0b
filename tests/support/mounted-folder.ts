import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

/** Whether it may mount one that keeps no time of birth. */
export function mayMountUnborn(): boolean {
  if (!mayMount()) return false;
  const folder = mkdtempSync(join(tmpdir(), "memsync-mount-"));
  try {
    using mounts = new Mounts();
    mounts.mountUnborn(join(folder, "image"), join(folder, "mounted"));
    return true;
  } catch {
    process.stderr.write("what needs an old file system is not run: none can be made here\n");
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whether this process may mount file systems; says so where it may not. */
export function mayMount(): boolean {
  if (process.platform !== "linux") return false;
  const folder = mkdtempSync(join(tmpdir(), "memsync-mount-"));
  try {
    using mounts = new Mounts();
    mounts.mount(folder);
    return true;
  } catch {
    process.stderr.write("what needs a mount is not run: this user may not mount\n");
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(command: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args);
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}
