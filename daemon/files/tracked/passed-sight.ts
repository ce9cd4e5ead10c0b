import { linesOfAny } from "../../../shared/replica/text/lines-of-any.ts";
import { hashOf } from "../../disk/read-file.ts";
import { committedEndings } from "../../git/git-endings.ts";
import { NOTHING_SINCE, type Sight } from "../state/follow-facts.ts";

/** A file whose CRLF line endings are git's is read with the committed ones. */
export function withCommittedEndings(sight: Sight): Sight {
  const { file } = sight;
  if (!sight.hasGitEndings || file.kind !== "text") return sight;
  return { ...sight, file: { ...file, content: committedEndings(file.content) } };
}

/**
 * What looks would have seen between git's writing of a file and what is there: `passed`, the
 * oldest first, and `found`, what is there, read after the last of them. Undefined where one look
 * tells as much.
 */
export function splitSight(
  sight: Sight,
): { readonly passed: readonly Sight[]; readonly found: Sight } | undefined {
  const { file, passed } = sight;
  if (passed === undefined || file.kind !== "text") return undefined;
  const once = { ...sight, passed: undefined, leftBehind: undefined };
  return {
    passed: passed.texts.map(({ content, savedAt, ...of }) => {
      const put = { ...file, content, hash: hashOf(content), savedAt };
      return { ...once, fetched: undefined, shown: undefined, ...of, file: put };
    }),
    found: { ...once, ...(passed.rest ?? NOTHING_SINCE) },
  };
}

/** A sight with what its text has in common with others; undefined where that is all of it. */
export function sharedOf(sight: Sight, others: readonly string[]): Sight | undefined {
  const { file, past } = sight;
  if (file.kind !== "text") return undefined;
  const content = linesOfAny(file.content, others);
  if (content === file.content) return undefined;
  // The document does not have all that these commits did.
  const rest = past && { ...past, changes: [] };
  return { ...sight, file: { ...file, content, hash: hashOf(content) }, past: rest };
}
