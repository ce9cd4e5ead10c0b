import { constants } from "node:fs";
import type { SwapNames } from "../../../../daemon/sources/swap-names.ts";
import { type FileHandle, inodeOf, openedAs, type Stats, statsOf } from "./fs-promises.ts";
import { volumeOf } from "./mounted.ts";

export type { FileHandle };
// What `daemon/sources` uses of `node:fs`, on the simulation's volumes.
export { constants };

export function lstatSync(path: string): Stats {
  return statsOf(volumeOf(path).get(path));
}

export function fstatSync(descriptor: number): Stats {
  return statsOf(inodeOf(descriptor));
}

export function openSync(path: string): number {
  return openedAs(volumeOf(path).get(path));
}

export function readFileSync(descriptor: number): Buffer {
  return inodeOf(descriptor).bytes;
}

/** Descriptors are never used again, so none is lost by an open one. */
export function closeSync(): void {
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

/** Stands for `daemon/sources/swap-names.ts`. */
export async function loadSwapNames(): Promise<SwapNames> {
  return (one, other) => volumeOf(other).swap(one, other);
}
