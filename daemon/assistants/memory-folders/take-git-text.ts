import { listRevisions } from "../../../shared/replica/history/revisions.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { hashOf } from "../../disk/read-file.ts";
import { type MemoryFile, NEVER_SHOWN, type StandingMemory } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { BroughtText } from "./folder-in-git.ts";
import type { MemoryText } from "./read-memory-folder.ts";

/** A file that is as git has it, and not as it was. */
export interface GitText {
  readonly name: string;
  readonly key: string;
  readonly file: MemoryText;
  readonly known: MemoryFile | undefined;
  /** What the branch went on from, where it has. */
  readonly brought: BroughtText | undefined;
}

/** What a text means that git has put into a file. */
export type GitTextMeaning =
  /** An edit of `base`, as a commit that was pulled is one of the commit before it. */
  | { readonly kind: "edit"; readonly base: StandingMemory | undefined }
  /** It changes nothing, and stands in the file beside what the memory has. */
  | { readonly kind: "beside"; readonly shown: MemoryFile };

/**
 * Says what becomes of a text that git has put into a file. A commit that the branch went on to is
 * an edit, unless the memory has had that text before: then somebody has gone on from it. All else,
 * a stash, a reset or what a clone begins with, is no edit of anybody.
 */
export async function meaningOfGitText(
  { db }: WriteContext<DaemonTables>,
  { document, id }: OpenDocument,
  { name, key, file, known, brought }: GitText,
): Promise<GitTextMeaning> {
  const { hash, content } = file;
  const entries = document.memories.get(key);
  const shown = { name, hash, text: content, isGits: true } as const;
  if (entries.length === 0) {
    if (!known || brought) return { kind: "edit", base: undefined };
    return { kind: "beside", shown: { ...shown, seen: [], asked: "deleted" } };
  }
  const former = await listRevisions(db, id, { kind: "memory", key });
  const isFormer = former.some(({ value }) => value === content);
  if (brought && !isFormer) {
    const wasStored = former.some(({ value }) => value === brought.from);
    return { kind: "edit", base: baseOf(known, brought, wasStored) };
  }
  const isPutBack = known !== undefined && !brought;
  const seen = isFormer && !isPutBack ? [] : entries.map((each) => each.id);
  return { kind: "beside", shown: { ...shown, seen } };
}

/**
 * What is known of the file, if that was as committed; else nothing stands for the commit. A commit
 * that was held was never stored: what came before it is what the memory was made of.
 */
function baseOf(
  known: MemoryFile | undefined,
  { from }: BroughtText,
  wasStored: boolean,
): StandingMemory | undefined {
  if (known && known.text === from && !known.isGits) return known;
  if (known?.held === undefined || wasStored) return { hash: hashOf(from), text: from, seen: [] };
  if (known.hash === NEVER_SHOWN.hash) return undefined;
  return known.isGits ? { ...known, seen: [] } : known;
}
