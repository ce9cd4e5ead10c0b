/**
 * Exchanges two paths of one file system in one step: `renameat2` with `RENAME_EXCHANGE` on Linux,
 * `renamex_np` with `RENAME_SWAP` on macOS. False, with nothing changed, where a path is missing or
 * the system can't do it.
 */
export type SwapNames = (one: string, other: string) => boolean;

/** The implementation for this system. Never rejects. */
export function loadSwapNames(): Promise<SwapNames> {
  loaded ??= load();
  return loaded;
}

type Swap = (one: Uint8Array, other: Uint8Array) => boolean;
/**
 * The C library's functions. By the type alone, so that a runtime without them can load this file.
 */
type Ffi = typeof import("bun:ffi");

let loaded: Promise<SwapNames> | undefined;

/** From fcntl.h: relative paths start at the working directory. */
const AT_FDCWD = -100;
/** `RENAME_EXCHANGE` of Linux and `RENAME_SWAP` of macOS are the same bit. */
const EXCHANGE = 2;

async function load(): Promise<SwapNames> {
  try {
    const ffi = await import("bun:ffi");
    const swap = process.platform === "darwin" ? loadFromLibSystem(ffi) : loadFromGlibc(ffi);
    return (one, other) => swap(nameOf(one), nameOf(other));
  } catch {
    // Another system or C library, or one that is too old, can't do this.
    return () => false;
  }
}

function loadFromGlibc({ dlopen }: Ffi): Swap {
  const { symbols } = dlopen("libc.so.6", {
    renameat2: { args: ["i32", "cstring", "i32", "cstring", "u32"], returns: "i32" },
  });
  return (one, other) => symbols.renameat2(AT_FDCWD, one, AT_FDCWD, other, EXCHANGE) === 0;
}

function loadFromLibSystem({ dlopen }: Ffi): Swap {
  const { symbols } = dlopen("libSystem.B.dylib", {
    renamex_np: { args: ["cstring", "cstring", "u32"], returns: "i32" },
  });
  return (one, other) => symbols.renamex_np(one, other, EXCHANGE) === 0;
}

/** A path as a C string. */
function nameOf(path: string): Uint8Array {
  return Buffer.from(`${path}\0`);
}
