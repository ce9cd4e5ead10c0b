import { constants } from "node:fs";
import { access, lstat, readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import type { Reason } from "../../../shared/reasons.ts";
import type { World } from "../../../shared/world.ts";
import { ABSENT_HASH } from "../../disk/read-file.ts";
import { replaceFile, type WriteOutcome } from "../../disk/write-file.ts";
import { fileStanding } from "../../git/git-state.ts";
import type { Git } from "../../git/run-git.ts";
import type { PersonalFile } from "../../home/personal-files.ts";
import { removeMemoryFile } from "../memory-folders/write-memory-file.ts";
import { asBlock, hasMark, withBlock, withoutBlock, withoutMarks, withText } from "./block.ts";
import type { PersonalRead } from "./read-personal-file.ts";

/** A file that can be written. */
export type Writable = Exclude<PersonalRead, { kind: "problem" }>;

/** What a file is to be: undefined removes it. */
export type NextContent = string | undefined;

/** The file with a text in its block; one that it does not have yet comes at its end. */
export function contentWith(read: Writable, text: string, { header }: PersonalFile): string {
  if (read.kind === "absent") return withBlock(header, text);
  return read.block ? withText(read.block, text) : withBlock(read.content, text);
}

/** The file with all of its text in the block. */
export function contentAdopted(read: Writable): string | undefined {
  return read.kind === "file" && !read.block ? asBlock(read.content) : undefined;
}

/** The file as it would be without the block. */
export function contentWithout(
  read: Writable,
  { header, isMade }: PersonalFile,
  isTextKept: boolean,
): NextContent {
  if (read.kind === "absent") return undefined;
  if (!read.block) return read.content;
  if (isTextKept) return withoutMarks(read.block);
  const content = withoutBlock(read.block);
  return isMade && (content === "" || content === header) ? undefined : content;
}

/**
 * Why a text is not written into a file; undefined: it may be. A file that git tracks is left to
 * git, which brings what others wrote, unless somebody said otherwise.
 */
export async function whyNotWritten(
  read: Writable,
  { writes, assistant }: PersonalFile,
  { git, text }: { readonly git: Git; readonly text: string },
): Promise<Reason | undefined> {
  if (hasMark(text)) return { code: "personal-mark-in-text" };
  if (read.kind === "file" && read.isShared) return { code: "memory-linked" };
  if (read.kind === "absent" && (await wouldHide(read.path))) return { code: "personal-hides" };
  const standing = await fileStanding(git, read.path);
  if (standing.kind === "unknown") return { code: "leave-unknown", ...standing.why };
  if (standing.kind === "busy") return { code: "leave-busy", operation: standing.operation };
  if (standing.kind === "tracked" && !writes) return { code: "personal-tracked", assistant };
  return undefined;
}

/** Claude Code reads no `AGENTS.md` where a `CLAUDE.md` is. */
async function wouldHide(path: string): Promise<boolean> {
  if (basename(path) !== "CLAUDE.md") return false;
  const names = await readdir(dirname(path)).catch(() => undefined);
  return names?.includes("AGENTS.md") === true;
}

/** Writes a file if it is as it was read. `changed`: it is not, and another look comes. */
export async function writePersonalFile(
  read: Writable,
  content: NextContent,
  world: World,
): Promise<WriteOutcome | { readonly kind: "refused"; readonly why: Reason }> {
  const { path } = read;
  const expectedHash = read.kind === "file" ? read.hash : ABSENT_HASH;
  try {
    if (content === undefined) {
      if (read.kind === "file") await removeMemoryFile(path, { hash: read.hash, world });
      return { kind: "written", replaced: undefined, notKept: [] };
    }
    if (read.kind === "file") await access(path, constants.W_OK);
    const within = await nearestFolder(dirname(path));
    return await replaceFile(path, content, { expectedHash, world, within });
  } catch (thrown) {
    return { kind: "refused", why: { code: "memory-unwritable", said: messageOf(thrown) } };
  }
}

async function nearestFolder(folder: string): Promise<string> {
  const isThere = await lstat(folder).then(
    () => true,
    () => false,
  );
  return isThere || dirname(folder) === folder ? folder : await nearestFolder(dirname(folder));
}
