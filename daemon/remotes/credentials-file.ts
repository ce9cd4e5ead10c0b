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
import { AppError } from "../../shared/errors.ts";
import { atPath } from "../../shared/file-failures.ts";
import { isObject } from "../../shared/json.ts";
import { takeLock } from "../../shared/sqlite/lock.ts";
import { delay, type World } from "../../shared/world.ts";

const PRIVATE_FILE = 0o600;
const LOCK_TRIES = 50;
const LOCK_TRY_MS = 100;

/** Tokens by the ids under which `TokenStore` keeps them. */
type Tokens = Readonly<Record<string, string>>;

/** Reads one token from the file; undefined where it has none with this id. */
export function readFromFile(path: string, id: string): string | undefined {
  return readAll(path)[id];
}

/** Stores a token in the file, or removes it. On the disk, complete, when it resolves. */
export async function writeToFile(
  path: string,
  world: World,
  { id, token }: { readonly id: string; readonly token: string | undefined },
): Promise<void> {
  const lock = await waitForLock(`${path}.lock`, world);
  try {
    const { [id]: known, ...others } = readAll(path);
    if (known === token) return;
    replaceFile(path, JSON.stringify(token === undefined ? others : { ...others, [id]: token }));
  } finally {
    lock.release();
  }
}

function readAll(path: string): Tokens {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return {};
    throw unreadable(path);
  }
  try {
    const tokens: unknown = JSON.parse(text);
    if (isTokens(tokens)) return tokens;
  } catch {
    // The parser's own message quotes the file.
  }
  throw unreadable(path);
}

function isTokens(value: unknown): value is Tokens {
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
