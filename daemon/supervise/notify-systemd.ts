/** Tells the service manager that started this process about its state. */
export interface ServiceNotifier {
  ready(): void;
  /** To be called within each interval that the unit's `WatchdogSec` gives. */
  alive(): void;
  stopping(): void;
}

/** Constants for `connect` and `sendto`, from sys/socket.h on Linux. */
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
/** A manager that does not read must not block the event loop. */
const MSG_DONTWAIT = 0x40;
/** Bytes before the path in a `sockaddr_un`. */
const PATH_OFFSET = 2;
const PATH_BYTES_MAX = 107;

type Send = (message: string) => void;

/**
 * Speaks the protocol of sd_notify(3) by calls of the C library, because neither runtime has
 * datagrams on unix sockets. Undefined where no systemd listens or the C library can't be called.
 */
export async function openServiceNotifier(
  socket: string | undefined,
): Promise<ServiceNotifier | undefined> {
  if (!socket || process.platform !== "linux") return undefined;
  const send = await openDatagrams(socket);
  return (
    send && {
      ready: () => send("READY=1"),
      alive: () => send("WATCHDOG=1"),
      stopping: () => send("STOPPING=1"),
    }
  );
}

/** Whether this runtime can notify systemd, so that a unit can rely on it. */
export async function canNotify(): Promise<boolean> {
  return process.platform === "linux" && (await loadSockets()) !== undefined;
}

async function openDatagrams(socket: string): Promise<Send | undefined> {
  const library = await loadSockets();
  const address = addressOf(socket);
  if (!library || !address) return undefined;
  const descriptor = library.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return undefined;
  return (message) => {
    const bytes = Buffer.from(message);
    library.sendto(descriptor, bytes, bytes.length, MSG_DONTWAIT, address, address.length);
  };
}

/** Builds a `sockaddr_un`. A name that begins with `@` is an abstract one. */
function addressOf(socket: string): Buffer | undefined {
  const path = Buffer.from(socket.startsWith("@") ? `\0${socket.slice(1)}` : socket);
  if (path.length > PATH_BYTES_MAX) return undefined;
  const family = Buffer.from(new Uint16Array([AF_UNIX]).buffer);
  return Buffer.concat([family, path], PATH_OFFSET + path.length);
}

async function loadSockets() {
  try {
    const { dlopen } = await import("bun:ffi");
    return dlopen("libc.so.6", {
      socket: { args: ["i32", "i32", "i32"], returns: "i32" },
      sendto: { args: ["i32", "cstring", "usize", "i32", "cstring", "u32"], returns: "i64" },
    }).symbols;
  } catch {
    // Another C library, or a runtime without foreign functions.
    return undefined;
  }
}
