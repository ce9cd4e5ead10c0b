import type { ProjectDeletion } from "../../../shared/replica/document/deletion-entry.ts";
import type { FileState } from "../lines/file-state.ts";
import type { Unfollowed } from "../state/follow-reasons.ts";
import type { FollowedState } from "../state/follow-store.ts";
import type { NotTaken } from "../state/held-save.ts";
import type { Overtaken } from "../state/save-history.ts";
import type { LateOptions } from "./take-late-save.ts";

/** What a sight is taken with. */
export interface TakeOptions extends LateOptions {
  readonly service: string;
  /** For how much longer an empty or missing file does not count. */
  readonly graceMs: number;
  /** For how long the file had no text before the one that is found. */
  readonly goneMs?: number | undefined;
  /** The folder was in a repository when it was linked. */
  readonly isFromGit: boolean;
  /** By which name the folder has the file. */
  readonly name?: string | undefined;
  /** A write that was begun may have been made without being noted. */
  readonly isUnsure?: boolean;
  /** What was saved and saved over while the look before was under way, oldest first. */
  readonly overtaken?: Overtaken;
  /** When the look began; undefined: it says of no change that it was seen. */
  readonly lookedAt?: number | undefined;
}

/** The outcome of a look. `seenInMs`: when another one is due, to see what came lately. */
export type TakenSight = Taken & { readonly seenInMs?: number | undefined };

export type Taken =
  | { readonly kind: "done" }
  | { readonly kind: "unfollowed"; readonly why: Unfollowed }
  /** The project was deleted, here or on another machine. Its files belong to nobody now. */
  | { readonly kind: "deleted"; readonly deletion: ProjectDeletion }
  /** The save is kept on this machine only. */
  | ({ readonly kind: "held" } & NotTaken)
  | ToWrite;

/** The file is to be written. The intended state is stored already. */
export interface ToWrite {
  readonly kind: "write";
  /** `from`: the current state; `to`: the intended one. */
  readonly from: FollowedState;
  readonly to: FileState;
  readonly content: string;
}

/** Whether the text that was found is the file's known one from now on. */
export function isTakenWhole(taken: Taken): boolean {
  return taken.kind === "done" || (taken.kind === "unfollowed" && taken.why === "leave-aside");
}
