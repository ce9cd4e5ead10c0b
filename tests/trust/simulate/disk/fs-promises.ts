import { dirname } from "node:path";
import { volumeOf } from "./mounted.ts";
import { DiskError, type Inode, type Volume } from "./volume.ts";

// What `daemon/files` uses of `node:fs/promises`, on the simulation's volumes. Each call lets
// others come first.

const NANOSECONDS_PER_MS = 1e6;

/** What is asked of a file's `Stats`. */
export interface Stats {
  readonly ino: number;
  readonly dev: number;
  readonly uid: number;
  readonly gid: number;
  readonly nlink: number;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

export function statsOf(inode: Inode): Stats {
  return {
    ino: inode.number,
    dev: 1,
    uid: 1000,
    gid: 1000,
    nlink: inode.links,
    size: inode.bytes.length,
    mode: inode.mode,
    mtimeMs: inode.modifiedAt,
    isFile: () => !inode.folder,
    isDirectory: () => inode.folder,
    isSymbolicLink: () => false,
  };
}

function nanoseconds(milliseconds: number): bigint {
  return BigInt(Math.round(milliseconds * NANOSECONDS_PER_MS));
}

/** A file that is open, and the volume that it is on. */
export interface Opened {
  readonly volume: Volume;
  readonly inode: Inode;
}

/** The files behind the descriptors. */
const opened: Opened[] = [];

/** Forgets the open files of the run before. */
export function closeAll(): void {
  opened.length = 0;
}

/** The file behind a descriptor. */
export function inodeOf(descriptor: number): Inode {
  return openedOf(descriptor).inode;
}

/** The same with the volume that it is on. */
export function openedOf(descriptor: number): Opened {
  const found = opened[descriptor];
  if (!found) throw new DiskError("EBADF", String(descriptor));
  return found;
}

/** A descriptor of its own for a file. */
export function openedAs(volume: Volume, inode: Inode): number {
  return opened.push({ volume, inode }) - 1;
}

/** An open file. */
export class FileHandle {
  readonly fd: number;
  readonly #volume: Volume;
  readonly #inode: Inode;

  constructor(volume: Volume, inode: Inode) {
    this.fd = openedAs(volume, inode);
    this.#volume = volume;
    this.#inode = inode;
  }

  async readFile(): Promise<Buffer> {
    await this.#volume.pause();
    return this.#inode.bytes;
  }

  async read(buffer: Buffer, offset: number, length: number, position: number) {
    await this.#volume.pause();
    const bytesRead = this.#inode.bytes.copy(buffer, offset, position, position + length);
    return { bytesRead, buffer };
  }

  async writeFile(content: string): Promise<void> {
    await this.#volume.pause();
    this.#volume.write(this.#inode, Buffer.from(content));
  }

  async chmod(mode: number): Promise<void> {
    await this.#volume.pause();
    this.#inode.mode = mode;
  }

  async stat(options?: { readonly bigint: boolean }) {
    await this.#volume.pause();
    const stats = statsOf(this.#inode);
    if (!options?.bigint) return stats;
    return { ...stats, size: BigInt(stats.size), mtimeNs: nanoseconds(stats.mtimeMs) };
  }

  async sync(): Promise<void> {
    await this.#volume.pause();
    this.#volume.flush(this.#inode);
  }

  async close(): Promise<void> {
    await this.#volume.pause();
  }
}

export async function open(path: string, flags: number | string, mode?: number) {
  const volume = volumeOf(path);
  await volume.pause();
  return new FileHandle(volume, flags === "wx" ? volume.create(path, mode) : volume.get(path));
}

export async function lstat(path: string): Promise<Stats> {
  const volume = volumeOf(path);
  await volume.pause();
  return statsOf(volume.get(path));
}

/** In whole numbers without end; inodes are made one after another. */
export async function stat(path: string) {
  const stats = await lstat(path);
  const mtimeNs = nanoseconds(stats.mtimeMs);
  const ino = BigInt(stats.ino);
  return {
    ...stats,
    dev: 1n,
    ino,
    size: BigInt(stats.size),
    mtimeNs,
    ctimeNs: mtimeNs,
    birthtimeNs: ino,
  };
}

/** A whole file: as text where an encoding is given. */
export async function readFile(path: string, encoding?: "utf8") {
  const volume = volumeOf(path);
  await volume.pause();
  const { bytes, folder } = volume.get(path);
  if (folder) throw new DiskError("EISDIR", path);
  return encoding === undefined ? bytes : bytes.toString(encoding);
}

/** There are no symbolic links. */
export async function readlink(path: string): Promise<string> {
  throw new DiskError("EINVAL", path);
}

export async function realpath(path: string): Promise<string> {
  return path;
}

export async function mkdir(path: string): Promise<void> {
  const volume = volumeOf(path);
  await volume.pause();
  for (let at = path; volume.holds(at); at = dirname(at)) volume.makeFolder(at);
}

/** The names in a folder. */
export async function readdir(path: string): Promise<string[]> {
  const volume = volumeOf(path);
  await volume.pause();
  if (!volume.get(path).folder) throw new DiskError("ENOTDIR", path);
  return volume.namesIn(path);
}

export async function rename(from: string, to: string): Promise<void> {
  const volume = volumeOf(to);
  await volume.pause();
  volume.rename(from, to);
}

export async function rm(path: string): Promise<void> {
  const volume = volumeOf(path);
  await volume.pause();
  if (volume.find(path)) volume.remove(path);
}
