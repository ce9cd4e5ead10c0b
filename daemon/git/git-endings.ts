import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** `i/INDEX w/WORKTREE attr/ATTRIBUTES<tab>PATH`, as `git ls-files --eol -z` prints it. */
const EOL_LINE = /^i\/(\S*)\s+w\/(\S*)\s+attr\/([^\t]*)\t(.*)$/s;

/** Values of `core.autocrlf` with which a commit turns CRLF into LF. */
const CONVERTING = ["true", "input"];

/**
 * Whether git created a tracked file's CRLF: it is committed with LF, and an attribute or
 * `core.autocrlf` converts it. Such endings are nobody's edit and no change for git. At most two
 * git processes, none without a CRLF. Throws `GitTrouble`.
 */
export async function hasGitEndings(git: Git, file: PlacedFile, content: string): Promise<boolean> {
  return content.includes("\r\n") && (await gitEndingsIn(git, file)).has(file.pathInside);
}

/**
 * The files at or below a place, by their paths in the tree, of which git creates CRLF when it
 * checks them out. At most two git processes. Throws `GitTrouble`.
 */
export async function gitEndingsIn(
  git: Git,
  { tree, pathInside }: PlacedFile,
): Promise<ReadonlySet<string>> {
  const asked = ["--literal-pathspecs", "ls-files", "--eol", "-z", "--", pathInside];
  const printed = String(await gitOutput(git, tree.root, { args: asked }));
  const found = new Set<string>();
  const bySetting: string[] = [];
  for (const record of printed.split("\0")) {
    const [, index = "", , attributes = "", path = ""] = EOL_LINE.exec(record) ?? [];
    if (index !== "lf") continue;
    const words = attributes.trim().split(/\s+/);
    if (words.includes("-text")) continue;
    if (words.some(isConverted)) found.add(path);
    else bySetting.push(path);
  }
  if (bySetting.length === 0) return found;
  const setting = await git(tree.root, ["config", "--get", "core.autocrlf"]);
  const isConverting =
    setting.kind === "done" && CONVERTING.includes(String(setting.stdout).trim());
  return isConverting ? new Set([...found, ...bySetting]) : found;
}

function isConverted(attribute: string): boolean {
  return attribute === "text" || attribute === "text=auto" || attribute.startsWith("eol=");
}

/** The text with the line endings that git commits. */
export function committedEndings(content: string): string {
  return content.replaceAll("\r\n", "\n");
}

/** The text with the CRLF with which git checks it out. */
export function checkedOutEndings(content: string): string {
  return content.replace(/\r?\n/g, "\r\n");
}
