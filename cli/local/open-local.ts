import { statSync } from "node:fs";
import type { Kysely } from "kysely";
import type { Home } from "../../daemon/home/home.ts";
import { openHomeReader, refuseLost } from "../../daemon/home/open-home.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { messageOf } from "../../shared/errors.ts";

/** Opens the home's replica for reading; undefined when there is none yet. Throws if it is lost. */
export async function openLocal(home: Home): Promise<Kysely<DaemonTables> | undefined> {
  const db = isThere(home) ? await openHomeReader(home.database) : undefined;
  if (!db) await refuseLost(home);
  return db;
}

/** Throws one sentence where the home can't be read: that must not look like an empty one. */
function isThere(home: Home): boolean {
  try {
    return statSync(home.database, { throwIfNoEntry: false }) !== undefined;
  } catch (thrown) {
    const words = "mend its permissions or set MEMSYNC_HOME to another folder";
    throw new Error(`the home ${home.dir} can't be read: ${words} (${messageOf(thrown)})`);
  }
}
