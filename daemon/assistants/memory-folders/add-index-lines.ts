import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { putMemoryFile, readMemoryFiles } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FolderFormat } from "../folders/folder-format.ts";
import { lineageOf, standingIndexes } from "./index-lineage.ts";
import { isNamedIn, isReadWhole, withLineFor } from "./index-lines.ts";
import { keyOfName } from "./memory-names.ts";
import { awaitsLine, type MemoryNote, type TakenFolder } from "./plan-arrivals.ts";
import { writeIndex } from "./take-index-edit.ts";

/** Whoever wrote the file is given this time to name it in the index, too. */
const INDEX_MS = 60_000;

/**
 * Adds a line to the index for each file that came from elsewhere and that no line names: an
 * assistant would never find it. None is added that it would not read; that is told.
 */
export async function addIndexLines(
  context: WriteContext<DaemonTables>,
  open: OpenDocument,
  {
    folder,
    format,
    files,
  }: { readonly folder: string; readonly format: FolderFormat } & Pick<TakenFolder, "files">,
): Promise<MemoryNote[]> {
  const { db, now } = context;
  if (format.index === undefined) return [];
  const known = await readMemoryFiles(db, folder);
  const arrived = [...known.values()].filter(awaitsLine);
  if (arrived.length === 0) return [];
  const key = keyOfName(format, format.index);
  const [current, ...others] = standingIndexes(open.document, key);
  // An index that is being changed, or that nobody follows, is looked at later.
  const file = files.get(format.index);
  const shown = known.get(format.index);
  const isTaken = file === undefined ? shown === undefined : isSame(file, shown?.hash);
  if (!isTaken || others.length > 0) return [];
  const notes: MemoryNote[] = [];
  let index = current === undefined ? undefined : String(current.value);
  for (const each of arrived) {
    const { name, text, arrivedAt = now } = each;
    const isNamed = index !== undefined && isNamedIn(index, name);
    if (!isNamed && now - arrivedAt < INDEX_MS) continue;
    const longer: string = isNamed && index ? index : withLineFor(index, { name, text });
    if (!isNamed && (!isReadWhole(longer) || exceedsBytes(longer, LIMITS.memoryValueBytes))) {
      notes.push({ name, why: { code: "memory-index-full" } });
      continue;
    }
    index = longer;
    await putMemoryFile(db, folder, { ...each, arrivedAt: undefined });
  }
  if (index !== undefined && index !== current?.value) {
    const over = current ? [current.id] : [];
    const from = current ? lineageOf(open.document, current) : [];
    await writeIndex(context, open, { key, text: index, now, over, from });
  }
  return notes;
}

function isSame(file: { readonly kind: string; readonly hash?: string }, hash: string | undefined) {
  return file.kind === "text" && file.hash === hash;
}
