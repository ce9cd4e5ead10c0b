import { type Glob, matchesGlob, matchesStarred, parseGlob } from "./glob.ts";

/** One line of the file. */
interface Pattern {
  /** It begins with `!`: what it names is not ignored after all. */
  readonly isNot: boolean;
  /** It ends with a slash: it names folders alone. */
  readonly isFolder: boolean;
  /** From the folder of the file on; `any` stands for any number of folders. */
  readonly segments: readonly (Glob | "any")[];
}

/** What a file in the syntax of `.gitignore` names. */
export type IgnorePatterns = readonly Pattern[];

/**
 * Reads a text in the syntax of `.gitignore`, as git's documentation says it, with upper and lower
 * case the same.
 *
 * ```
 * isIgnoredBy(parseIgnorePatterns("docs/*\n!docs/open.md\n"), "docs/own.md"); // true
 * ```
 */
export function parseIgnorePatterns(text: string): IgnorePatterns {
  return text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .flatMap((line) => parseLine(line) ?? []);
}

function parseLine(line: string): Pattern | undefined {
  if (line.startsWith("#")) return undefined;
  // A space at the end counts where a backslash is before it.
  const [all = ""] = /^(?:\\.|[^\\]|\\$)*?(?=\x20*$)/su.exec(line) ?? [];
  const isNot = all.startsWith("!");
  const named = isNot ? all.slice(1) : all;
  const isFolder = named.endsWith("/");
  const path = isFolder ? named.slice(0, -1) : named;
  if (path === "") return undefined;
  const isAnchored = path.includes("/");
  const parts = (path.startsWith("/") ? path.slice(1) : path).split("/");
  const segments = parts.map((part) => (part === "**" && isAnchored ? "any" : parseGlob(part)));
  // What is below a folder is meant, and not the folder.
  if (segments.at(-1) === "any") segments.push(parseGlob("*"));
  return { isNot, isFolder, segments: isAnchored ? segments : ["any", ...segments] };
}

/**
 * Whether the patterns name a path, which is relative and has `/` between its names. Of several
 * that do the last one counts. In an ignored folder everything is ignored.
 */
export function isIgnoredBy(patterns: IgnorePatterns, path: string, isFolder = false): boolean {
  const names = path.split("/").filter((name) => name !== "");
  return names.some((_, at) => {
    const isBelow = at < names.length - 1;
    return isNamed(patterns, names.slice(0, at + 1), isBelow || isFolder);
  });
}

function isNamed(patterns: IgnorePatterns, names: readonly string[], isFolder: boolean): boolean {
  const last = patterns.findLast((pattern) => {
    return (isFolder || !pattern.isFolder) && matchesStarred(pattern.segments, names, BY_NAMES);
  });
  return last !== undefined && !last.isNot;
}

const BY_NAMES = {
  isStar: (segment: Glob | "any") => segment === "any",
  isMatch: (segment: Glob | "any", name: string) => segment !== "any" && matchesGlob(segment, name),
};
