import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/** What a commit did to a file. */
export interface FileChangeInGit {
  readonly commit: string;
  /** When it was made, in milliseconds since the Unix epoch: the earlier of its two times. */
  readonly at: number;
  readonly isMerge: boolean;
  /** git's names of the file's text in its first parent and in it; undefined where it has none. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** git's exit code for an unknown commit. */
const FATAL = 128;
const MS_PER_S = 1000;
const NOTHING = /^0+$/;

/**
 * The commits up to `to`, and after none of `from`, that changed a file, each after those that it
 * was made from. One git process.
 */
export async function readFileChanges(
  git: Git,
  { tree, pathInside }: PlacedFile,
  {
    from,
    to,
    countMax,
  }: { readonly from: readonly string[]; readonly to: string; readonly countMax: number },
): Promise<FileChangeInGit[]> {
  // With full history: a merge that drops one side's change of the file is a change, too.
  const order = ["--full-history", "--topo-order", `--max-count=${countMax}`];
  const raw = ["--raw", "--no-abbrev", "--no-renames", "--root", "--diff-merges=first-parent"];
  const asUsual = ["--no-follow", "--no-show-signature", "--no-notes", "--no-color"];
  const format = "--format=%x00%H%x09%P%x09%at%x09%ct";
  const asked = ["--literal-pathspecs", "log", ...order, ...raw, ...asUsual, format];
  const printed = await gitOutput(git, tree.root, {
    args: [...asked, to, ...from.map((each) => `^${each}`), "--", pathInside],
    absent: [FATAL],
  });
  const all = String(printed ?? "")
    .split("\0")
    .slice(1);
  return all.map(changeOf).toReversed();
}

function changeOf(printed: string): FileChangeInGit {
  const [head = "", ...lines] = printed.split("\n");
  const [commit = "", parents = "", ...times] = head.split("\t");
  const raw = lines.find((line) => line.startsWith(":"))?.split(" ") ?? [];
  const [from, to] = [raw[2], raw[3]].map((name) => {
    return name === undefined || NOTHING.test(name) ? undefined : name;
  });
  const at = Math.min(...times.map(Number)) * MS_PER_S;
  return { commit, at, isMerge: parents.includes(" "), from, to };
}
