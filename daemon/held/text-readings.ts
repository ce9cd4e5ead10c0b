import { inLatinLetters } from "../../shared/look-alike.ts";
import { withoutLinks, withoutPlainLinks } from "./link-targets.ts";

/**
 * A text as it is, and as people read it where that differs, each in as many lines: a comment or a
 * link in the midst of a line hides it from nobody, nor do letters that look like others. What a
 * comment has is shown to all as well.
 *
 * ```
 * [...readingsOf("be [brief](https://example.com)")]; // that, and "be brief"
 * ```
 */
export function readingsOf(text: string): ReadonlySet<string> {
  const bare = withoutComments(text);
  // What only looks like a link around a line hides none of those that stand in it.
  const shown = [bare, withoutPlainLinks(bare), withoutLinks(bare)];
  return new Set([text, ...shown, ...shown.map(inLatinLetters)]);
}

/** A text without HTML's comments, in as many lines. */
function withoutComments(text: string): string {
  const kept: string[] = [];
  let at = 0;
  for (;;) {
    const begin = text.indexOf("<!--", at);
    const end = begin === -1 ? -1 : text.indexOf("-->", begin);
    if (end === -1) return [...kept, text.slice(at)].join("");
    const lines = text.slice(begin, end).split("\n").length;
    kept.push(text.slice(at, begin), "\n".repeat(lines - 1));
    at = end + "-->".length;
  }
}
