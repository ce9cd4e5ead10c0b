/**
 * What is known of a followed file when it is looked at, each fact one of a few words. The table in
 * docs/design/files.md says what follows from them, and a test holds this file to that table.
 */
export interface FollowFacts {
  /** What stands at the path; `blank`: nothing but white space. */
  readonly file: "absent" | "blank" | "text";
  /** What was last read there or written into it; `gone`: a look found that text to be missing. */
  readonly known: "never" | "blank" | "text" | "gone";
  /** Whether the bytes are those. */
  readonly bytes: "same" | "other";
  /**
   * How the path stands with git; `branch`: it is tracked, and this is not the default branch;
   * `lost`: there was a repository when the file was seen last, and there is none now.
   */
  readonly git:
    | "none"
    | "untracked"
    | "ignored"
    | "tracked"
    | "branch"
    | "busy"
    | "unknown"
    | "lost";
  /** Whether git may still be making the folder that a missing file would be made in. */
  readonly tree: "made" | "making";
  /**
   * Of a tracked file: the checked-out commit beside the one that was read last. `onward`: a later
   * one, or one that took its place; `told`: another machine has read it; `back`: an earlier one;
   * `elsewhere`: neither.
   */
  readonly commit: "same" | "onward" | "told" | "back" | "elsewhere";
  /** Whether another commit or branch is checked out than when the file was seen last. */
  readonly head: "still" | "moved";
  /** Whether the file has been empty or missing for as long as that may last by accident. */
  readonly grace: "running" | "over";
  /** Whether the user agreed that memsync writes what git does not ignore. */
  readonly consent: "given" | "none";
  /** Whether the service has answered for the project, now or before. */
  readonly service: "answered" | "silent";
  /** What the project's document holds; `never`: it has never held any text. */
  readonly document: "never" | "blank" | "text";
}

/** What is done with a followed file; see the table in docs/design/files.md. */
export type FollowDecision =
  /** git could not say whether the file is tracked. */
  | "leave-unknown"
  /** git is at work, or waits for a person. */
  | "leave-busy"
  /** Whether the file was tracked, and on which branch, nobody can say any more. */
  | "leave-lost"
  | "leave-branch"
  /** The file is missing, which deletes nothing. */
  | "gone"
  /** The file is empty since git moved, or since it was gone, which deletes nothing. */
  | "emptied-by-git"
  /** There is no file, and none may be made. */
  | "missing"
  /** There is no file, and nothing to make one of. */
  | "absent"
  | "create"
  | "wait-service"
  | "wait-grace"
  /** There is no file, and one would keep git from finishing what it does. */
  | "wait-tree"
  /** It is as it was left: only what others changed is written into it. */
  | "follow"
  /** File and document meet for the first time: what either has stays. */
  | "meet"
  /** The same, with a file that was made anew. */
  | "renew"
  /** The save is an edit from the text that the file had last. */
  | "edit"
  /** The committed text is one of others': it changes nothing, and the next edit counts from it. */
  | "version";

/** Decides what to do. Pure: everything that it goes by is in the facts. */
export function decideFollowing(facts: FollowFacts): FollowDecision {
  if (facts.git === "unknown") return "leave-unknown";
  if (facts.git === "busy") return "leave-busy";
  if (facts.git === "lost") return "leave-lost";
  if (facts.git === "branch") return "leave-branch";
  if (facts.file === "absent") return decideAbsent(facts);
  if (facts.file === "blank" && facts.bytes === "other") return decideBlank(facts);
  if (facts.known === "never") return decideFirst(facts);
  // What a pull brought may have taken back what came from the others' machines alone.
  const isText = facts.file === "text" && facts.known === "text";
  const isPulled = isText && facts.git === "tracked" && facts.commit === "onward";
  if (facts.bytes === "same" && !isPulled) return "follow";
  if (facts.git === "tracked") return decideTracked(facts);
  return facts.known === "gone" ? "renew" : "edit";
}

function decideAbsent(facts: FollowFacts): FollowDecision {
  const { known, git, tree, consent, service, document } = facts;
  const hadText = known === "text" || known === "gone";
  if (hadText && document !== "text") return "absent";
  if (hadText) return known === "text" && facts.grace === "running" ? "wait-grace" : "gone";
  if (known === "never" && service === "silent") return "wait-service";
  const mayCreate = git === "ignored" || consent === "given";
  if (!mayCreate) return "missing";
  if (document !== "text") return "absent";
  return tree === "making" ? "wait-tree" : "create";
}

/** An empty file has deleted its text only where nobody but its author can have emptied it. */
function decideBlank(facts: FollowFacts): FollowDecision {
  if (facts.known === "never") return decideFirst(facts);
  if (facts.known === "gone") return "gone";
  if (facts.known === "blank") return "edit";
  if (facts.head === "moved") return "emptied-by-git";
  return facts.grace === "running" ? "wait-grace" : "edit";
}

/** A text that git brings meets a document as a version; one that it lacks, as a text. */
function decideFirst({ git, service, document }: FollowFacts): FollowDecision {
  if (service === "silent") return "wait-service";
  return git === "tracked" && document === "text" ? "version" : "meet";
}

/** git's ancestry decides, never that a text is equal to an earlier one. */
function decideTracked({ commit, known, document }: FollowFacts): FollowDecision {
  if (commit === "same" || commit === "onward") return known === "gone" ? "renew" : "edit";
  return document === "text" ? "version" : "meet";
}
