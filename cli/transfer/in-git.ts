import { dirname } from "node:path";
import { createGit } from "../../daemon/git/run-git.ts";

/**
 * Whether git would show a file or a folder that was just written: it lies in a working tree, and
 * nothing there ignores it. False where git can't say.
 */
export async function isSeenByGit(path: string): Promise<boolean> {
  const git = createGit();
  const shown = await git(dirname(path), ["status", "--porcelain", "--", path]);
  return shown.kind === "done" && shown.stdout.length > 0;
}
