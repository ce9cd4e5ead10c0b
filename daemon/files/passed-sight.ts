import { hashOf } from "../disk/read-file.ts";
import { committedEndings } from "../git/git-endings.ts";
import type { Sight } from "./follow-facts.ts";

/** A file whose CRLF line endings are git's is read with the committed ones. */
export function withCommittedEndings(sight: Sight): Sight {
  const { file } = sight;
  if (!sight.hasGitEndings || file.kind !== "text") return sight;
  return { ...sight, file: { ...file, content: committedEndings(file.content) } };
}

/**
 * What a look would have seen between git's writing of a file and the save over it: `passed`, and
 * `saved`, the save as one at that commit. Undefined where the file is as git has put it.
 */
export function splitSight(
  sight: Sight,
): { readonly passed: Sight; readonly saved: Sight } | undefined {
  const { file, passed: content } = sight;
  if (content === undefined || file.kind !== "text") return undefined;
  if (committedEndings(file.content) === content) return undefined;
  const put = { ...file, content, hash: hashOf(content) };
  const saved = { past: undefined, committed: undefined, passed: undefined, isPut: false };
  return {
    passed: { ...sight, file: put, leftBehind: undefined },
    saved: { ...sight, ...saved, leftBehind: undefined },
  };
}
