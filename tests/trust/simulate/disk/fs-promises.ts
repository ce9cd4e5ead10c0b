import { dirname } from "node:path";
import { volumeOf } from "./mounted.ts";
import { DiskError, type Inode, type Volume } from "./volume.ts";

// What `daemon/sources` uses of `node:fs/promises`, on the simulation's volumes. Each call lets
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
    const mtimeNs = BigInt(Math.round(stats.mtimeMs * NANOSECONDS_PER_MS));
    return { ...stats, size: BigInt(stats.size), mtimeNs };
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

/** Of a folder; when it was made is not kept. */
export async function stat(path: string) {
  const stats = await lstat(path);
  return { ...stats, dev: 1n, ino: BigInt(stats.ino), birthtimeNs: 0n };
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
