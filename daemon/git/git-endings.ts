import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** `i/INDEX w/WORKTREE attr/ATTRIBUTES<tab>PATH`, as `git ls-files --eol -z` prints it. */
const EOL_LINE = /^i\/(\S*)\s+w\/(\S*)\s+attr\/([^\t]*)\t/;

/** Values of `core.autocrlf` with which a commit turns CRLF into LF. */
const CONVERTING = ["true", "input"];

/**
 * Whether git created a tracked file's CRLF: it is committed with LF, and an attribute or
 * `core.autocrlf` converts it. Such endings are nobody's edit and no change for git. At most two
 * git processes, none without a CRLF. Throws `GitTrouble`.
 */
export async function hasGitEndings(
  git: Git,
  { tree, pathInside }: PlacedFile,
  content: string,
): Promise<boolean> {
  if (!content.includes("\r\n")) return false;
  const asked = ["--literal-pathspecs", "ls-files", "--eol", "-z", "--", pathInside];
  const printed = String(await gitOutput(git, tree.root, { args: asked }));
  const [, index = "", , attributes = ""] = EOL_LINE.exec(printed) ?? [];
  if (index !== "lf") return false;
  const words = attributes.trim().split(/\s+/);
  if (words.includes("-text")) return false;
  if (words.some((word) => word === "text" || word === "text=auto" || word.startsWith("eol="))) {
    return true;
  }
  const setting = await git(tree.root, ["config", "--get", "core.autocrlf"]);
  return setting.kind === "done" && CONVERTING.includes(String(setting.stdout).trim());
}

/** The text with the line endings that git commits. */
export function committedEndings(content: string): string {
  return content.replaceAll("\r\n", "\n");
}

/** The text with the CRLF with which git checks it out. */
export function checkedOutEndings(content: string): string {
  return content.replace(/\r?\n/g, "\r\n");
}
