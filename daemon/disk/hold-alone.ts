/**
 * Keeps other programs from opening a file until the returned function is called: whoever tries has
 * to wait. Call it within a second. The argument is a file descriptor. Undefined where another
 * program has the file open, or the system can't do this.
 */
export type HoldAlone = (file: number) => (() => void) | undefined;

/** The implementation for this system. Never rejects. */
export function loadHoldAlone(): Promise<HoldAlone> {
  loaded ??= load();
  return loaded;
}

let loaded: Promise<HoldAlone> | undefined;

// From fcntl.h and signal.h of Linux.
const F_SETSIG = 10;
const F_SETLEASE = 1024;
const F_WRLCK = 1;
const F_UNLCK = 2;
/**
 * A signal that does nothing when nobody handles it. The lease's own signal would kill the process.
 */
const SIGURG = 23;

/** Uses leases; see `F_SETLEASE` in fcntl(2). */
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
