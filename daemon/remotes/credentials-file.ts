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
import { takeLock } from "../../shared/sqlite/lock.ts";
import { delay, type World } from "../../shared/world.ts";

const PRIVATE_FILE = 0o600;
const LOCK_TRIES = 50;
const LOCK_TRY_MS = 100;

/** By what a token is kept under; see `tokenIdOf`. */
type Tokens = Readonly<Record<string, string>>;

/** One token of the file; undefined when it holds none of that id. */
export function readFromFile(path: string, id: string): string | undefined {
  return readAll(path)[id];
}

/** Puts a token into the file, or takes it out; on the disk, whole, when it resolves. */
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
    return JSON.parse(text) as Tokens;
  } catch {
    // The parser's own message repeats what it met.
    throw unreadable(path);
  }
}

function unreadable(path: string): AppError {
  return new AppError("internal", `${path} can't be read: remove it and \`memsync login\` again`);
}

/** By a private file of its own and a rename: at no moment is there half of it, or one to see. */
function replaceFile(path: string, text: string): void {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  const file = openSync(temporary, "wx", PRIVATE_FILE);
  try {
    writeSync(file, text);
    fsyncSync(file);
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
