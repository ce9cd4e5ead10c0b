import { statfs } from "node:fs/promises";
import { messageOf } from "../../shared/errors.ts";
import { explain, type Reason, type ReasonCode } from "../../shared/reasons.ts";

/** Linux's limits on watches, by their names below `fs.inotify`. */
export type WatchLimit = "max_user_watches" | "max_user_instances";

/** Why a folder is polled and not watched. */
export interface Polled {
  readonly code: ReasonCode;
  /** In words that can stand alone. */
  readonly why: string;
  /** The limit to raise, if that is the reason. */
  readonly limit: WatchLimit | null;
}

/** Magic numbers (`statfs(2)`) of file systems that do not tell of other machines' changes. */
const NETWORK_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x65735546, "FUSE"],
  [0x01021997, "9P"],
  [0x786f4256, "a shared folder of VirtualBox"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x73757245, "Coda"],
  [0x0bd00bd0, "Lustre"],
]);

const UNSIGNED = 0xffffffff;

/** Reads the type of a folder's file system, as `statfs` gives it. */
export type ReadType = (dir: string) => Promise<number>;

export const readType: ReadType = async (dir) => (await statfs(dir)).type;

/** What is known of the disk that a folder is on. */
export interface ExaminedDisk {
  /** Undefined where the system tells of changes; so, too, where it can't be examined. */
  readonly trouble: Polled | undefined;
  /** It is known to be of this machine: looking at a file there waits for nobody else. */
  readonly isNear: boolean;
}

export async function examineDisk(dir: string, read: ReadType): Promise<ExaminedDisk> {
  const type = process.platform === "linux" ? await read(dir).catch(() => undefined) : undefined;
  if (type === undefined) return { trouble: undefined, isNear: false };
  // Some runtimes return a signed number.
  const name = NETWORK_TYPES.get(Number(BigInt(type) & BigInt(UNSIGNED)));
  if (name === undefined) return { trouble: undefined, isNear: true };
  return { trouble: polledFor({ code: "network-disk", type: name }), isNear: false };
}

/** What a failure to watch means; undefined: the folder is gone, which is noticed anyway. */
export function watchTrouble(thrown: unknown): Polled | undefined {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return undefined;
  if (code === "ENOSPC") return limitReached("max_user_watches");
  if (code === "EMFILE") return limitReached("max_user_instances");
  return polledFor({ code: "watch-failed", said: messageOf(thrown) });
}

function limitReached(limit: WatchLimit): Polled {
  return polledFor({ code: "watch-limit", limit }, limit);
}

function polledFor(reason: Reason, limit: WatchLimit | null = null): Polled {
  return { code: reason.code, why: explain(reason), limit };
}
