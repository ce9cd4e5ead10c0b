import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { AppError } from "../../shared/errors.ts";
import { atPath } from "../../shared/file-failures.ts";
import type { AccountId } from "../../shared/ids.ts";
import { isObject } from "../../shared/json.ts";
import { takeLock } from "../../shared/sqlite/lock.ts";
import { delay, type World } from "../../shared/world.ts";

const PRIVATE_FILE = 0o600;
const PATH_DIGITS = 16;
const LOCK_TRIES = 50;
const LOCK_TRY_MS = 100;

/** What the file has: tokens by `entryIdAt`. */
type Entries = Readonly<Record<string, string>>;

/** Whose entries in the file are meant: a remote's, in the home that is at a path now. */
export interface EntriesOf {
  readonly dir: string;
  readonly account: AccountId;
}

/** Under what name a token is kept by the home at a path: two homes have separate tokens. */
export function entryIdAt({ dir, account }: EntriesOf): string {
  return `${createHash("sha256").update(dir).digest("hex").slice(0, PATH_DIGITS)}/${account}`;
}

/**
 * Reads what the file has of a remote. It is in the home, and so its tokens are the home's, to
 * whatever path that was moved or copied since; the last one is that of the latest login.
 */
export function readFromFile(path: string, of: EntriesOf): string | undefined {
  const all = readAll(path);
  const tokens = Object.entries(all).filter(([id]) => isTokenOf(of.account, id));
  return all[entryIdAt(of)] ?? tokens.at(-1)?.[1];
}

/** Writes all that the file has of a remote. On the disk, complete, when it resolves. */
export async function writeToFile(
  path: string,
  world: World,
  { token, ...of }: EntriesOf & { readonly token: string | undefined },
): Promise<void> {
  const lock = await waitForLock(`${path}.lock`, world);
  try {
    const before = readAll(path);
    const others = Object.entries(before).filter(([id]) => !isTokenOf(of.account, id));
    const after: Record<string, string> = Object.fromEntries(others);
    if (token !== undefined) after[entryIdAt(of)] = token;
    if (!isDeepStrictEqual(before, after)) replaceFile(path, JSON.stringify(after));
  } finally {
    lock.release();
  }
}

/** Whether a token is a remote's, at whichever path the home was when it was written. */
function isTokenOf(account: AccountId, id: string): boolean {
  return id.endsWith(`/${account}`) && /^[0-9a-f]+$/.test(id.slice(0, -account.length - 1));
}

function readAll(path: string): Entries {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return {};
    throw unreadable(path);
  }
  try {
    const entries: unknown = JSON.parse(text);
    if (areEntries(entries)) return entries;
  } catch {
    // The parser's own message quotes the file.
  }
  throw unreadable(path);
}

function areEntries(value: unknown): value is Entries {
  return isObject(value) && Object.values(value).every((token) => typeof token === "string");
}

function unreadable(path: string): AppError {
  return new AppError("internal", `${path} can't be read: remove it and \`memsync login\` again`);
}

/** Writes a private temporary file and renames it: nobody ever sees half of it, or can read it. */
function replaceFile(path: string, text: string): void {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  const file = openSync(temporary, "wx", PRIVATE_FILE);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } catch (thrown) {
    throw atPath(thrown, path);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

async function waitForLock(path: string, world: World) {
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    const lock = await takeLock(path);
    if (lock) return lock;
    await delay(world, LOCK_TRY_MS);
  }
  throw new AppError("internal", "another process is writing tokens and does not end");
}
