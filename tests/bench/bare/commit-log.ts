import { Database } from "bun:sqlite";

/**
 * The physical limit of a durable write: one row, on the disk when the call returns. The file at
 * `path` is made. The call returns the time it took, in milliseconds.
 */
export function openCommitLog(path: string): (payload: Uint8Array) => number {
  const database = new Database(path, { readwrite: true, create: true });
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE log (seq INTEGER PRIMARY KEY, payload BLOB NOT NULL)");
  const insert = database.prepare("INSERT INTO log (payload) VALUES (?)");
  return (payload) => {
    const startedAt = performance.now();
    insert.run(payload);
    return performance.now() - startedAt;
  };
}
