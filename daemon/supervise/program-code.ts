import { readFileSync, readlinkSync } from "node:fs";

/** From Linux's `sys/mman.h`. */
const MADV_DONTNEED = 4;

/** A part of a process's memory, in bytes. */
export interface Mapping {
  readonly start: number;
  readonly length: number;
}

/**
 * Returns a function that releases the memory of this program's own code, most of which only the
 * start needs. Code that runs again is read from the system's cache of the file. Undefined off
 * Linux, and with another C library.
 */
export async function loadReleaseCode(): Promise<(() => void) | undefined> {
  if (process.platform !== "linux") return undefined;
  try {
    const { dlopen } = await import("bun:ffi");
    const { symbols } = dlopen("libc.so.6", {
      madvise: { args: ["u64", "usize", "i32"], returns: "i32" },
    });
    return () => {
      for (const { start, length } of ownCode()) symbols.madvise(start, length, MADV_DONTNEED);
    };
  } catch {
    return undefined;
  }
}

function ownCode(): readonly Mapping[] {
  try {
    return programCodeIn(readFileSync("/proc/self/smaps", "utf8"), readlinkSync("/proc/self/exe"));
  } catch {
    // Without proc(5) nothing is known.
    return [];
  }
}

/** Addresses, permissions, offset, device, inode, path. */
const CODE = /^([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ \S+ +(.*)$/m;

/**
 * Where a program's code is, according to `/proc/PID/smaps` (see proc(5)): parts of its file that
 * were mapped for reading and running and were not changed since. A changed page exists only in
 * memory.
 */
export function programCodeIn(smaps: string, program: string): readonly Mapping[] {
  return smaps.split(/^(?=[0-9a-f]+-)/m).flatMap((mapping) => {
    const [, from, to, path] = CODE.exec(mapping) ?? [];
    const isUnchanged = /^Anonymous: +0 kB$/m.test(mapping);
    if (from === undefined || to === undefined || path !== program || !isUnchanged) return [];
    const start = Number.parseInt(from, 16);
    return [{ start, length: Number.parseInt(to, 16) - start }];
  });
}
