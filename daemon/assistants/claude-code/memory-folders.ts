import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isObject, parseJson } from "../../../shared/json.ts";
import { folderEntries, smallText } from "../transcripts/list-files.ts";

/** `.claude.json` grows with each project that Claude Code has seen. */
const PATHS_BYTES_MAX = 32 * 1024 * 1024;
/** Claude Code cuts longer names and adds a hash, which its parts make in different ways. */
const SLUG_MAX = 200;
const MEMORY = "memory";

/** The folder of one project's auto memory. */
export interface AutoMemoryFolder {
  readonly path: string;
  /** The name that Claude Code made of the project's path. Several paths may have the same. */
  readonly slug: string;
  /** The folder, or the one that it is in, is a symbolic link. */
  readonly isLink: boolean;
}

/** Where Claude Code keeps its files: `CLAUDE_CONFIG_DIR`, else `~/.claude`. */
export interface ClaudeCodePlace {
  readonly configDir: string;
  /** Its list of projects. */
  readonly stateFile: string;
}

/**
 * Where Claude Code keeps its files for this user.
 *
 * ```
 * claudeCodePlace("/root", {}).configDir; // "/root/.claude"
 * ```
 */
export function claudeCodePlace(
  userFolder: string,
  { CLAUDE_CONFIG_DIR: dir }: Readonly<Record<string, string | undefined>>,
): ClaudeCodePlace {
  const configDir = dir || join(userFolder, ".claude");
  return { configDir, stateFile: join(dir || userFolder, ".claude.json") };
}

/** The name of a path's folder; undefined for a path whose name nobody can tell beforehand. */
export function slugOf(path: string): string | undefined {
  const slug = path.replaceAll(/[^0-9A-Za-z]/g, "-");
  return slug.length > SLUG_MAX ? undefined : slug;
}

/** Where the auto memory of a project at this path belongs. */
export function autoMemoryFolderOf(configDir: string, slug: string): string {
  return join(configDir, "projects", slug, MEMORY);
}

/** The folders with auto memory that are there, by name. */
export async function listAutoMemoryFolders(configDir: string): Promise<AutoMemoryFolder[]> {
  const projects = join(configDir, "projects");
  const folders: AutoMemoryFolder[] = [];
  for (const project of await folderEntries(projects)) {
    const { name: slug } = project;
    const path = autoMemoryFolderOf(configDir, slug);
    const entries = project.isDirectory() ? await folderEntries(join(projects, slug)) : [];
    const entry = project.isSymbolicLink() ? project : entries.find(({ name }) => name === MEMORY);
    const isLink = entry?.isSymbolicLink() === true;
    if (isLink || entry?.isDirectory()) folders.push({ path, slug, isLink });
  }
  return folders.sort((one, other) => (one.slug < other.slug ? -1 : 1));
}

/**
 * The paths of all projects in Claude Code's list; none where it has no list. Undefined where the
 * list can't be read, as in the middle of a write.
 */
export async function listClaudeCodePaths({
  stateFile,
}: ClaudeCodePlace): Promise<string[] | undefined> {
  const text = await smallText(stateFile, PATHS_BYTES_MAX);
  if (text === undefined) return (await isThere(stateFile)) ? undefined : [];
  try {
    const state = parseJson(text);
    if (!isObject(state)) return undefined;
    return isObject(state.projects) ? Object.keys(state.projects) : [];
  } catch {
    return undefined;
  }
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    (thrown: NodeJS.ErrnoException) => thrown.code !== "ENOENT",
  );
}
