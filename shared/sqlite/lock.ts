import { openConnection } from "./database.ts";

/** A lock of this process, until it releases it or ends. */
export interface Lock {
  release(): void;
}

/**
 * Takes the lock at `path`: an exclusive transaction on a database of its own, which the operating
 * system ends with the process, however that dies. Undefined if another process has it.
 */
export async function takeLock(path: string): Promise<Lock | undefined> {
  const connection = await openConnection(path, false);
  try {
    connection.exec("PRAGMA busy_timeout = 0");
    // An empty database would get a journal on the disk, for which a full disk has no room.
    connection.exec("PRAGMA journal_mode = MEMORY");
    connection.exec("BEGIN EXCLUSIVE");
    return { release: () => connection.close() };
  } catch (thrown) {
    connection.close();
    if (thrown instanceof Error && "code" in thrown && thrown.code === "SQLITE_BUSY") {
      return undefined;
    }
    throw thrown;
  }
}

/** How long the other side may hold a gate. */
const GATE_TIMEOUT_MS = 10_000;

/**
 * Passes the gate at `path`: any number of processes at once with `shared`; with `exclusive`, one
 * alone, after all others have left. Waits, and throws if that takes too long.
 */
export async function passGate(path: string, how: "shared" | "exclusive"): Promise<Lock> {
  const connection = await openConnection(path, false);
  try {
    connection.exec(`PRAGMA busy_timeout = ${GATE_TIMEOUT_MS}`);
    connection.exec(how === "shared" ? "BEGIN" : "BEGIN EXCLUSIVE");
    // A plain transaction takes its lock at its first read.
    if (how === "shared") connection.prepare("select count(*) from sqlite_master").all([]);
    return { release: () => connection.close() };
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}
