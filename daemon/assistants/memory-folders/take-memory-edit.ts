import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import { type Entry, type EntryId, sameId } from "../../../shared/replica/document/entry-index.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import type { CameLine } from "../../files/arrivals/line-arrival-store.ts";
import { returnedUnseen, takenUnseen } from "../../files/arrivals/unseen-lines.ts";
import type { StandingMemory } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import { keyOfName } from "./memory-names.ts";
import { mergeTexts } from "./merge-texts.ts";
import type { MemoryText } from "./read-memory-folder.ts";
import { takeIndexEdit } from "./take-index-edit.ts";

type Context = WriteContext<DaemonTables>;

/** A file with the text that it was edited to. */
export interface MemoryEdit {
  /** Where the file is. */
  readonly folder: string;
  readonly format: FolderFormat;
  readonly name: string;
  /** What the file showed before; undefined for a file that was not known. */
  readonly base: StandingMemory | undefined;
  readonly file: MemoryText;
  /** What came into the file or left it so shortly before that its author may not have seen it. */
  readonly unseen?: readonly CameLine[] | undefined;
  /** What the file showed before that. */
  readonly seenBefore?: readonly EntryId[] | undefined;
  /** Nobody knows what the file showed before it was met: it may be what others have deleted. */
  readonly isMet?: boolean;
}

/**
 * Writes an edit of a file into the document: over exactly what the file showed. What others have
 * written meanwhile is merged with it by lines where no place was changed differently by both. Else
 * both stay, the later one counts, and the other is a conflict. So it is with an edit that undoes
 * what its author may not have seen: it replaces what the file showed before that. A deletion of
 * which a file that is met may be older stays, as a conflict. For an index see `takeIndexEdit`.
 * Returns what the file shows now.
 */
export async function takeMemoryEdit(
  context: Context,
  open: OpenDocument,
  { folder, format, name, base, file, unseen = [], seenBefore = [], isMet = false }: MemoryEdit,
): Promise<StandingMemory> {
  const key = keyOfName(format, name);
  if (name === format.index) {
    return await takeIndexEdit(context, open, { folder, format, key, base, file, unseen });
  }
  const { document } = open;
  const seen = base?.seen ?? [];
  const before = document.memories.get(key);
  const others = before.filter(({ id }) => !isAmong(seen, id));
  const { content, hash } = file;
  const isStale = undoesUnseen({ file, base, unseen });
  const now = Math.min(context.now, Math.round(file.savedAt));
  const over = isStale ? seenBefore : seen;
  document.setEntry("memories", key, { value: content, now, seen: over, isBeforeDeletion: isMet });
  await context.flush(open);
  const own = ownEntry(open, key);
  const [theirs, ...more] = others;
  // Where the base's entries are gone, whoever replaced them had seen them.
  const isBaseOfAll = base !== undefined && others.length === before.length;
  if (theirs && own && isBaseOfAll && more.length === 0 && !isStale) {
    const sides = { base: base.text, mine: content, theirs: String(theirs.value) };
    const { text, isClean } = mergeTexts(sides);
    if (isClean && !exceedsBytes(text, LIMITS.memoryValueBytes)) {
      const replaced = [own.id, theirs.id];
      document.setEntry("memories", key, { value: text, now: context.now, seen: replaced });
      await context.flush(open);
    }
  }
  return { hash, text: content, seen: own ? [own.id] : [] };
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
