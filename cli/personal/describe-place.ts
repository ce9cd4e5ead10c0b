import { readPersonalFile } from "../../daemon/assistants/personal/read-personal-file.ts";
import type { ProjectFile } from "../../daemon/files/names/find-project-file.ts";
import { fileStanding } from "../../daemon/git/git-state.ts";
import { createGit } from "../../daemon/git/run-git.ts";
import { realPathOf } from "../../daemon/git/working-tree.ts";
import { explain } from "../../shared/reasons.ts";
import { tilde } from "../screen/tilde.ts";
import type { PersonalPlace } from "./personal-place.ts";

/** What turning a file on does to it, in words that follow its path. */
export async function whatIsDone(
  { path, remark }: PersonalPlace,
  {
    write,
    adopt,
    isOn,
  }: { readonly write: boolean; readonly adopt: boolean; readonly isOn: boolean },
): Promise<string> {
  const read = await readPersonalFile(path);
  if (read.kind === "problem") return explain(read.why);
  const real = await realPathOf(path);
  const link =
    read.kind === "file" && real !== (await plainPath(path)) ? [`is ${tilde(real)}`] : [];
  const standing = await fileStanding(createGit(), path);
  const isTracked = standing.kind === "tracked" && !write;
  const remarks = remark === undefined ? [] : [remark];
  if (isTracked) {
    const has = read.kind === "file" && read.block;
    const done = has ? "is read, and written only with --write" : "gets nothing without --write";
    return [...link, `git tracks it: it ${done}`, ...remarks].join("; ");
  }
  const done =
    read.kind === "absent"
      ? "is made, with the text"
      : read.block
        ? blockAlready(read.block.text, { adopt, isOn })
        : adopt && read.content.trim() !== ""
          ? "all that it has becomes the text"
          : "gets the text at its end";
  return [...link, done, ...remarks].join("; ");
}

/**
 * What is said of a block that is there already: others may have written it, so it is not taken for
 * the user's own.
 */
function blockAlready(
  text: string,
  { adopt, isOn }: { readonly adopt: boolean; readonly isOn: boolean },
): string {
  const has = "has the block already";
  return isOn || adopt || text.trim() === ""
    ? has
    : `${has}: what your text lacks of it is asked about`;
}

/** The path with links in its folders resolved, but not that of the file. */
async function plainPath(path: string): Promise<string> {
  const at = path.lastIndexOf("/");
  return at <= 0 ? path : `${await realPathOf(path.slice(0, at))}${path.slice(at)}`;
}

/** What taking the block out leaves, in words that follow the file's path. */
export async function whatIsLeft(
  path: string,
  keepsText: boolean,
  shared: ProjectFile | undefined,
): Promise<string> {
  const read = await readPersonalFile(path);
  if (read.kind === "problem") return `${explain(read.why)}; it is left as it is`;
  if (read.kind === "absent" || !read.block) return "has no block";
  if (read.isShared) {
    return "has further names (hard links), and is not written: take the block out yourself";
  }
  if (!keepsText) return "loses the text; all else stays";
  const left = "loses the marks, and keeps the text";
  return shared ? `${left}, which the project ${shared.project} gets` : left;
}
