import type { Kysely } from "kysely";
import type { DaemonTables } from "./tables.ts";

/**
 * Under which `dir` of `file_arrivals` the lines of a file of whole values are. No folder and no
 * further file of one has such a name.
 */
export function lineArrivalKey(path: string): string {
  return `lines:${path}`;
}

/** The same for lines of which somebody is told. */
export function toldLineKey(path: string): string {
  return `told:${path}`;
}

/** The same for lines that somebody has taken out of it here. */
export function takenOutKey(path: string): string {
  return `taken:${path}`;
}

/** The same for what somebody has decided about lines. */
export function settledLineKey(path: string): string {
  return `settled:${path}`;
}

/** The same for lines that somebody has decided to have in it. */
export function keptLineKey(path: string): string {
  return `kept:${path}`;
}

/** The same for the entries of its memory that it showed before a write of ours. */
export function shownBeforeKey(path: string): string {
  return `shown:${path}`;
}

/** The same for the time since when it has texts that are not taken yet. */
export function waitingSinceKey(path: string): string {
  return `waiting:${path}`;
}

/** The same for texts that it had between two looks. */
export function glimpseKey(path: string): string {
  return `glimpse:${path}`;
}

/** All of these of a file. */
export function keysOfLines(path: string): string[] {
  const keys = [
    lineArrivalKey,
    toldLineKey,
    takenOutKey,
    settledLineKey,
    keptLineKey,
    shownBeforeKey,
    waitingSinceKey,
    glimpseKey,
  ];
  return keys.map((keyOf) => keyOf(path));
}

/** Forgets what is under all of these. Durable with the transaction. */
export async function forgetLines(db: Kysely<DaemonTables>, path: string): Promise<void> {
  await db.deleteFrom("file_arrivals").where("dir", "in", keysOfLines(path)).execute();
}
