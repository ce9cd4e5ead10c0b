import { hashOf } from "../../disk/read-file.ts";
import { checkedOutEndings } from "../../git/git-endings.ts";
import type { StandingMemory } from "../../home/memory-files.ts";

/**
 * Whether git has created the CRLF of a file that showed this memory: its bytes are not those of
 * the text, which has the endings that git commits.
 */
export function isWithGitEndings(shown: Pick<StandingMemory, "hash" | "text">): boolean {
  return shown.text !== "" && hashOf(shown.text) !== shown.hash;
}

/** What a file has, or is to have, that shows a memory. */
export function shownBytes(shown: Pick<StandingMemory, "hash" | "text">): string {
  return isWithGitEndings(shown) ? checkedOutEndings(shown.text) : shown.text;
}
