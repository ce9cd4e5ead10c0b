import type { Reason } from "../../../shared/reasons.ts";
import type { FolderKind } from "../../home/folder-switches.ts";
import type { MemoryOwner } from "../../home/memory-files.ts";
import type { MemoryNote } from "./plan-arrivals.ts";

/** What a look found of one memory folder. */
export interface MemoryFolderStatus {
  readonly path: string;
  readonly kind: FolderKind;
  /** Null where it can't be said. */
  readonly owner: MemoryOwner | null;
  /** See `OwnedFolder`. */
  readonly movedTo?: string | undefined;
  /** How many files are followed. */
  readonly files: number;
  /** The files about which somebody has to decide. */
  readonly asked: readonly { readonly name: string; readonly asked: "missing" | "deleted" }[];
  /** What is left alone, and why. */
  readonly notes: readonly MemoryNote[];
  /** Why the files that git tracks are left alone for now; undefined where they are not. */
  readonly git: Reason | undefined;
  /** Why the whole folder is left alone; undefined where it is not. */
  readonly why: Reason | undefined;
}
