import type { MemoryFile } from "../../home/memory-files.ts";
import type { FolderInGit } from "./folder-in-git.ts";
import type { MemoryText } from "./read-memory-folder.ts";
import type { SeenByGit } from "./take-memory-file.ts";

/** A file that is to be taken, with what is known of it. */
interface FileInGit {
  readonly name: string;
  readonly file: MemoryText | undefined;
  readonly former: MemoryFile | undefined;
}

/** What git says of a file that is to be taken; undefined: it does not track it. */
export async function askGit(
  git: FolderInGit,
  { name, file, former }: FileInGit,
  commit: string | undefined,
): Promise<SeenByGit | undefined> {
  const standing = git.of(name);
  if (standing === "free" || standing === "left") {
    if (file || !former || former.asked) return undefined;
    const isTakenAway = former.tracked !== undefined || (await git.keeps(former));
    return isTakenAway ? { tracked: former.tracked ?? "", isTakenAway } : undefined;
  }
  const tracked = standing.committed;
  if (!file) return { tracked: former?.tracked ?? tracked, isTakenAway: !standing.isInIndex };
  if (former?.hash === file.hash) return { tracked };
  const { content } = file;
  return { tracked, committed: await git.committed({ name, content }, { known: former, commit }) };
}
