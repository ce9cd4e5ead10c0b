import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { type FileRead, readFileAt } from "../../daemon/disk/read-file.ts";
import type { PortableMemory } from "../../daemon/portable/format.ts";
import { type FolderFiles, REST_FILE } from "../../daemon/portable/markdown-folder.ts";
import { fileFailure } from "../../shared/file-failures.ts";
import { explain } from "../../shared/reasons.ts";
import { timestampOf } from "../../shared/timestamps.ts";
import { CommandFailed } from "../screen/errors.ts";

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
const ENDING = ".md";

/** Whether a path is a folder. */
export async function isFolderAt(path: string): Promise<boolean> {
  return await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

/**
 * Writes a folder completely or not at all, readable by its owner only. Never into one that has
 * something in it.
 */
export async function writeFolder(folder: string, files: FolderFiles): Promise<void> {
  const there = await readdir(folder).catch(() => []);
  if (there.length > 0) throw new CommandFailed(`${folder} is not empty: name another folder`);
  const draft = `${folder}.${process.pid}.part`;
  try {
    await mkdir(draft, { recursive: true, mode: PRIVATE_FOLDER });
    for (const [path, text] of files) {
      await mkdir(dirname(join(draft, path)), { recursive: true, mode: PRIVATE_FOLDER });
      await writeNew(join(draft, path), text);
    }
    await rename(draft, folder);
  } catch (thrown) {
    await rm(draft, { recursive: true, force: true });
    throw new CommandFailed(`${folder} can't be written: ${fileFailure(thrown)}`);
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  const handle = await open(path, "wx", PRIVATE_FILE);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The files of a folder that `writeFolder` wrote, perhaps edited, and those that are no text. */
export async function readFolder(
  folder: string,
): Promise<{ readonly files: FolderFiles; readonly unread: readonly UnreadNote[] }> {
  const files = new Map<string, string>();
  const unread: UnreadNote[] = [];
  for (const path of await listFiles(folder)) {
    if (path === REST_FILE) {
      // It may be larger than any file that is followed.
      files.set(path, await readFile(join(folder, path), "utf8"));
      continue;
    }
    const read = await readFileAt(folder, path);
    if (read.kind === "text") files.set(path, read.content);
    else unread.push({ name: path, code: "unfit-text", reason: whyNoText(read) });
  }
  return { files, unread };
}

/** The notes of a folder, and files that look like notes and can be none, each with why. */
export interface FolderNotes {
  readonly notes: readonly PortableMemory[];
  readonly unread: readonly UnreadNote[];
}

interface UnreadNote {
  readonly name: string;
  readonly code: "unfit-name" | "unfit-text" | "unfit-folder";
  readonly reason: string;
}

/** Every note of somebody else's folder of Markdown, by its path without the ending. */
export async function readNotes(folder: string): Promise<FolderNotes> {
  const notes: PortableMemory[] = [];
  const unread: UnreadNote[] = [];
  const onClosed = (path: string, why: string) => {
    const isNoText = path.includes(NO_CHARACTER);
    const closed = { code: "unfit-folder", reason: `can't be read: ${why}` } as const;
    unread.push({ name: `${path}/`, ...(isNoText ? NAME_NO_TEXT : closed) });
  };
  for (const path of await listFiles(folder, { onClosed })) {
    if (!path.endsWith(ENDING)) {
      if (path.toLowerCase().endsWith(ENDING)) unread.push({ name: path, ...OTHER_ENDING });
      continue;
    }
    const key = path.slice(0, -ENDING.length).normalize("NFC");
    const read = await readFileAt(folder, path);
    const isNoText = path.includes(NO_CHARACTER) && read.kind === "absent";
    if (isNoText) unread.push({ name: key, ...NAME_NO_TEXT });
    else if (read.kind !== "text") {
      unread.push({ name: key, code: "unfit-text", reason: whyNoText(read) });
    } else {
      const updated_at = timestampOf(Math.trunc(read.savedAt));
      notes.push({ key, value: read.content, updated_at });
    }
  }
  return { notes, unread };
}

/**
 * In a file's name this stands for bytes that are not UTF-8. The system knows no file by such a
 * name.
 */
const NO_CHARACTER = "\ufffd";
const NAME_NO_TEXT = { code: "unfit-name", reason: "has a name that is no UTF-8" } as const;
const OTHER_ENDING = { code: "unfit-name", reason: `does not end in ${ENDING}` } as const;

interface ListOptions {
  /** The folder to look into; undefined: all of it. */
  readonly below?: string;
  /** Called for folders that can't be read. Undefined: the listing fails then. */
  readonly onClosed?: (path: string, why: string) => void;
}

/** Without links, and without names that begin with a dot. */
async function listFiles(
  folder: string,
  { below = folder, onClosed }: ListOptions = {},
): Promise<string[]> {
  const entries = await readdir(below, { withFileTypes: true }).catch((thrown: unknown) => {
    const why = fileFailure(thrown);
    if (below === folder || !onClosed) throw new CommandFailed(`${below} can't be read: ${why}`);
    onClosed(relative(folder, below).split(sep).join("/"), why);
    return [];
  });
  const found: string[] = [];
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(below, entry.name);
    const shown = relative(folder, path).split(sep).join("/");
    if (entry.name.startsWith(".") && shown !== REST_FILE) continue;
    if (entry.isDirectory()) {
      found.push(...(await listFiles(folder, { below: path, ...(onClosed && { onClosed }) })));
    } else if (entry.isFile()) found.push(shown);
  }
  return found;
}

function whyNoText(read: Exclude<FileRead, { readonly kind: "text" }>): string {
  return read.kind === "problem" ? explain(read.why) : "is gone";
}
