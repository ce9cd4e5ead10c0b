import { join } from "node:path";
import type { Kysely } from "kysely";
import { readFileAt } from "../../disk/read-file.ts";
import { dropJust, type HeldItem } from "../../home/held-store.ts";
import { forgetHeldFiles, listHeldFiles } from "../../home/memory-files.ts";
import { forgetHeldPersonal, listPersonalFiles } from "../../home/personal-files.ts";
import { PERSONAL_KEY } from "../../home/personal-mark.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { ownerOf } from "../memory-folders/held-memories.ts";
import { readPersonalFile, textHash } from "./read-personal-file.ts";

type Db = Kysely<DaemonTables>;

/**
 * The assistants' files that have a held text now. While they have it, it is not to be dropped:
 * nobody would be told that it is sent nowhere, and there would be nothing to allow.
 */
export async function filesWithHeld(db: Db, item: HeldItem): Promise<string[]> {
  const { kind, key, apart, document: name } = item;
  if (kind !== "memory" || apart === undefined) return [];
  const paths: string[] = [];
  const of = { owner: ownerOf({ address: { name } }), hash: apart };
  for (const file of await listHeldFiles(db, of)) {
    const read = await readFileAt(file.folder, file.name);
    if (read.kind === "text" && read.hash === apart) paths.push(join(file.folder, file.name));
  }
  if (key !== PERSONAL_KEY) return paths;
  for (const { path, held } of await listPersonalFiles(db)) {
    const read = held === apart ? await readPersonalFile(path) : undefined;
    if (read?.kind === "file" && read.block && textHash(read.block.text) === apart) {
      paths.push(path);
    }
  }
  return paths;
}

/**
 * Drops what is held. A file that gets the text again is judged anew. False: it is no longer held,
 * or another write is held for its place.
 */
export async function dropHeldText(db: Db, item: HeldItem): Promise<boolean> {
  if (!(await dropJust(db, item))) return false;
  const { kind, apart, document: name } = item;
  if (kind !== "memory" || apart === undefined) return true;
  await forgetHeldFiles(db, { owner: ownerOf({ address: { name } }), hash: apart });
  await forgetHeldPersonal(db, apart);
  return true;
}
