import { explain, noteFrom, type Reason, type ReasonCode } from "../../shared/reasons.ts";
import type { MemoryFolderStatus } from "../assistants/memory-folders/memory-folder-status.ts";
import type { FolderKind, FolderMode } from "../home/folder-switches.ts";

/** What is done with folders of one kind in which assistants keep what they remember. */
export interface MemoryFoldersStatus {
  readonly mode: FolderMode;
  readonly folders: readonly FolderStatusView[];
}

/** One of them. */
export interface FolderStatusView {
  readonly path: string;
  /** Null for those of the layer `user`, and where it can't be said. */
  readonly project_id: string | null;
  readonly layer: "project" | "user";
  /** Where the project is now whose former path the folder's name is made of; else null. */
  readonly moved_to: string | null;
  /** How many files are followed. */
  readonly files: number;
  /** Missing here, or deleted elsewhere; somebody has to decide. */
  readonly asked: readonly { readonly name: string; readonly asked: "missing" | "deleted" }[];
  /** Files that are left alone, each with why. */
  readonly notes: readonly SaidNote[];
  /** Why what git tracks of it is left alone for now; null where it is not. And its code. */
  readonly git: string | null;
  readonly git_code: ReasonCode | null;
  /** Why the whole folder is left alone; null where it is not. `code`: the same as a code. */
  readonly note: string | null;
  readonly code: ReasonCode | null;
}

interface SaidNote {
  readonly name: string;
  readonly note: string;
  readonly code: ReasonCode;
}

/** The status of the folders of a kind as the last look found them. */
export function memoryFoldersStatus(
  mode: FolderMode,
  kind: FolderKind,
  folders: readonly MemoryFolderStatus[],
): MemoryFoldersStatus {
  return { mode, folders: folders.filter((each) => each.kind === kind).map(viewOf) };
}

function viewOf(folder: MemoryFolderStatus): FolderStatusView {
  const { path, owner, movedTo, files, asked, notes, git, why } = folder;
  return {
    path,
    project_id: owner === "user" ? null : owner,
    layer: owner === "user" ? "user" : "project",
    moved_to: movedTo ?? null,
    files,
    asked,
    notes: notes.map(({ name, why: reason }) => ({ name, ...said(reason) })),
    git: git ? explain(git) : null,
    git_code: git?.code ?? null,
    ...noteFrom(why),
  };
}

function said(reason: Reason) {
  return { note: explain(reason), code: reason.code };
}
