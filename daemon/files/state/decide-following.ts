import type { FilePast } from "../../git/git-past.ts";

/**
 * What is known about a followed file when it is looked at, each fact as one of a few words. The
 * table in docs/design/files.md says what follows from them; a test compares this file with it.
 */
export interface FollowFacts {
  /** What is at the path; `blank`: only white space. */
  readonly file: "absent" | "blank" | "text";
  /** What was last read there or written to it; `gone`: the last look found that text missing. */
  readonly known: "never" | "blank" | "text" | "gone";
  /** Whether the file's bytes are still those. */
  readonly bytes: "same" | "other";
  /**
   * How git treats the path. `branch`: tracked, and not on the default branch. `lost`: there was a
   * repository at the last look, and there is none now.
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
  /** Whether git may still be creating the folder's files. */
  readonly tree: "made" | "making";
  /**
   * For a tracked file: how the checked-out commit relates to the one that was read last. `onward`:
   * a later one, or one that replaced it. `told`: another machine has read it. `back`: an earlier
   * one. `elsewhere`: none of these.
   */
  readonly commit: "same" | "onward" | "told" | "back" | "elsewhere";
  /** Whether another commit or branch is checked out than at the last look. */
  readonly head: "still" | "moved";
  /** Whether the file has been empty or missing for longer than happens by accident. */
  readonly grace: "running" | "over";
  /** Whether the user agreed that memsync writes what git does not ignore. */
  readonly consent: "given" | "none";
  /** Whether the service has ever answered for the project. */
  readonly service: "answered" | "silent";
  /** What the project's document has; `never`: it has never had any text. */
  readonly document: "never" | "blank" | "text";
}

/** What is done with a followed file; see the table in docs/design/files.md. */
export type FollowDecision =
  /** git could not say whether the file is tracked. */
  | "leave-unknown"
  /** git is at work, or waits for a person. */
  | "leave-busy"
  /** Nobody can say any more whether the file was tracked, and on which branch. */
  | "leave-lost"
  | "leave-branch"
  /** The file is missing. That deletes nothing. */
  | "gone"
  /** The file is empty since git moved, or since it was missing. That deletes nothing. */
  | "emptied-by-git"
  /** There is no file, and none may be created. */
  | "missing"
  /** There is no file, and no text for one. */
  | "absent"
  | "create"
  | "wait-service"
  | "wait-grace"
  /** There is no file, and creating one would stop git from finishing its work. */
  | "wait-tree"
  /** The file is as it was left. Only others' changes are written to it. */
  | "follow"
  /** File and document meet for the first time. The text of both stays. */
  | "meet"
  /** The same for a file that was created again. */
  | "renew"
  /** The save is an edit of the text that the file had last. */
  | "edit"
  /** A committed text of others. It changes nothing; the next edit counts from it. */
  | "version";

/**
 * Decides what to do. Pure: the facts alone decide.
 *
 * ```
 * decideFollowing({ ...facts, git: "busy" }); // "leave-busy"
 * ```
 */
export function decideFollowing(facts: FollowFacts): FollowDecision {
  if (facts.git === "unknown") return "leave-unknown";
  if (facts.git === "busy") return "leave-busy";
  if (facts.git === "lost") return "leave-lost";
  if (facts.git === "branch") return "leave-branch";
  if (facts.file === "absent") return decideAbsent(facts);
  if (facts.file === "blank" && facts.bytes === "other") return decideBlank(facts);
  if (facts.known === "never") return decideFirst(facts);
  // A pull may have undone what came from other machines without git.
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

/** An empty file deletes its text only if nobody but its author can have emptied it. */
function decideBlank(facts: FollowFacts): FollowDecision {
  if (facts.known === "never") return decideFirst(facts);
  if (facts.known === "gone") return "gone";
  if (facts.known === "blank") return "edit";
  if (facts.head === "moved") return "emptied-by-git";
  return facts.grace === "running" ? "wait-grace" : "edit";
}

/** A tracked text is a version beside a document that has text; any other first text is merged. */
function decideFirst({ git, service, document }: FollowFacts): FollowDecision {
  if (service === "silent") return "wait-service";
  return git === "tracked" && document === "text" ? "version" : "meet";
}

/** git's history decides. That a text equals an earlier one means nothing. */
function decideTracked({ commit, known, document }: FollowFacts): FollowDecision {
  if (commit === "same" || commit === "onward") return known === "gone" ? "renew" : "edit";
  return document === "text" ? "version" : "meet";
}

/** Whether the document has then what the commits since the file was read did to it. */
export function integrates(
  decision: FollowDecision,
  { relation, isKnown }: { readonly relation: FilePast["relation"]; readonly isKnown: boolean },
): boolean {
  if (decision === "meet" || decision === "renew" || decision === "edit") return true;
  if (decision === "version") return !isKnown && relation === "onward";
  return decision === "follow" && (relation === "same" || relation === "onward");
}
