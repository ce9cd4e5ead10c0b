import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** `i/INDEX w/WORKTREE attr/ATTRIBUTES<tab>PATH`, as `git ls-files --eol -z` prints it. */
const EOL_LINE = /^i\/(\S*)\s+w\/(\S*)\s+attr\/([^\t]*)\t/;

/** Of `core.autocrlf`: a commit turns CRLF into LF. */
const CONVERTING = ["true", "input"];

/**
 * Whether a tracked file's CRLF are git's own: it is committed with LF, and git turns one into the
 * other, by an attribute or by `core.autocrlf`. Then they are no more a person's than git's commit
 * is, and no change to git. At most two git processes, none without a CRLF. Throws `GitTrouble`.
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

/** The text as git has it. */
export function committedEndings(content: string): string {
  return content.replaceAll("\r\n", "\n");
}

/** The text as git checks it out with CRLF. */
export function checkedOutEndings(content: string): string {
  return content.replace(/\r?\n/g, "\r\n");
}
