import { PERSONAL_BLOCK } from "../home/personal-mark.ts";
import type { SecretRule } from "./secret-rule.ts";

/** The rule's id. */
export const PERSONAL_RULE = "personal-block";

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
    pattern: PERSONAL_BLOCK,
    // A table's cell is no line.
    needsLine: true,
    isNoSecret: true,
    accepts: () => true,
  },
];
