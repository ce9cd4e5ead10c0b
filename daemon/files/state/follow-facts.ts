import type { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { ABSENT_HASH, type FileRead } from "../../disk/read-file.ts";
import type { CommitMaker } from "../../git/commit-makers.ts";
import type { FilePast } from "../../git/git-past.ts";
import type { FileStanding } from "../../git/git-state.ts";
import { isKnownCommit } from "../../git/known-commits.ts";
import type { TreeReadiness } from "../names/tree-guard.ts";
import type { FollowFacts } from "./decide-following.ts";
import { type CheckedOut, type FollowedState, isAnotherRepository } from "./follow-store.ts";

/** What is at a followed path and can be followed. */
export type Readable = Exclude<FileRead, { readonly kind: "problem" }>;

/** Where changes may be that were saved and not committed. */
export interface LeftBehind {
  /** The text that was committed when they were read. */
  readonly committed: string;
  readonly kept: readonly AsideText[];
  /**
   * git has written the file as it is, and not to check out what was committed here since: it has
   * discarded what was in the file, or keeps it elsewhere.
   */
  readonly isDiscarded: boolean;
}

/** A text that git keeps in a stash or on another branch. */
export interface AsideText {
  readonly text: string;
  /**
   * The texts that it was made from since the last save; none where it lacks no line that came
   * back.
   */
  readonly before: readonly string[];
}

/** A text of git's from which lines have come. */
export interface FromGit {
  /** What it was made from, where a person may have made the rest of the file's change. */
  readonly before: string | undefined;
  readonly after: string;
}

/** The lines of a text in which git shows conflicts, without its marks. */
export interface ShownLines {
  readonly all: ReadonlySet<string>;
  /** Those between its marks. */
  readonly disputed: ReadonlySet<string>;
  /** Of these the second side's: all that it has there, as what was stashed. */
  readonly theirs: ReadonlySet<string>;
  /** What both sides were made of: an editor that was opened long before has it. */
  readonly base: ReadonlySet<string>;
}

/** What git says of a tracked file since it was read. */
export interface SinceRead {
  /**
   * For a tracked file: how the checked-out commit relates to the one at which it was read last.
   */
  readonly past: FilePast | undefined;
  /**
   * For a tracked file: its text in the checked-out commit; or, where another history was checked
   * out, at the commit where that began. Undefined where the file is not in that commit.
   */
  readonly committed: string | undefined;
  /** For a tracked file: who has made what other commits changed since; undefined: nobody. */
  readonly madeBy: CommitMaker | undefined;
  /** When that was, or came; undefined where nothing tells. */
  readonly putAt: number | undefined;
}

/** Nothing was done since. */
export const NOTHING_SINCE: SinceRead = {
  past: undefined,
  committed: undefined,
  madeBy: undefined,
  putAt: undefined,
};

/** A text that a file had at a commit, and that no look has found. */
export interface PassedText extends SinceRead {
  readonly content: string;
  readonly savedAt: number;
  readonly checkedOut: CheckedOut;
  /** Who saved or committed over it may not have seen it. */
  readonly isSavedOver: boolean;
}

/** What the file had at commits that were checked out since it was read, and left again. */
export interface Visited {
  readonly texts: readonly VisitedText[];
  /** The commits of the file there that the one at which it was read does not have. */
  readonly changes: readonly string[];
  /** When the last of them was left, in milliseconds since the Unix epoch. */
  readonly leftAt: number;
  /** The file is as it was put there then. */
  readonly isPut: boolean;
}

interface VisitedText {
  readonly text: string;
  /** A person has committed here all that the file has beyond it. */
  readonly isOwnWork: boolean;
}

/** What a look found outside of the database. */
export interface Sight extends SinceRead {
  readonly file: Readable;
  readonly standing: FileStanding;
  readonly checkedOut: CheckedOut;
  /** What others have committed that was fetched, is not checked out, and was taken from there. */
  readonly fetched: FromGit | undefined;
  /** What the file had at commits since it was read, and what git says after these. */
  readonly passed:
    | { readonly texts: readonly PassedText[]; readonly rest: SinceRead | undefined }
    | undefined;
  readonly visited: Visited | undefined;
  /** For a tracked file: what it had in the commit at which it was read, where others went on. */
  readonly before: string | undefined;
  /** For a passed text: who saved or committed over it may not have seen it. */
  readonly isSavedOver?: boolean;
  /** What git may have done with changes that were saved, not committed, and are undone. */
  readonly leftBehind: LeftBehind | undefined;
  /** For a tracked file: git created its CRLF line endings; see `hasGitEndings`. */
  readonly hasGitEndings: boolean;
  /** For a tracked file: what git kept outside of HEAD when it was first seen as it is. */
  readonly kept: readonly string[] | undefined;
  /** The lines that git has shown with its marks, where the file says what becomes of them. */
  readonly shown: ShownLines | undefined;
  /** The paths of further files that could be followed. */
  readonly beside: readonly string[];
  /** The name of the symbolic link that leads to the file; undefined where none is needed. */
  readonly linkedAs?: string | undefined;
  /** For a missing file: whether it may be created. */
  readonly tree: TreeReadiness;
}

/** What git tells of a tracked file alone. */
export const UNTOLD = {
  ...NOTHING_SINCE,
  before: undefined,
  fetched: undefined,
  passed: undefined,
  visited: undefined,
  leftBehind: undefined,
  hasGitEndings: false,
  kept: undefined,
  shown: undefined,
} as const;

/** What is known besides. */
export interface Circumstances {
  /** The last state of this path; undefined where it was never read. */
  readonly known: FollowedState | undefined;
  readonly graceMs: number;
  readonly consent: boolean;
  /** The folder was in a repository when it was linked. */
  readonly isFromGit: boolean;
  readonly hasAnswered: boolean;
  /** It follows beside the file that counts. */
  readonly isFurther: boolean;
  readonly document: ReplicaDocument;
}

/** Translates what a look found into the words of the decision. */
export function factsOf(sight: Sight, circumstances: Circumstances): FollowFacts {
  const { file, past, checkedOut } = sight;
  const { known, graceMs, consent, isFromGit, hasAnswered, document } = circumstances;
  const { isFurther } = circumstances;
  const git = gitOf(sight.standing, known ? known.checkedOut.head !== undefined : isFromGit);
  const hash = file.kind === "text" ? file.hash : ABSENT_HASH;
  return {
    file: file.kind === "absent" ? "absent" : isBlank(file.content) ? "blank" : "text",
    known: knownAs(known),
    bytes: known?.hash === hash ? "same" : "other",
    // Whatever git thinks of a further file that is met, what it has alone comes into the text.
    git: isFurther && !known && git === "tracked" ? "untracked" : git,
    tree: sight.tree.kind,
    commit: commitOf(past, document),
    head: known && isMoved(known.checkedOut, checkedOut) ? "moved" : "still",
    grace: graceMs > 0 ? "running" : "over",
    consent: consent ? "given" : "none",
    service: hasAnswered ? "answered" : "silent",
    document: !document.everHadText() ? "never" : isBlank(document.content()) ? "blank" : "text",
  };
}

/** Whether a file that had text here is empty or missing now. */
export function isWithoutText(known: FollowedState | undefined, file: Readable): boolean {
  if (knownAs(known) !== "text" || known?.path !== file.path) return false;
  return file.kind === "absent" || isBlank(file.content);
}

function knownAs(known: FollowedState | undefined): FollowFacts["known"] {
  if (!known) return "never";
  if (isBlank(known.base.text)) return "blank";
  return known.isGone ? "gone" : "text";
}

function gitOf(standing: FileStanding, wasInGit: boolean): FollowFacts["git"] {
  switch (standing.kind) {
    case "no-git":
      return wasInGit ? "lost" : "none";
    case "untracked":
      return standing.ignored ? "ignored" : "untracked";
    case "tracked":
      return standing.onDefaultBranch ? "tracked" : "branch";
    default:
      return standing.kind;
  }
}

function isMoved(known: CheckedOut, now: CheckedOut): boolean {
  return known.head !== now.head || isAnotherRepository(known, now);
}

function commitOf(past: FilePast | undefined, document: ReplicaDocument): FollowFacts["commit"] {
  if (!past) return "same";
  const { relation, changes } = past;
  if (relation === "same" || relation === "back") return relation;
  if (isKnownCommit(document, changes[0])) return "told";
  return relation === "anew" ? "elsewhere" : relation;
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Whether what stands in the file is taken at all; see `FileStanding`. */
export function isTakenAt(standing: FileStanding): boolean {
  if (standing.kind === "tracked") return standing.onDefaultBranch;
  return standing.kind === "untracked" || standing.kind === "no-git";
}
