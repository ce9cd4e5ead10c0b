import { explain, type Reason, type ReasonCode } from "../../shared/reasons.ts";
import type { MemoryFolderStatus } from "../assistants/memory-folders/memory-folder-status.ts";
import type { AutoMemoryMode } from "../home/auto-memory-switch.ts";

/** What is done with the folders in which assistants keep what they remember. */
export interface AutoMemoryStatus {
  readonly mode: AutoMemoryMode;
  readonly folders: readonly AutoMemoryFolderStatus[];
}

interface AutoMemoryFolderStatus {
  readonly path: string;
  /** Null where it can't be said. */
  readonly project_id: string | null;
  /** How many files are followed. */
  readonly files: number;
  /** Missing here, or deleted elsewhere; somebody has to decide. */
  readonly asked: readonly { readonly name: string; readonly asked: "missing" | "deleted" }[];
  /** Files that are left alone, each with why. */
  readonly notes: readonly SaidNote[];
  /** Why the whole folder is left alone; null where it is not. `code`: the same as a code. */
  readonly note: string | null;
  readonly code: ReasonCode | null;
}

interface SaidNote {
  readonly name: string;
  readonly note: string;
  readonly code: ReasonCode;
}

/** The status of the folders as the last look found them. */
export function autoMemoryStatus(
  mode: AutoMemoryMode,
  folders: readonly MemoryFolderStatus[],
): AutoMemoryStatus {
  return {
    mode,
    folders: folders.map(({ path, project, files, asked, notes, why }) => ({
      path,
      project_id: project,
      files,
      asked,
      notes: notes.map(({ name, why: reason }) => ({ name, ...said(reason) })),
      note: why ? explain(why) : null,
      code: why?.code ?? null,
    })),
  };
}

function said(reason: Reason) {
  return { note: explain(reason), code: reason.code };
}
