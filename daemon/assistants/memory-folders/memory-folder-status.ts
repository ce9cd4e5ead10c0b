import type { ProjectId } from "../../../shared/ids.ts";
import type { Reason } from "../../../shared/reasons.ts";
import type { MemoryNote } from "./plan-arrivals.ts";

/** What a look found of one memory folder. */
export interface MemoryFolderStatus {
  readonly path: string;
  /** Null where it can't be said. */
  readonly project: ProjectId | null;
  /** How many files are followed. */
  readonly files: number;
  /** The files about which somebody has to decide. */
  readonly asked: readonly { readonly name: string; readonly asked: "missing" | "deleted" }[];
  /** What is left alone, and why. */
  readonly notes: readonly MemoryNote[];
  /** Why the whole folder is left alone; undefined where it is not. */
  readonly why: Reason | undefined;
}
