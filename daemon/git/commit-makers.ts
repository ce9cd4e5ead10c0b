import {
  GOES_ON,
  MADE_BY_HAND,
  MADE_HERE,
  MADE_WITH_OTHERS,
  REVERTS,
  type RefEntry,
  readAllLogs,
} from "./branch-log.ts";
import { changesOf } from "./file-commits.ts";
import { BRANCHES } from "./git-refs.ts";
import { type Git, gitOutput } from "./run-git.ts";
import type { PlacedFile } from "./working-tree.ts";

/**
 * Who made a commit: a person here, git here from an older commit that it undoes, or others.
 * `anybody`: nothing tells, or it was made here of others' changes.
 */
export type CommitMaker = "person" | "revert" | "others" | "anybody";

const REMOTES = "refs/remotes/";
/** What a push leaves in the log of a remote's branch: the commits were here before. */
const PUSHED = /^update by push/;
/** Of more fetched commits than this nobody asks what they have brought. */
const FETCHED_MAX = 100;
/** Of more commits of the file than this nobody asks who made them. */
const CHANGES_MAX = 1000;

/** Of more replaced commits than this nobody asks what they said. */
const REPLACED_MAX = 10;
/** git's exit code for an unknown commit. */
const FATAL = 128;

/** From where to where a branch has gone. */
export interface Way {
  readonly from: string | undefined;
  readonly to: string;
  readonly branch: string | undefined;
}

/** The makers of the file's commits on a way. Two git processes, or three. */
export class CommitMakers {
  readonly #made = new Map<string, CommitMaker>();
  readonly #byHand = new Set<string>();
  readonly #notFetched: ReadonlySet<string> | undefined;
  /** HEAD's log, the latest entry first. */
  readonly entries: readonly RefEntry[];
  /** The commits that were made or came on the way and that others replaced, the oldest first. */
  readonly replaced: readonly string[];

  private constructor(
    logs: readonly RefEntry[],
    replaced: readonly string[],
    notFetched: ReadonlySet<string> | undefined,
  ) {
    for (const { commit, ref, subject } of logs) {
      if (ref.startsWith(REMOTES)) continue;
      if (MADE_BY_HAND.test(subject)) this.#byHand.add(commit);
      if (REVERTS.test(subject)) this.#made.set(commit, "revert");
      else if (MADE_HERE.test(subject)) this.#made.set(commit, "person");
      else if (MADE_WITH_OTHERS.test(subject)) this.#made.set(commit, "anybody");
    }
    this.#notFetched = notFetched;
    this.replaced = replaced;
    this.entries = logs.filter(({ ref }) => ref === "HEAD");
  }

  static async read(git: Git, file: PlacedFile, way: Way): Promise<CommitMakers> {
    const { from, to } = way;
    const logs = await readAllLogs(git, file);
    const replaced = await findReplaced(git, file, { ...way, logs });
    const fetched = logs.filter(({ ref, subject }) => {
      return ref.startsWith(REMOTES) && subject !== "" && !PUSHED.test(subject);
    });
    const tips = [...new Set(fetched.map(({ commit }) => commit))].slice(0, FETCHED_MAX);
    if (tips.length === 0) return new CommitMakers(logs, replaced, undefined);
    const without = [...(from === undefined ? [] : [from]), ...tips].map((each) => `^${each}`);
    const commits = ["--full-history", to, ...replaced, ...without];
    const open = await changesOf(git, file, { commits, countMax: CHANGES_MAX });
    const isAll = open.length < CHANGES_MAX;
    return new CommitMakers(logs, replaced, isAll ? new Set(open) : undefined);
  }

  of(commit: string): CommitMaker {
    const isFetched = this.#notFetched !== undefined && !this.#notFetched.has(commit);
    return this.#made.get(commit) ?? (isFetched ? "others" : "anybody");
  }

  /** Whether a person had to finish it, where git could not do all of it alone. */
  isByHand(commit: string): boolean {
    return this.#byHand.has(commit);
  }
}

/** What a branch had on its way and has no more, as after an amendment or a rebase. */
async function findReplaced(
  git: Git,
  { tree }: PlacedFile,
  { from, to, branch, logs }: Way & { readonly logs: readonly RefEntry[] },
): Promise<string[]> {
  const ofBranch = logs.filter(({ ref }) => ref === `${BRANCHES}${branch ?? ""}`);
  const end = ofBranch.findIndex(({ commit, subject }) => {
    return commit === from || !GOES_ON.test(subject);
  });
  const way = end === -1 ? ofBranch : ofBranch.slice(0, end);
  const all = [...new Set(way.map(({ commit }) => commit))].filter((each) => each !== to);
  if (from === undefined || all.length === 0) return [];
  const args = ["rev-list", ...all, `^${to}`, `^${from}`, "--"];
  const printed = await gitOutput(git, tree.root, { args, absent: [FATAL] });
  const gone = new Set(String(printed ?? "").split("\n"));
  return all
    .filter((each) => gone.has(each))
    .slice(0, REPLACED_MAX)
    .toReversed();
}
