import { fchownSync, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { NotKept } from "../../shared/reasons.ts";
import { loadCopyAttributes } from "./file-attributes.ts";

const PERMISSIONS = 0o777;
/** The same, and whose rights a program has that is run from the file. */
const ALL_MODE = 0o7777;
/** Until it is as its original is, nobody else reads it. */
const OWN_MODE = 0o600;

/**
 * Makes a file of `content`, flushed to the disk, with owner, group, mode and extended attributes
 * of another. What it could not be given is the answer; `links` where the other has further names.
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

/** In this order: a change of owner takes bits of the mode away, and an access list has a mode. */
async function makeAlike(twin: FileHandle, of: FileHandle): Promise<readonly NotKept[]> {
  const copyAttributes = await loadCopyAttributes();
  const [stats, own] = [await of.stat(), await twin.stat()];
  const hasOwner = giveOwner(twin.fd, stats, own);
  // The rights that a program has by its file's owner are none of another owner's.
  await twin.chmod(stats.mode & (hasOwner ? ALL_MODE : PERMISSIONS));
  const hasAttributes = copyAttributes(of.fd, twin.fd);
  return [
    ...(hasOwner ? [] : ["owner" as const]),
    ...(stats.nlink > 1 ? ["links" as const] : []),
    ...(hasAttributes ? [] : ["attributes" as const]),
  ];
}

/** Who may not give a file away may still give it to a group of theirs. */
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
    // Not permitted, or no such thing as owners there.
    return false;
  }
}
