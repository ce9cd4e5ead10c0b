import { stat } from "node:fs/promises";
import { messageOf } from "../../shared/errors.ts";
import { isMissing } from "./read-file.ts";

/** Which folder it is that stands at a path: kept when it is renamed, not when it is copied. */
export interface FolderPlace {
  readonly device: string;
  readonly inode: string;
  /** When it was made, in nanoseconds; "" where the file system does not keep that. */
  readonly bornAt: string;
}

export type PlaceRead =
  | { readonly kind: "folder"; readonly place: FolderPlace }
  /** No folder, or one that can't be looked at; why, in words that follow "the folder". */
  | { readonly kind: "away" | "unknown"; readonly why: string };

/** Never rejects for what the file system says. */
export async function readPlace(dir: string): Promise<PlaceRead> {
  try {
    const stats = await stat(dir, { bigint: true });
    if (!stats.isDirectory()) return { kind: "away", why: "is gone: something else is there" };
    const { dev, ino, birthtimeNs } = stats;
    const bornAt = birthtimeNs > 0n ? String(birthtimeNs) : "";
    return { kind: "folder", place: { device: String(dev), inode: String(ino), bornAt } };
  } catch (thrown) {
    if (isMissing(thrown)) return { kind: "away", why: "is gone" };
    return { kind: "unknown", why: `can't be looked at (${messageOf(thrown)})` };
  }
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
