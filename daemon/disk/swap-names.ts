/**
 * Makes each of two paths on one file system stand for what the other stood for, in one step:
 * `renameat2` with `RENAME_EXCHANGE` on Linux, `renamex_np` with `RENAME_SWAP` on macOS. False, and
 * nothing has changed, where a path is missing or where the system or file system can't do it.
 */
export type SwapNames = (one: string, other: string) => boolean;

/** What this system has. Never rejects. */
export function loadSwapNames(): Promise<SwapNames> {
  loaded ??= load();
  return loaded;
}

type Swap = (one: Uint8Array, other: Uint8Array) => boolean;
/** The C library's functions; a runtime without them can load this file nevertheless. */
type Ffi = typeof import("bun:ffi");

let loaded: Promise<SwapNames> | undefined;

/** Of fcntl.h: paths are taken from the working directory. */
const AT_FDCWD = -100;
/** `RENAME_EXCHANGE` of Linux and `RENAME_SWAP` of macOS are the same bit. */
const EXCHANGE = 2;

async function load(): Promise<SwapNames> {
  try {
    const ffi = await import("bun:ffi");
    const swap = process.platform === "darwin" ? loadFromLibSystem(ffi) : loadFromGlibc(ffi);
    return (one, other) => swap(nameOf(one), nameOf(other));
  } catch {
    // Another system or C library, or one too old: then there is no such step.
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

/** A path as C has it. */
function nameOf(path: string): Uint8Array {
  return Buffer.from(`${path}\0`);
}
