/**
 * Takes care that no other program opens a file until the function that this gives is called:
 * whoever tries waits for that. It is to be called within the second. The argument is a file
 * descriptor. Undefined where another program has the file open, or the system has no such thing.
 */
export type HoldAlone = (file: number) => (() => void) | undefined;

/** What this system has. Never rejects. */
export function loadHoldAlone(): Promise<HoldAlone> {
  loaded ??= load();
  return loaded;
}

let loaded: Promise<HoldAlone> | undefined;

// Of fcntl.h and signal.h of Linux.
const F_SETSIG = 10;
const F_SETLEASE = 1024;
const F_WRLCK = 1;
const F_UNLCK = 2;
/** Nobody handles it, and it does nothing then; the signal that a lease sends by itself kills. */
const SIGURG = 23;

/** Leases: see `F_SETLEASE` in fcntl(2). */
async function load(): Promise<HoldAlone> {
  if (process.platform !== "linux") return () => undefined;
  try {
    const { dlopen } = await import("bun:ffi");
    const { symbols } = dlopen("libc.so.6", {
      fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
    });
    return (file) => {
      if (symbols.fcntl(file, F_SETSIG, SIGURG) !== 0) return undefined;
      if (symbols.fcntl(file, F_SETLEASE, F_WRLCK) !== 0) return undefined;
      return () => void symbols.fcntl(file, F_SETLEASE, F_UNLCK);
    };
  } catch {
    return () => undefined;
  }
}
