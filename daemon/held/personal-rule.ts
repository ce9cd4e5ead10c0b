import type { SecretRule } from "./secret-rule.ts";

/** The rule's id. */
export const PERSONAL_RULE = "personal-block";

/** A mark, but for one that is quoted as code, as a text that speaks of it does. */
const MARK = String.raw`(?<!\x60)<!--[\t\x20]*memsync:personal\b`;
const BEGIN = String.raw`${MARK}(?![\t\x20]+(?:version|end)\b)`;
const END = String.raw`${MARK}[\t\x20]+end\b[^\n]*`;
const REST = String.raw`(?![\s\S])`;

/**
 * A person's own text between memsync's marks, wherever on a line they stand, and also where one of
 * them is missing or was changed: above a lone end all may be of that person. It is that person's
 * alone, and comes into others' documents by a link, a copy or a commit.
 */
export const PERSONAL_RULES: readonly SecretRule[] = [
  {
    id: PERSONAL_RULE,
    kind: "a person's own text",
    keywords: ["memsync:personal"],
    pattern: new RegExp(
      `(${BEGIN}[\\s\\S]*?(?:${END}|${REST})|(?<![\\s\\S])\\s*\\S(?:(?!${BEGIN})[\\s\\S])*?${END})`,
      "g",
    ),
    // A table's cell is no line.
    needsLine: true,
    accepts: () => true,
  },
];
