import ignore, { type Ignore } from "ignore";
import { readIgnoreLines } from "./ignore-lines.ts";

/** What a file in the syntax of `.gitignore` names. */
export type IgnorePatterns = Ignore;

/**
 * Reads a text in the syntax of `.gitignore`, as git's documentation says it, with upper and lower
 * case the same, and a letter the same however it is encoded; and what its lines may mean besides,
 * as `readIgnoreLines` has it. `dir`: the folder whose paths it names.
 *
 * ```
 * isIgnoredBy(parseIgnorePatterns("docs/*\n!docs/open.md\n"), "docs/own.md"); // true
 * ```
 */
export function parseIgnorePatterns(text: string, dir?: string): IgnorePatterns {
  const lines = readIgnoreLines(text.normalize("NFC"), dir?.normalize("NFC"));
  return ignore({ ignorecase: true }).add(lines.flatMap(({ patterns }) => patterns));
}

/** The patterns of a text in that syntax, without its comments. */
export function patternsIn(text: string): string[] {
  const names = text.split("\n").filter((line) => !line.startsWith("#"));
  return names.map((line) => line.trim()).filter((name) => name !== "");
}

/**
 * Whether the patterns name a path, which is relative and has `/` between its names; a folder's
 * ends in a slash. In an ignored folder everything is ignored.
 */
export function isIgnoredBy(patterns: IgnorePatterns, path: string): boolean {
  const normal = path.normalize("NFC");
  return ignore.isPathValid(normal) && patterns.ignores(normal);
}
