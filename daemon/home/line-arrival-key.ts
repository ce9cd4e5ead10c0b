import type { Kysely } from "kysely";
import type { DaemonTables } from "./tables.ts";

/**
 * Under which `dir` of `file_arrivals` the lines of a file of whole values are. No folder and no
 * further file of one has such a name.
 */
export function lineArrivalKey(path: string): string {
  return `lines:${path}`;
}

/** The same for lines that a save has brought back into it. */
export function returnedLineKey(path: string): string {
  return `returned:${path}`;
}

/** Forgets both. Durable with the transaction. */
export async function forgetLines(db: Kysely<DaemonTables>, path: string): Promise<void> {
  const dirs = [lineArrivalKey(path), returnedLineKey(path)];
  await db.deleteFrom("file_arrivals").where("dir", "in", dirs).execute();
}
