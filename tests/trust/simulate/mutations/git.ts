import { type Mutation, mutation } from "./mutation.ts";

const DECIDE = "daemon/files/state/decide-following.ts";

/** In what git's branches and commits mean for a tracked file. */
export const GIT: readonly Mutation[] = [
  mutation(
    "an earlier commit is taken for an edit",
    "an earlier commit changes nothing, and is what the next edit counts from",
    DECIDE,
    'if (commit === "same" || commit === "onward") return',
    'if (commit === "same" || commit === "onward" || commit === "back") return',
  ),
  mutation(
    "a commit of another line of work is taken for an edit",
    "a commit of another line of work changes nothing",
    DECIDE,
    'if (commit === "same" || commit === "onward") return',
    'if (commit === "same" || commit === "onward" || commit === "elsewhere") return',
  ),
  mutation(
    "what a later commit takes away is not heard",
    "what a later commit brings and takes away is an edit",
    DECIDE,
    'if (commit === "same" || commit === "onward") return',
    'if (commit === "same") return',
  ),
  mutation(
    "a commit that another machine has read is read once more",
    "what one machine has read of a commit another does not bring back",
    "daemon/git/known-commits.ts",
    "return commit !== undefined && document.metadata",
    'return commit === "" && document.metadata',
  ),
  {
    name: "whoever amends a commit has seen what was pulled",
    found: "what a pull brought stays though its commit is amended, and that is told",
    replacements: [
      {
        file: "daemon/git/file-steps.ts",
        from: "for (const tip of [...makers.replaced, to]) {",
        to: "for (const tip of [to]) {",
      },
      {
        file: "daemon/files/tracked/tracked-sight.ts",
        from: "fetched: isOthers(since) ? undefined : await this.#fetched(standing, file, at),",
        to: "fetched: undefined,",
      },
    ],
  },
  mutation(
    "whoever commits after a pull has seen what was pulled",
    "what a pull brought stays though a text of before is committed, and that is told",
    "daemon/files/tracked/passed-texts.ts",
    "const passed = isCommitted ? steps.slice(0, -1) : steps;",
    "const passed = isCommitted ? [] : steps;",
  ),
  mutation(
    "a line that both had and one has deleted is not told",
    "what one machine pulled with no service and deleted is told",
    "shared/replica/merge/taken-back.ts",
    'const isTheirs = line?.side === "theirs" && isRead(line);',
    'const isTheirs = line?.side !== "theirs" && line && isRead(line);',
  ),
  mutation(
    "what this machine has deleted and sent is not told",
    "what one machine pulled, deleted and sent before the other is told",
    "daemon/sync/read-apart.ts",
    "return { seq: metas[first]?.seq ?? 0,",
    "return { seq: rows.length,",
  ),
  mutation(
    "another branch's text is taken",
    "another branch's text is not the project's",
    DECIDE,
    'if (facts.git === "branch") return "leave-branch";',
    "",
  ),
  mutation(
    "a tracked file need not stand still",
    "a file in the middle of a checkout is nobody's save",
    "daemon/git/read-tracked-text.ts",
    "return Math.min(sinceMs + QUIET_MS,",
    "return Math.min(sinceMs - QUIET_MS,",
  ),
  mutation(
    "the index's lock is not looked at",
    "a file is left alone for as long as git works",
    "daemon/git/git-operation.ts",
    'names.has("index.lock") ||',
    "",
  ),
  {
    name: "a branch without the file counts as its removal",
    found: "a branch without the file deletes nothing",
    replacements: [
      {
        file: DECIDE,
        from: 'if (facts.git === "branch") return "leave-branch";',
        to: 'if (facts.git === "branch" && facts.file !== "absent") return "leave-branch";',
      },
      {
        file: DECIDE,
        from: 'if (facts.file === "absent") return decideAbsent(facts);',
        to: 'if (facts.file === "absent") return "edit";',
      },
    ],
  },
];
