import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Machine } from "./machine.ts";

/**
 * What came into a machine's files came an hour earlier, and looks have found it there since. Its
 * daemon must be down.
 */
export function anHourLater({ home }: Machine): void {
  const db = new Database(join(home, "memsync.db"));
  try {
    db.run("update file_arrivals set arrived_at = arrived_at - 3600000");
    db.run("update file_arrivals set change = json_set(change, '$.isSeen', json('true'))");
  } finally {
    db.close();
  }
}
