import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import { type Entry, type EntryId, sameId } from "../../../shared/replica/document/entry-index.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import type { CameLine } from "../../files/line-arrival-store.ts";
import { returnedUnseen, takenUnseen } from "../../files/unseen-lines.ts";
import type { StandingMemory } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import { mergeIndexes, uniteIndexes } from "./index-lines.ts";
import { keyOfName } from "./memory-names.ts";
import { mergeTexts } from "./merge-texts.ts";
import type { MemoryRead } from "./read-memory-folder.ts";
import { setAside, unseenInIndex } from "./unseen-in-index.ts";

type Context = WriteContext<DaemonTables>;
export type MemoryText = Extract<MemoryRead, { kind: "text" }>;

/** A file with the text that it was edited to. */
export interface MemoryEdit {
  readonly format: FolderFormat;
  readonly name: string;
  /** What the file showed before; undefined for a file that was not known. */
  readonly base: StandingMemory | undefined;
  readonly file: MemoryText;
  /** What came into the file or left it so shortly before that its author may not have seen it. */
  readonly unseen?: readonly CameLine[] | undefined;
  /** What the file showed before that. */
  readonly seenBefore?: readonly EntryId[] | undefined;
}

/**
 * Writes an edit of a file into the document: over exactly what the file showed. What others have
 * written meanwhile is merged with it by lines where no place was changed differently by both. Else
 * both stay, the later one counts, and the other is a conflict. So it is with an edit that undoes
 * what its author may not have seen: it replaces what the file showed before that. In an index all
 * lines stay; but what stands beside the text that it was made from is united by whoever wrote
 * that, or is a conflict. Returns what the file shows now.
 */
export async function takeMemoryEdit(
  context: Context,
  open: OpenDocument,
  { format, name, base, file, unseen, seenBefore = [] }: MemoryEdit,
): Promise<StandingMemory> {
  const { document } = open;
  const key = keyOfName(format, name);
  const isIndex = name === format.index;
  const seen = base?.seen ?? [];
  const before = document.memories.get(key);
  const others = before.filter(({ id }) => !isAmong(seen, id));
  const now = Math.min(context.now, Math.round(file.savedAt));
  const { content, hash } = file;
  const edit = isIndex && base ? { key, base, content, unseen: unseen ?? [] } : undefined;
  const { whole, disputed = [] } = edit ? await unseenInIndex(context, open, edit) : {};
  // What does not fit stays as a version of its own.
  const isWithin = whole === undefined || !isTooLong(whole);
  const isStale = !isIndex && undoesUnseen({ file, base, unseen });
  const over = isStale ? seenBefore : isWithin ? seen : [];
  // Where the base's entries are gone, whoever replaced them had seen them.
  const isBaseOfAll = base !== undefined && others.length === before.length;
  const beside = isBaseOfAll ? [] : others;
  if (base) await setAside(context, open, { key, text: base.text, lines: disputed, beside });
  document.setEntry("memories", key, { value: content, now, seen: over });
  await context.flush(open);
  const written = ownEntry(open, key);
  if (written && whole !== undefined) {
    await writeMerged(context, open, { key, text: whole, replaced: [written] });
  }
  const own = ownEntry(open, key);
  const shown = { hash, text: content, seen: written ? [written.id] : [] };
  const [theirs, ...more] = others;
  if (theirs && own && isBaseOfAll && more.length === 0) {
    const sides = { base: base.text, mine: String(own.value), theirs: String(theirs.value) };
    const replaced = [own, theirs];
    const { text, isClean } = isIndex
      ? { text: mergeIndexes(sides), isClean: true }
      : mergeTexts(sides);
    if (isClean && !isStale) await writeMerged(context, open, { key, text, replaced });
  } else if (theirs && isIndex && (base === undefined || isBaseOfAll)) {
    await uniteVersions(context, open, key);
  }
  return shown;
}

/** Whether an edit undoes what others changed, which its author may not have seen. */
export function undoesUnseen({
  file,
  base,
  unseen = [],
}: Pick<MemoryEdit, "file" | "base" | "unseen">): boolean {
  if (!base) return false;
  const sides = { shown: base.text, saved: file.content };
  return takenUnseen(sides, unseen) !== undefined || returnedUnseen(sides, unseen).length > 0;
}

/**
 * Brings the versions of an index together, if this machine wrote one that does not count: one
 * machine alone does it, and that one knows that its lines were new.
 */
export async function uniteOwnVersion(
  context: Context,
  open: OpenDocument,
  { format, name, seen }: Pick<MemoryEdit, "format" | "name"> & Pick<StandingMemory, "seen">,
): Promise<void> {
  if (name !== format.index) return;
  const key = keyOfName(format, name);
  const [, ...losers] = open.document.memories.get(key);
  if (losers.some(({ id }) => isAmong(seen, id))) await uniteVersions(context, open, key);
}

/** Whether an index stands in several versions whose lines are too many for one memory. */
export function isApart({ document }: OpenDocument, format: FolderFormat): boolean {
  if (format.index === undefined) return false;
  const versions = document.memories.get(keyOfName(format, format.index));
  return versions.length > 1 && isTooLong(unitedText(versions));
}

function unitedText(versions: readonly Entry[]): string {
  return uniteIndexes(versions.map(({ value }) => String(value)));
}

function isTooLong(text: string): boolean {
  return exceedsBytes(text, LIMITS.memoryValueBytes);
}

async function uniteVersions(context: Context, open: OpenDocument, key: string): Promise<void> {
  const replaced = open.document.memories.get(key);
  const text = unitedText(replaced);
  await writeMerged(context, open, { key, text, replaced });
}

/**
 * What is replaced goes into the history. A text over the limit stays in its versions; see
 * `isApart`.
 */
async function writeMerged(
  context: Context,
  open: OpenDocument,
  {
    key,
    text,
    replaced,
  }: { readonly key: string; readonly text: string; readonly replaced: readonly Entry[] },
): Promise<void> {
  if (isTooLong(text)) return;
  const seen = replaced.map(({ id }) => id);
  open.document.setEntry("memories", key, { value: text, now: context.now, seen });
  await context.flush(open);
}

/** The last one that this process wrote. */
function ownEntry({ document }: OpenDocument, key: string): Entry | undefined {
  const own = document.memories.get(key).filter(({ id }) => {
    return id.client === document.ydoc.clientID;
  });
  return own.sort((one, other) => other.id.clock - one.id.clock)[0];
}

function isAmong(ids: readonly EntryId[], id: EntryId): boolean {
  return ids.some((each) => sameId(each, id));
}
