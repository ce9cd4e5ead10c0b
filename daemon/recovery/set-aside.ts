import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { keepAs, renameDurably, syncFile } from "../../shared/durable-files.ts";
import { messageOf } from "../../shared/errors.ts";
import { isObject } from "../../shared/json.ts";
import type { ReasonCode } from "../../shared/reasons.ts";

const PRIVATE_FILE = 0o600;

/** The files that SQLite keeps beside a database. */
const SIDE_FILES = ["-wal", "-shm"] as const;

/**
 * What is said about a damaged database, for as long as the file with this note exists. Its
 * sentences are stored as they are and only shown: they report one event, with its figures, and
 * nothing is decided by them.
 */
export interface DamageNote {
  /** ISO 8601; null where the note can't be read. */
  readonly found_at: string | null;
  readonly reason: string;
  /** What is told: of a database that was set aside, or that its note can't be read. */
  readonly code: ReasonCode;
  /** What the names of its files begin with now. The files themselves may be gone. */
  readonly set_aside: string;
  /** What could be read of it, and what happens with the rest. */
  readonly message: string;
}

/** The fields of a note as it is stored. */
type StoredNote = Omit<DamageNote, "code"> & { readonly found_at: string };

const NOTE_FIELDS = ["found_at", "reason", "set_aside", "message"] as const;

/** The names of a database and its replacement during their exchange. */
function namesOf(path: string, stamp: string) {
  return { aside: `${path}.damaged-${stamp}`, rebuilt: `${path}.rebuilt-${stamp}` };
}

/** The path at which something is made from a database. An unfinished file there is removed. */
export function emptyWorkshop(path: string, what: "rebuilding" | "reading"): string {
  const workshop = `${path}.${what}`;
  for (const part of ["", ...SIDE_FILES]) rmSync(`${workshop}${part}`, { force: true });
  return workshop;
}

/**
 * Puts the finished `replacement` in the place of the database. All files of the old database get
 * other names. After a crash at any point `finishExchange` completes this.
 */
export async function exchange(
  path: string,
  replacement: string,
  {
    stamp,
    note,
  }: { readonly stamp: string; readonly note: (aside: string, exists: boolean) => StoredNote },
): Promise<DamageNote> {
  const { aside, rebuilt } = namesOf(path, stamp);
  const exists = ["", ...SIDE_FILES].some((part) => existsSync(`${path}${part}`));
  const told = note(aside, exists);
  writeFileSync(`${aside}.json`, JSON.stringify(told), { mode: PRIVATE_FILE });
  await syncFile(`${aside}.json`);
  await syncFile(replacement);
  await renameDurably(replacement, rebuilt);
  await finishExchange(path);
  return { ...told, code: "damage-told" };
}

/** Completes an exchange that was under way when its process ended. */
export async function finishExchange(path: string): Promise<void> {
  const prefix = `${basename(path)}.rebuilt-`;
  const [name] = readdirSync(dirname(path)).filter((each) => each.startsWith(prefix));
  if (name === undefined) return;
  const { aside, rebuilt } = namesOf(path, name.slice(prefix.length));
  if (existsSync(path) && !existsSync(aside)) await keepAs(path, aside);
  for (const part of SIDE_FILES) {
    // SQLite would apply the log of one database to another.
    if (existsSync(`${path}${part}`)) await rename(`${path}${part}`, `${aside}${part}`);
  }
  await renameDurably(rebuilt, path);
}

/** The notes about a home's damaged databases, oldest first. */
export function readDamageNotes(home: string): DamageNote[] {
  const names = readdirSync(home).filter((name) => /\.db\.damaged-.+\.json$/.test(name));
  return names.sort().map((name) => {
    try {
      const note: unknown = JSON.parse(readFileSync(join(home, name), "utf8"));
      if (isStoredNote(note)) return { ...note, code: "damage-told" };
      return unreadNote(join(home, name), "it is no such note");
    } catch (thrown) {
      return unreadNote(join(home, name), messageOf(thrown));
    }
  });
}

function isStoredNote(value: unknown): value is StoredNote {
  return isObject(value) && NOTE_FIELDS.every((field) => typeof value[field] === "string");
}

/** The database is there even if its note can't be read. */
function unreadNote(path: string, why: string): DamageNote {
  const set_aside = path.slice(0, -".json".length);
  const reason = `${path} can't be read: ${why}`;
  const message = `${set_aside} is a database that was damaged; what was read of it is not known`;
  return {
    found_at: null,
    code: "damage-untold",
    reason,
    set_aside,
    message: `${message} (${reason})`,
  };
}
