import { fchownSync, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { NotKept } from "../../shared/reasons.ts";
import { loadCopyAttributes } from "./file-attributes.ts";

const PERMISSIONS = 0o777;
/** Permissions with the set-user-id, set-group-id and sticky bits. */
const ALL_MODE = 0o7777;
/** Nobody else may read the file until it has the original's permissions. */
const OWN_MODE = 0o600;

/**
 * Makes a file of `content`, flushed to the disk, with the owner, group, mode and extended
 * attributes of another file. Returns what could not be copied; `links` if the other file has
 * further names.
 */
export async function writeTwin(
  path: string,
  content: string,
  of: FileHandle | undefined,
): Promise<readonly NotKept[]> {
  const handle = await open(path, "wx", of && OWN_MODE);
  try {
    await handle.writeFile(content);
    const notKept = of ? await makeAlike(handle, of) : [];
    await handle.sync();
    return notKept;
  } finally {
    await handle.close();
  }
}

/**
 * The order matters: a change of owner clears bits of the mode, and an access list contains a mode.
 */
async function makeAlike(twin: FileHandle, of: FileHandle): Promise<readonly NotKept[]> {
  const copyAttributes = await loadCopyAttributes();
  const [stats, own] = [await of.stat(), await twin.stat()];
  const hasOwner = giveOwner(twin.fd, stats, own);
  // A set-user-id bit must not pass to another owner.
  await twin.chmod(stats.mode & (hasOwner ? ALL_MODE : PERMISSIONS));
  const hasAttributes = copyAttributes(of.fd, twin.fd);
  return [
    ...(hasOwner ? [] : ["owner" as const]),
    ...(stats.nlink > 1 ? ["links" as const] : []),
    ...(hasAttributes ? [] : ["attributes" as const]),
  ];
}

/** Who may not give a file to another user may still give it to one of their groups. */
function giveOwner(file: number, wanted: Stats, own: Stats): boolean {
  if (wanted.uid === own.uid && wanted.gid === own.gid) return true;
  if (tryToGive(file, wanted.uid, wanted.gid)) return true;
  tryToGive(file, own.uid, wanted.gid);
  return false;
}

function tryToGive(file: number, uid: number, gid: number): boolean {
  try {
    fchownSync(file, uid, gid);
    return true;
  } catch {
    // Not permitted, or a file system without owners.
    return false;
  }
}
