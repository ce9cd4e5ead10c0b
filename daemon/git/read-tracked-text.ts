import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../shared/errors.ts";
import type { Reason } from "../../shared/reasons.ts";
import type { World } from "../../shared/world.ts";
import { readActivity } from "./git-operation.ts";
import { type Head, headSignature, readRefs } from "./git-refs.ts";
import { type Git, GitTrouble } from "./run-git.ts";
import { listKept } from "./set-aside.ts";
import { readIndexEntry } from "./tracked-entries.ts";
import { readHeadEntry } from "./visited-commits.ts";
import type { PlacedFile } from "./working-tree.ts";

/** File and HEAD must have stayed unchanged for this long. */
export const QUIET_MS = 1000;
/** Or HEAD and index for this long, since the first change of a file that never stays unchanged. */
export const RESTLESS_MS = 10_000;
/** Larger files are not read. */
const READ_BYTES_MAX = 16 * 1024 * 1024;

/** What one look saw. The next look compares with it; callers only pass it on. */
export interface Sighting {
  readonly seen: string;
  /** By the world's monotonic clock. */
  readonly sinceMs: number;
  /** What git had checked out, and its index. */
  readonly still: string;
  /** Since when there are changes that were not read, while git left all of that as it is. */
  readonly unreadMs: number | undefined;
  /** What git kept outside of HEAD when that was first seen; see `listKept`. */
  readonly kept: readonly string[];
  /** How HEAD had come there; see `readHeadEntry`. */
  readonly headEntry: string | undefined;
}

export type NotNowCode =
  /** A lock file, an operation in progress or an unmerged entry. */
  | "leave-busy"
  /** HEAD changed during the look. */
  | "head-moved"
  /** The file changed during the look. */
  | "being-written"
  /** Everything is in order, but has not been so for `QUIET_MS` yet. */
  | "not-now"
  /** Missing because of a sparse checkout, which says nothing about the project's text. */
  | "not-checked-out"
  /** It can't be read. */
  | "not-a-file"
  | "too-large"
  | "unreadable"
  | "git-failed";

type NotNowReason = Extract<Reason, { readonly code: NotNowCode }>;

export type TrackedRead =
  /** `bytes`: the file's content while `head` was checked out; undefined where it is missing. */
  | {
      readonly kind: "read";
      readonly bytes: Buffer | undefined;
      /** When it was saved, in milliseconds since the Unix epoch; undefined when it is missing. */
      readonly savedAt: number | undefined;
      readonly head: Head;
      /** See `headSignature`. */
      readonly headSeen: string;
      /** Pass it to the next look, which need not wait if nothing has changed. */
      readonly sighting: Sighting;
    }
  /** Look again, with the `sighting` if there is one: for `not-now`, after `quietLeft`. */
  | {
      readonly kind: "not-now";
      readonly why: NotNowReason;
      readonly sighting?: Sighting;
    };

/**
 * Reads a tracked file without ever taking its text for another branch's. `git checkout` writes
 * files first, then releases the index's lock, then moves HEAD: in between, the new branch's text
 * is under the old branch's name. So HEAD is read before and after the file, nothing may be locked,
 * and two looks at least `QUIET_MS` apart must see the same HEAD and the same file. The world's
 * clock measures that time, not the file's timestamp: clocks of file systems differ from ours, and
 * a large checkout writes a file long before it ends.
 *
 * A file that some program keeps writing never stays the same. Whoever checks a commit out writes
 * the index, too, before HEAD. So if HEAD and index were as they are before the file changed, and
 * for `RESTLESS_MS` since, it was not git that changed it, and its text is read as it is.
 *
 * The caller checks whether `head` is the default branch. Two git processes, three in the reftable
 * format, and three more for a file or a HEAD that was not seen before. Never rejects because of
 * git or the file system.
 */
export async function readTrackedText(
  git: Git,
  world: Pick<World, "monotonic">,
  { file, last }: { readonly file: PlacedFile; readonly last?: Sighting | undefined },
): Promise<TrackedRead> {
  const startedMs = world.monotonic();
  try {
    const look = await lookOnce(git, file);
    if (look.kind !== "stood") return look.why.code === "being-written" ? goOn(look, last) : look;
    const { seen, still } = seenBy(file, look);
    if (last?.seen === seen) return settle(look, last, startedMs);
    const [kept, headEntry] = await Promise.all([listKept(git, file), readHeadEntry(git, file)]);
    // From the end of one look to the start of the next: the time of a slow look does not count.
    const sinceMs = world.monotonic();
    const unreadMs = last?.still === still ? (last.unreadMs ?? sinceMs) : undefined;
    return settle(look, { seen, still, sinceMs, unreadMs, kept, headEntry }, startedMs);
  } catch (thrown) {
    if (thrown instanceof GitTrouble) return notNow({ code: "git-failed", ...thrown.why });
    throw thrown;
  }
}

interface Look {
  readonly kind: "stood";
  readonly head: Head;
  readonly headSeen: string;
  readonly bytes: Buffer | undefined;
  readonly savedAt: number | undefined;
  readonly fileSignature: string;
  readonly indexSignature: string;
}

async function lookOnce(git: Git, file: PlacedFile): Promise<Look | NotNow> {
  const headSeen = await headSignature(file.tree);
  const before = await readActivity(file.tree);
  if (before.locked) return notNow({ code: "leave-busy", operation: "locked" });
  const read = await readWhole(file.path);
  const [refs, entry] = await Promise.all([readRefs(git, file.tree), readIndexEntry(git, file)]);
  const after = await readActivity(file.tree, refs.operationRefs);
  if (after.locked) return notNow({ code: "leave-busy", operation: "locked" });
  if (after.operation !== undefined) {
    return notNow({ code: "leave-busy", operation: after.operation });
  }
  if (entry.unmerged) return notNow({ code: "leave-busy", operation: "unmerged" });
  if (read.kind !== "whole") return read;
  if (read.bytes === undefined && entry.skipped) return notNow({ code: "not-checked-out" });
  if (headSeen !== (await headSignature(file.tree))) return notNow({ code: "head-moved" });
  const { bytes, savedAt, signature: fileSignature } = read;
  // Last of all: what had a lock while the file was read has written it by now.
  const indexSignature = await readIndexSignature(file.tree);
  const { head } = refs;
  return { kind: "stood", head, headSeen, bytes, savedAt, fileSignature, indexSignature };
}

function seenBy(
  file: PlacedFile,
  { head, fileSignature, indexSignature }: Look,
): Pick<Sighting, "seen" | "still"> {
  const at = [file.path, head.branch, head.commit];
  return {
    seen: JSON.stringify([...at, fileSignature]),
    still: JSON.stringify([...at, indexSignature]),
  };
}

function settle(look: Look, sighting: Sighting, startedMs: number): TrackedRead {
  if (startedMs < settledAt(sighting)) {
    // It need not have changed: whoever looks for the first time can't tell.
    return { ...notNow({ code: "not-now" }), sighting };
  }
  const { bytes, savedAt, head, headSeen } = look;
  const read = { ...sighting, unreadMs: undefined };
  return { kind: "read", bytes, savedAt, head, headSeen, sighting: read };
}

/** What a look has seen is read then, if it is still there. */
function settledAt({ sinceMs, unreadMs }: Sighting): number {
  return Math.min(sinceMs + QUIET_MS, (unreadMs ?? sinceMs) + RESTLESS_MS);
}

/** A file that is being written is no other one than the last look saw. */
function goOn(look: NotNow, last: Sighting | undefined): NotNow {
  return last ? { ...look, sighting: { ...last, seen: "" } } : look;
}

/** For how many more milliseconds what a look has seen has to stay as it is. */
export function quietLeft(sighting: Sighting | undefined, world: Pick<World, "monotonic">): number {
  return sighting ? Math.max(0, settledAt(sighting) - world.monotonic()) : QUIET_MS;
}

interface WholeFile {
  readonly kind: "whole";
  readonly bytes: Buffer | undefined;
  readonly savedAt: number | undefined;
  readonly signature: string;
}

async function readWhole(path: string): Promise<WholeFile | NotNow> {
  try {
    const before = await stat(path, { bigint: true });
    // Reading a pipe could wait for ever.
    if (!before.isFile()) return notNow({ code: "not-a-file" });
    if (before.size > READ_BYTES_MAX) return notNow({ code: "too-large" });
    const bytes = await readFile(path);
    const signature = signatureOf(before, bytes);
    const after = signatureOf(await stat(path, { bigint: true }), bytes);
    if (signature !== after) return notNow({ code: "being-written" });
    return { kind: "whole", bytes, savedAt: Number(before.mtimeMs), signature };
  } catch (thrown) {
    if (isMissing(thrown)) {
      return { kind: "whole", bytes: undefined, savedAt: undefined, signature: "missing" };
    }
    return notNow({ code: "unreadable", said: messageOf(thrown) });
  }
}

function signatureOf(stats: BigIntStats, bytes: Buffer): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  const digest = createHash("sha256").update(bytes).digest("hex");
  return [dev, ino, size, mtimeNs, ctimeNs, digest].join(" ");
}

/** Changes whenever git writes the index, as it does before it moves HEAD. */
async function readIndexSignature({ gitDir }: PlacedFile["tree"]): Promise<string> {
  const index = await stat(join(gitDir, "index"), { bigint: true }).catch(() => undefined);
  return index ? [index.dev, index.ino, index.size, index.mtimeNs, index.ctimeNs].join(" ") : "";
}

function isMissing(thrown: unknown): boolean {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}

type NotNow = Extract<TrackedRead, { readonly kind: "not-now" }>;

function notNow(why: NotNowReason): NotNow {
  return { kind: "not-now", why };
}
