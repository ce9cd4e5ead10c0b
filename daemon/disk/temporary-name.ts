import { basename, dirname, join } from "node:path";
import { base32 } from "../../shared/ids.ts";
import type { World } from "../../shared/world.ts";

const TEMPORARY = /^[a-z2-7]{8}\.memsync$/;
const JOURNAL = /^[a-z2-7]{8}\.whole\.memsync$/;

/** A new name beside `path` for a file that is prepared there. */
export function newTemporary(path: string, world: World): string {
  return join(dirname(path), `.${basename(path)}.${base32(world.randomBytes(5))}.memsync`);
}

/**
 * The name that a complete temporary file gets while its content is written into the followed file
 * in place. It serves as the journal of that write.
 */
export function journalOf(temporary: string): string {
  return temporary.replace(/\.memsync$/, ".whole.memsync");
}

/** Whether `other` is the name of a temporary file or of a journal for the file `name`. */
export function isTemporaryOf(name: string, other: string): boolean {
  return TEMPORARY.test(restOf(name, other)) || isJournalOf(name, other);
}

/** Whether `other` is the name of a journal for the file `name`. */
export function isJournalOf(name: string, other: string): boolean {
  return JOURNAL.test(restOf(name, other));
}

function restOf(name: string, other: string): string {
  return other.startsWith(`.${name}.`) ? other.slice(name.length + 2) : "";
}
