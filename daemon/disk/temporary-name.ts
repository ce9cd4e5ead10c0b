import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { base32 } from "../../shared/ids.ts";
import type { World } from "../../shared/world.ts";

const TEMPORARY = /^[a-z2-7]{8}\.memsync$/;
const JOURNAL = /^[a-z2-7]{8}\.whole\.memsync$/;

/** What systems allow for a name, in bytes. */
const NAME_BYTES_MAX = 255;
/** The rest of a journal's name. */
const REST_BYTES = "..abcdefgh.whole.memsync".length;
const DIGEST_LENGTH = 8;

/** A new name beside `path` for a file that is prepared there. */
export function newTemporary(path: string, world: World): string {
  const stem = stemOf(basename(path));
  return join(dirname(path), `.${stem}.${base32(world.randomBytes(5))}.memsync`);
}

/** The name, or of one that leaves no room for the rest its beginning and a digest of it. */
function stemOf(name: string): string {
  const most = NAME_BYTES_MAX - REST_BYTES;
  if (Buffer.byteLength(name) <= most) return name;
  const digest = base32(createHash("sha256").update(name).digest()).slice(0, DIGEST_LENGTH);
  let beginning = "";
  for (const character of name) {
    if (Buffer.byteLength(beginning + character) > most - DIGEST_LENGTH - 1) break;
    beginning += character;
  }
  return `${beginning}-${digest}`;
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
  const stem = stemOf(name);
  return other.startsWith(`.${stem}.`) ? other.slice(stem.length + 2) : "";
}
