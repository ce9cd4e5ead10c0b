import { lstat, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../shared/errors.ts";
import { isMissing } from "../../disk/read-file.ts";

/** Identifies the folder at a path. A rename keeps it; a copy gets another one. */
export interface FolderPlace {
  readonly device: string;
  readonly inode: string;
  /** When the folder was created; "" where that is unknown. Only for comparison. */
  readonly bornAt: string;
}

export type PlaceRead =
  | { readonly kind: "folder"; readonly place: FolderPlace }
  /** No folder. */
  | { readonly kind: "away"; readonly isReplaced: boolean }
  /** The folder can't be read, so nobody knows. */
  | { readonly kind: "unknown"; readonly said: string };

/** Never rejects because of the file system. */
export async function readPlace(dir: string): Promise<PlaceRead> {
  try {
    const stats = await stat(dir, { bigint: true });
    if (!stats.isDirectory()) return { kind: "away", isReplaced: true };
    const { dev, ino, birthtimeNs } = stats;
    const bornAt = birthtimeNs > 0n ? String(birthtimeNs) : await gitBirthOf(dir);
    return { kind: "folder", place: { device: String(dev), inode: String(ino), bornAt } };
  } catch (thrown) {
    if (isMissing(thrown)) return { kind: "away", isReplaced: false };
    return { kind: "unknown", said: messageOf(thrown) };
  }
}

/**
 * For file systems that don't record when a folder was created: the time of a file that git creates
 * once and never changes. Nobody can set that time, and a copy has another one.
 */
async function gitBirthOf(dir: string): Promise<string> {
  const ofGit = await lstat(join(dir, ".git"), { bigint: true }).catch(() => undefined);
  // In a linked worktree or a submodule, `.git` is itself a file.
  const made = ofGit?.isDirectory()
    ? await lstat(join(dir, ".git", "description"), { bigint: true }).catch(() => undefined)
    : ofGit;
  return made === undefined ? "" : `git ${made.ctimeNs}`;
}

/**
 * Tells one git folder from every other, also from one at the same path: when it was created. A
 * repository that was cloned anew has nothing of what was done in the former one. Undefined where
 * nobody can tell.
 */
export async function repositoryAt(gitDir: string): Promise<string | undefined> {
  const stats = await stat(gitDir, { bigint: true }).catch(() => undefined);
  // A file system that does not record it may give the last change instead.
  const isKnown = stats && stats.birthtimeNs > 0n && stats.birthtimeNs !== stats.ctimeNs;
  if (isKnown) return String(stats.birthtimeNs);
  const made = await lstat(join(gitDir, "description"), { bigint: true }).catch(() => undefined);
  return made && `git ${made.ctimeNs}`;
}

/**
 * Whether two looks saw the same folder. A device's number may change at a restart, and an inode's
 * number is reused soon after its folder is deleted. The creation time decides both cases.
 */
export function isSamePlace(one: FolderPlace, other: FolderPlace): boolean {
  if (one.inode !== other.inode) return false;
  if (one.bornAt !== "" && other.bornAt !== "") return one.bornAt === other.bornAt;
  return one.device === other.device;
}
