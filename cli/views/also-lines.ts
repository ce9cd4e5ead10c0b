import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Kysely } from "kysely";
import { whyAlsoLeft } from "../../daemon/files/state/followed-imports.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import type { FolderStatus } from "../../daemon/status/status.ts";
import { explain } from "../../shared/reasons.ts";
import { whyNotFollowed } from "./apart-files.ts";

/**
 * What becomes of files that are to follow the project's text; those that have it are left.
 * `others`: how the daemon follows the folder's further files.
 */
export async function alsoLines(
  db: Kysely<DaemonTables> | undefined,
  dir: string,
  { named, others }: { readonly named: readonly string[]; readonly others: FolderStatus["also"] },
): Promise<string[]> {
  const told = await Promise.all(
    named.map(async (name) => {
      const found = others.find(({ path }) => path === name);
      return { name, why: (await whyLeft(db, dir, name)) ?? (found && whyLeftBy(found)) };
    }),
  );
  const joined = told.flatMap(({ name, why }) => (why === undefined ? [name] : []));
  const left = told.flatMap(({ name, why }) => (why === undefined ? [] : [`${name} ${why}`]));
  if (joined.length === 0) return left;
  const both =
    `${joined.join(" and ")} and the project's text are one from now on: what either has alone ` +
    "comes into the other; `memsync status` says what is written";
  return [both, ...left];
}

function whyLeftBy(file: FolderStatus["also"][number]): string | undefined {
  const why = whyNotFollowed(file);
  return why && `is left as it is: it ${why}`;
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

/** What follows where one of two files that differed is the one that counts. */
export function oneFromNowOn(file: string): string {
  return (
    `${file} and the project's text are one from now on: what either has alone comes into the ` +
    "other, and `memsync conflicts` shows it"
  );
}
