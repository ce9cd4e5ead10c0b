import { openConnection } from "./database.ts";

/** A lock that this process has until it releases it or ends. */
export interface Lock {
  release(): void;
}

/**
 * Takes the one lock that `path` stands for: an exclusive transaction on a database of its own,
 * which the operating system ends with the process, however that dies. Undefined when another
 * process holds it.
 */
export async function takeLock(path: string): Promise<Lock | undefined> {
  const connection = await openConnection(path, false);
  try {
    connection.exec("PRAGMA busy_timeout = 0");
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

/** How long a gate may be held by the other side. */
const GATE_TIMEOUT_MS = 10_000;

/**
 * Goes through the gate that `path` stands for: any number of processes do at once by `shared`, and
 * one alone, when all of those have left, by `exclusive`. Waits, and throws when that takes too
 * long.
 */
export async function passGate(path: string, how: "shared" | "exclusive"): Promise<Lock> {
  const connection = await openConnection(path, false);
  try {
    connection.exec(`PRAGMA busy_timeout = ${GATE_TIMEOUT_MS}`);
    connection.exec(how === "shared" ? "BEGIN" : "BEGIN EXCLUSIVE");
    // A plain transaction takes its lock when it first reads.
    if (how === "shared") connection.prepare("select count(*) from sqlite_master").all([]);
    return { release: () => connection.close() };
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}
