import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Kysely } from "kysely";
import { whyAlsoLeft } from "../../daemon/files/followed-imports.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { explain } from "../../shared/reasons.ts";

/** What becomes of files that are to follow the project's text; those that have it are left. */
export async function alsoLines(
  db: Kysely<DaemonTables> | undefined,
  dir: string,
  names: readonly string[],
): Promise<string[]> {
  const told = await Promise.all(
    names.map(async (name) => ({ name, why: await whyLeft(db, dir, name) })),
  );
  const joined = told.flatMap(({ name, why }) => (why === undefined ? [name] : []));
  const left = told.flatMap(({ name, why }) => (why === undefined ? [] : [`${name} ${why}`]));
  if (joined.length === 0) return left;
  const both =
    `${joined.join(" and ")} and the project's text are one from now on: what either has alone ` +
    "comes into the other; `memsync status` says what is written";
  return [both, ...left];
}

async function whyLeft(
  db: Kysely<DaemonTables> | undefined,
  dir: string,
  name: string,
): Promise<string | undefined> {
  const stats = await lstat(join(dir, name)).catch(() => undefined);
  if (stats?.isSymbolicLink()) return "is a symbolic link, and is left as it is";
  const why = db && (await whyAlsoLeft(db, dir, name));
  return why && `is left as it is: it ${explain(why)}`;
}
