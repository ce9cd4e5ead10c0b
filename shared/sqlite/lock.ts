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
