import { Database } from "bun:sqlite";

export interface Lock {
  release(): void;
}

/**
 * Takes the home's one lock: an exclusive transaction on a database of its own, which the operating
 * system ends with the process, however that dies. Undefined when another process holds it.
 */
export function takeLock(path: string): Lock | undefined {
  const database = new Database(path, { readwrite: true, create: true });
  try {
    database.exec("PRAGMA busy_timeout = 0");
    database.exec("BEGIN EXCLUSIVE");
    return { release: () => database.close() };
  } catch (thrown) {
    database.close();
    if (thrown instanceof Error && "code" in thrown && thrown.code === "SQLITE_BUSY") {
      return undefined;
    }
    throw thrown;
  }
}
