import { lstat, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import { isMissing } from "../disk/read-file.ts";

/** Which folder it is that stands at a path: kept when it is renamed, not when it is copied. */
export interface FolderPlace {
  readonly device: string;
  readonly inode: string;
  /** When it was made; "" where that is not known. Opaque to callers. */
  readonly bornAt: string;
}

export type PlaceRead =
  | { readonly kind: "folder"; readonly place: FolderPlace }
  /** No folder. */
  | { readonly kind: "away"; readonly isReplaced: boolean }
  /** Nobody knows: it can't be looked at. */
  | { readonly kind: "unknown"; readonly said: string };

/** Never rejects for what the file system says. */
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
 * Where the file system does not keep when a folder was made, its repository does: in the time of
 * a file that git makes once and changes never. Nobody can set that time, and it is not copied.
 */
async function gitBirthOf(dir: string): Promise<string> {
  const ofGit = await lstat(join(dir, ".git"), { bigint: true }).catch(() => undefined);
  // In a linked worktree or a submodule it is a file itself.
  const made = ofGit?.isDirectory()
    ? await lstat(join(dir, ".git", "description"), { bigint: true }).catch(() => undefined)
    : ofGit;
  return made === undefined ? "" : `git ${made.ctimeNs}`;
}

/**
 * Whether two looks saw one folder. A device may have another number after a restart, and an inode
 * is given to another folder soon after its own is deleted; the time of birth tells both.
 */
export function isSamePlace(one: FolderPlace, other: FolderPlace): boolean {
  if (one.inode !== other.inode) return false;
  if (one.bornAt !== "" && other.bornAt !== "") return one.bornAt === other.bornAt;
  return one.device === other.device;
}
