import { basename, dirname, join } from "node:path";
import { base32 } from "../../shared/ids.ts";
import type { World } from "../../shared/world.ts";

const TEMPORARY = /^[a-z2-7]{8}\.memsync$/;
const JOURNAL = /^[a-z2-7]{8}\.whole\.memsync$/;

/** The path of a new file beside `path`, in which what it is to hold is made ready. */
export function newTemporary(path: string, world: World): string {
  return join(dirname(path), `.${basename(path)}.${base32(world.randomBytes(5))}.memsync`);
}

/**
 * The name that a temporary file gets, once it is whole and on the disk, for as long as what it
 * holds is being written into the followed file in its place.
 */
export function journalOf(temporary: string): string {
  return temporary.replace(/\.memsync$/, ".whole.memsync");
}

/** Whether a file was made to take the name of another one in its folder, or to fill it. */
export function isTemporaryOf(name: string, other: string): boolean {
  return TEMPORARY.test(restOf(name, other)) || isJournalOf(name, other);
}

/** Whether a file holds what is being written into another one in its folder. */
export function isJournalOf(name: string, other: string): boolean {
  return JOURNAL.test(restOf(name, other));
}

function restOf(name: string, other: string): string {
  return other.startsWith(`.${name}.`) ? other.slice(name.length + 2) : "";
}
