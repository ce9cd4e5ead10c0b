import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { findHeld, type HeldPlace, heldId, placeOf } from "../../home/held-store.ts";
import { type MemoryFile, NEVER_SHOWN } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { keyOfName } from "./memory-names.ts";
import type { MemoryNote, TakenFolder } from "./plan-arrivals.ts";

/** The place of what is held of a memory's file. */
export function heldPlaceOf(open: OpenDocument, key: string): HeldPlace {
  return { kind: "memory", ...placeOf(open), key };
}

/** Files whose held text is gone from them, or keeps out what others wrote. */
export async function notesHeld(
  { db }: Pick<WriteContext<DaemonTables>, "db">,
  open: OpenDocument,
  { format, files, known }: Pick<TakenFolder, "format" | "files" | "known">,
): Promise<MemoryNote[]> {
  const notes: MemoryNote[] = [];
  for (const each of known.values()) {
    const { name, held, asked } = each;
    const place = heldPlaceOf(open, keyOfName(format, name));
    if (held === undefined || asked || !(await findHeld(db, place))) continue;
    const id = heldId(place);
    const file = files.get(name);
    if (!file) notes.push({ name, why: { code: "memory-held-gone", id } });
    else if (file.kind === "text" && file.hash === held && isWrittenSince(open, place.key, each)) {
      notes.push({ name, why: { code: "memory-held-others", id } });
    }
  }
  return notes;
}

function isWrittenSince({ document }: OpenDocument, key: string, { hash, text }: MemoryFile) {
  const [current] = document.memories.get(key);
  return hash === NEVER_SHOWN.hash ? current !== undefined : current?.value !== text;
}
