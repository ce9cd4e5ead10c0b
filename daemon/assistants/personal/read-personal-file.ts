import { lstat, realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Reason } from "../../../shared/reasons.ts";
import { hashOf, isMissing, readFileAt } from "../../disk/read-file.ts";
import { realPathOf } from "../../git/working-tree.ts";
import { findBlock, type PersonalBlock } from "./block.ts";

/** A file that is to have the personal text, as it is now. Links are followed. */
export type PersonalRead =
  | {
      readonly kind: "file";
      /** Where the file itself is. */
      readonly path: string;
      readonly content: string;
      /** SHA-256 of its bytes, in hex. */
      readonly hash: string;
      readonly savedAt: number;
      /** It has further names. */
      readonly isShared: boolean;
      /** Undefined: it has none. */
      readonly block: PersonalBlock | undefined;
    }
  | { readonly kind: "absent"; readonly path: string }
  /** It is left alone. */
  | { readonly kind: "problem"; readonly path: string; readonly why: Reason };

/** Reads it, twice, since another program may be writing it. Writes nothing. */
export async function readPersonalFile(path: string): Promise<PersonalRead> {
  const stats = await lstat(path).catch(() => undefined);
  const real = stats ? await realpath(path).catch(() => undefined) : await realPathOf(path);
  if (real === undefined) return { kind: "problem", path, why: { code: "personal-dangling" } };
  const problem = (why: Reason) => ({ kind: "problem", path: real, why }) as const;
  const [once, again] = [await readAt(real), await readAt(real)];
  if (again.kind === "problem") return problem(again.why);
  if (again.kind === "absent") return { kind: "absent", path: real };
  if (once.kind !== "text" || once.hash !== again.hash) return problem({ code: "being-written" });
  const { content, hash, savedAt } = again;
  const block = findBlock(content);
  if (block.kind === "damaged") {
    return problem({ code: "personal-marks", damage: block.damage });
  }
  const isShared = (await lstat(real).catch(() => undefined))?.nlink !== 1;
  const found = block.kind === "block" ? block : undefined;
  return { kind: "file", path: real, content, hash, savedAt, isShared, block: found };
}

async function readAt(path: string) {
  return await readFileAt(dirname(path), basename(path));
}

/** Equal as long as a file was not changed; undefined where nobody can tell. */
export async function glimpsePersonalFile(path: string, now: number): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    const { size, mtimeNs, ctimeNs, ino } = await lstat(real, { bigint: true });
    // A second change in one tick of the file system's clock can't be told from the first.
    if (now - Number(ctimeNs / 1_000_000n) < TICK_MS) return undefined;
    return [real, size, mtimeNs, ctimeNs, ino].join(" ");
  } catch (thrown) {
    return isMissing(thrown) ? "absent" : undefined;
  }
}

/** Longer than any file system's clock stands still. */
const TICK_MS = 2000;

/** The form in which texts of a block are compared. */
export function textHash(text: string): string {
  return hashOf(text);
}
