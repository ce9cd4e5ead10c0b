import type { SecretRule } from "./secret-rule.ts";

/** The rule's id. */
export const PERSONAL_RULE = "personal-block";

/**
 * A person's own text between memsync's marks, also where one of them is missing or was changed. It
 * is that person's alone, and comes into others' documents by a link, a copy or a commit.
 */
export const PERSONAL_RULES: readonly SecretRule[] = [
  {
    id: PERSONAL_RULE,
    kind: "a person's own text",
    keywords: ["memsync:personal"],
    pattern:
      /^[\t\x20\uFEFF]*(<!--[\t\x20]*memsync:personal\b(?![\t\x20]+(?:version|end)\b)[\s\S]*?(?:memsync:personal[\t\x20]+end\b[^\n]*|(?![\s\S])))/gm,
    // A table's cell is no line.
    needsLine: true,
    accepts: () => true,
  },
];
