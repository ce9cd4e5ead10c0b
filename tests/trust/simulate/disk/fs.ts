import { constants } from "node:fs";
import type { CopyAttributes } from "../../../../daemon/disk/file-attributes.ts";
import type { HoldAlone } from "../../../../daemon/disk/hold-alone.ts";
import type { SwapNames } from "../../../../daemon/disk/swap-names.ts";
import {
  type FileHandle,
  inodeOf,
  openedAs,
  openedOf,
  type Stats,
  statsOf,
} from "./fs-promises.ts";
import { volumeOf } from "./mounted.ts";

export type { FileHandle };
// What `daemon/files` uses of `node:fs`, on the simulation's volumes.
export { constants };

export function lstatSync(path: string): Stats {
  return statsOf(volumeOf(path).get(path));
}

export function fstatSync(descriptor: number): Stats {
  return statsOf(inodeOf(descriptor));
}

export function openSync(path: string): number {
  const volume = volumeOf(path);
  return openedAs(volume, volume.get(path));
}

export function readFileSync(descriptor: number): Buffer {
  return inodeOf(descriptor).bytes;
}

/** Descriptors are never used again, so none is lost by an open one. */
export function closeSync(): void {
  // Nothing to do.
}

export function readSync(
  descriptor: number,
  into: Buffer,
  offset: number,
  length: number,
  position: number,
): number {
  return inodeOf(descriptor).bytes.copy(into, offset, position, position + length);
}

export function writeSync(
  descriptor: number,
  from: Buffer,
  offset: number,
  length: number,
  position: number,
): number {
  const { volume, inode } = openedOf(descriptor);
  volume.writeAt(inode, from.subarray(offset, offset + length), position);
  return length;
}

export function ftruncateSync(descriptor: number, length: number): void {
  const { volume, inode } = openedOf(descriptor);
  volume.truncate(inode, length);
}

/** All files are one person's. */
export function fchownSync(): void {
  // Nothing to do.
}

export function linkSync(from: string, to: string): void {
  volumeOf(to).link(from, to);
}

export function renameSync(from: string, to: string): void {
  volumeOf(to).rename(from, to);
}

export function unlinkSync(path: string): void {
  volumeOf(path).remove(path);
}

/** Stands for `daemon/disk/swap-names.ts`. */
export async function loadSwapNames(): Promise<SwapNames> {
  return (one, other) => volumeOf(other).swap(one, other);
}

/** Stands for `daemon/disk/file-attributes.ts`: there are none. */
export async function loadCopyAttributes(): Promise<CopyAttributes> {
  return () => true;
}

/** Stands for `daemon/disk/hold-alone.ts`: nothing comes in between. */
export async function loadHoldAlone(): Promise<HoldAlone> {
  return () => () => {};
}
