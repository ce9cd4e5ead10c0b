import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import type { Reason } from "../../shared/reasons.ts";
import { isMissing } from "./read-file.ts";

/** The paths, from a project's folder, at which its description document may be. */
export const FOLLOWED_NAMES = ["CLAUDE.md", join(".claude", "CLAUDE.md"), "AGENTS.md"] as const;

/**
 * The paths at which a file may follow the project's text beside the one that counts. There is no
 * `CLAUDE.md` among them: beside an `AGENTS.md` it would keep Claude Code from reading that.
 */
export const ALSO_NAMES = [
  "AGENTS.md",
  "GEMINI.md",
  join(".github", "copilot-instructions.md"),
] as const;

/** The file of a project's folder in which a user names what never leaves the machine. */
export const IGNORE_NAME = ".memsyncignore";

export type FollowedName = (typeof FOLLOWED_NAMES)[number];

/** What is at one of these paths. */
export interface Followable {
  readonly name: FollowedName;
  /** Later names that lead to the same path. */
  readonly otherNames?: readonly FollowedName[];
  /**
   * The path to read and write, from the folder: the target of a symbolic link; or the link itself
   * where its target must not be followed.
   */
  readonly path: string;
  /** Two paths with the same value are one file. Undefined where there is no file yet. */
  readonly inode: string | undefined;
  /** Why it can't be followed. */
  readonly problem: Reason | undefined;
  /** The system gave an error, so nobody knows what is there. */
  readonly unread?: boolean;
  /** A symbolic link behind which there is nothing. */
  readonly leadsNowhere?: boolean;
}

/**
 * Lists what is at these paths in a folder, in order of precedence. The folder's own path must
 * contain no symbolic link. A link to a file inside the folder stands for that file: the file is
 * written and the link stays. A link that leads out of the folder is never written, nor is what is
 * no instruction file. Never rejects.
 */
export async function listFollowable(dir: string): Promise<Followable[]> {
  const found: Followable[] = [];
  for (const name of FOLLOWED_NAMES) {
    const followable = await findFollowable(dir, name);
    if (!followable) continue;
    // Two names may lead to one path; the first one counts.
    const at = found.findIndex(({ path }) => path === followable.path);
    const listed = found[at];
    if (!listed) found.push(followable);
    else found[at] = { ...listed, otherNames: [...(listed.otherNames ?? []), name] };
  }
  return found;
}

async function findFollowable(dir: string, name: FollowedName): Promise<Followable | undefined> {
  try {
    const own = await lstat(join(dir, name));
    const target = own.isSymbolicLink() ? await targetOf(join(dir, name)) : undefined;
    const real = target ?? (await realpath(join(dir, name)));
    const isLed = relative(dir, real) !== name;
    const problem =
      (await problemOf(dir, real)) ?? (isLed ? await whyNoTarget(dir, real) : undefined);
    const inode = target === undefined ? String(own.ino) : await inodeOf(target);
    const leadsNowhere = inode === undefined;
    if (problem !== undefined) return { name, path: name, inode: undefined, problem, leadsNowhere };
    return { name, path: relative(dir, real), inode, problem, leadsNowhere };
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    const nothing = { name, path: name, inode: undefined };
    if (isLoop(thrown)) return { ...nothing, problem: { code: "link-to-itself" } };
    const problem: Reason = { code: "unreadable", said: messageOf(thrown) };
    return { ...nothing, problem, unread: true };
  }
}

/** Where a link leads in the end, even if nothing is there. */
async function targetOf(link: string): Promise<string> {
  try {
    return await realpath(link);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
    const folder = await realpath(dirname(link));
    const next = resolve(folder, await readlink(link));
    const stats = await lstat(next).catch(() => undefined);
    if (stats?.isSymbolicLink()) return await targetOf(next);
    const parent = await realpath(dirname(next)).catch(() => dirname(next));
    return join(parent, next.slice(dirname(next).length + 1));
  }
}

async function inodeOf(path: string): Promise<string | undefined> {
  return await lstat(path).then(
    ({ ino }) => String(ino),
    () => undefined,
  );
}

/** Why the target of a name does not belong to the folder. */
async function problemOf(dir: string, target: string): Promise<Reason | undefined> {
  const steps = relative(dir, target).split(sep);
  const isOutside = isAbsolute(relative(dir, target)) || steps[0] === "..";
  if (isOutside) return { code: "link-outside", target };
  if (steps.includes(".git")) return { code: "link-into-git", target };
  for (let at = dirname(target); at !== dir; at = dirname(at)) {
    if ((await lstat(join(at, ".git")).catch(() => undefined)) === undefined) continue;
    return { code: "link-into-repository", target };
  }
  return undefined;
}

/** Whether a file may be the one that counts with no link to it. */
export function isFollowedName(path: string): boolean {
  return FOLLOWED_NAMES.some((name) => name === path);
}

/** Names of hidden folders, at the top, that are assistants' own. */
const ASSISTANTS_FOLDERS: ReadonlySet<string> = new Set([".claude", ".cursor", ".github"]);
const INSTRUCTIONS = /\.mdc?$/i;
const MAY_BE_RUN = 0o111;

/**
 * Why a file of the folder is not shared because a link leads there. A link comes with a clone, and
 * whoever made it must not choose which of a machine's files is sent and written.
 */
async function whyNoTarget(dir: string, target: string): Promise<Reason | undefined> {
  const path = relative(dir, target);
  if (isFollowedName(path)) return undefined;
  const [first = "", ...below] = path.split(sep);
  const isHidden = [
    ASSISTANTS_FOLDERS.has(first.toLowerCase()) && below.length > 0 ? "" : first,
    ...below,
  ].some((step) => step.startsWith("."));
  if (isHidden || !INSTRUCTIONS.test(path)) return { code: "link-to-other", target };
  const stats = await lstat(target).catch(() => undefined);
  const isProgram = stats?.isFile() === true && (stats.mode & MAY_BE_RUN) !== 0;
  return isProgram ? { code: "link-to-program", target } : undefined;
}

/**
 * Why no file may be created at a path at which there is none: a folder on the way there is a link
 * that leads out of this folder or nowhere, is another repository, or no folder.
 */
export async function whyNotCreated(dir: string, path: string): Promise<Reason | undefined> {
  const target = join(dir, path);
  let at = dirname(target);
  try {
    while (at !== dir && (await inodeOf(at)) === undefined) at = dirname(at);
    if (at === dir) return undefined;
    const real = await realpath(at);
    if (!(await stat(real)).isDirectory()) return { code: "not-a-file" };
    const made = join(real, relative(at, target));
    const isLed = made !== target;
    return (await problemOf(dir, made)) ?? (isLed ? await whyNoTarget(dir, made) : undefined);
  } catch (thrown) {
    return { code: "unreadable", said: messageOf(thrown) };
  }
}

function isLoop(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ELOOP";
}

/** What decides which of a folder's files counts, from the last time. */
export interface CountedBefore {
  readonly path: string;
  /** It had text. If this file is missing now, it is the one that is missing. */
  readonly hadText: boolean;
}

/** Which file of a folder counts. */
export interface Counted {
  readonly path: string;
  /** Undefined where nothing is there. */
  readonly followable: Followable | undefined;
  /** Further files, which are not followed. */
  readonly beside: readonly Followable[];
}

/**
 * Which file counts: the one that the user chose, else the one that was followed so far, else the
 * first in order. A second file beside the followed one changes nothing: two texts in one document
 * would both be in it twice.
 */
export function countedOf(
  found: readonly Followable[],
  {
    chosen,
    before,
  }: { readonly chosen?: string | undefined; readonly before?: CountedBefore | undefined },
): Counted {
  const followed = found.find(({ path }) => path === before?.path);
  const isMissed = before?.hadText === true && !followed;
  const named = found.find(({ name, path }) => name === chosen || path === chosen);
  const followable = isMissed ? undefined : (followed ?? named ?? found[0]);
  // Any other file was followed because a link led to it, and none does now.
  const missing = [before?.path, chosen].find((each) => each !== undefined && isFollowedName(each));
  const path = followable?.path ?? missing ?? FOLLOWED_NAMES[0];
  const beside = found.filter((each) => {
    return each.path !== path && (each.inode === undefined || each.inode !== followable?.inode);
  });
  return { path, followable, beside };
}
