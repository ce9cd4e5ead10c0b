import { layerOf } from "../../shared/replica/document/address.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { beginsAsPersonal, PERSONAL_KEY } from "../home/personal-mark.ts";
import type { DaemonTables } from "../home/tables.ts";
import { applyItems, itemsOf } from "./apply-items.ts";
import { readState, rememberReading } from "./document-state.ts";
import { keyOwnMemories } from "./own-sides.ts";
import type { PlainOptions } from "./plain-options.ts";
import {
  dropJournal,
  hashOfValue,
  itemName,
  type JournaledWrite,
  journalDelete,
  keysOfService,
  NOTHING_READ,
  type PlainState,
  putRefused,
} from "./plain-store.ts";
import { UNKNOWN_TEXT } from "./plain-text.ts";
import type { OwnReading } from "./reading.ts";
import { keepRefused, type Removal, type SendItem } from "./refusals.ts";

type Context = WriteContext<DaemonTables>;

/** A memory to create there. `replacesId` is deleted afterwards. */
export interface Creation {
  readonly key: string;
  readonly content: string;
  readonly replacesId: string | null;
}

/** What to tell the service about the `user` or `global` layer. */
export interface OwnChanges {
  readonly creations: readonly Creation[];
  readonly removals: readonly Removal[];
}

/** Takes a reading of the layer `user` or `global` into its document. */
export async function applyOwn(
  context: Context,
  options: PlainOptions,
  { name, reading }: { readonly name: string; readonly reading: OwnReading },
): Promise<OwnChanges> {
  const { db, now } = context;
  const open = await context.open({ owner: options.account, name });
  const from = open.head.seq;
  const known = await readState(db, options.service.name, open.id);
  const { document } = open;
  const shown = reading.memories.filter(({ layer }) => layer === layerOf(name));
  const { theirs, superseded, over } = keyOwnMemories(shown, {
    base: known.memories,
    journal: known.journal,
    contacted: known !== NOTHING_READ,
    complete: reading.complete,
    mine: itemsOf(document, "memories"),
  });
  // A memory whose creation was never confirmed is ours, even if it has changed here meanwhile.
  const sent = known.journal.flatMap((entry) => {
    if (entry.kind !== "create") return [];
    const [name, hash] = [itemName("memories", entry.key), hashOfValue(entry.content)];
    return [{ name, hash, at: 0 }];
  });
  const memories = reading.complete ? withoutDeleted(known.memories, over) : known.memories;
  // In this interface a memory is deleted only by its id, so one that vanished was deleted by
  // somebody.
  const read = { items: theirs, complete: reading.complete };
  const merged = applyItems(document, "memories", {
    known: { ...known, memories, sent },
    shown: read,
    putBack: false,
    now,
  });
  await dropJournal(db, over);
  for (const { key, id } of superseded)
    if (id !== null) await journalDelete(db, open.id, { key, memoryId: id });
  const wanted = {
    items: merged.send.map((each) => ({ kind: "memories", ...each }) as const),
    removals: [...merged.remove, ...superseded],
  };
  const allowed = await keepRefused(db, open.id, { refused: known.refused, wanted });
  const { removals } = allowed;
  const items = await withoutCopies(db, open.id, allowed.items);
  await rememberReading(context, options, {
    open,
    from,
    known,
    takenReading: {
      text: UNKNOWN_TEXT,
      memories: merged.base,
      metadata: new Map(),
      sent: [],
      lost: merged.lost,
      blankSince: null,
      outstanding: wanted.items.length + wanted.removals.length,
    },
  });
  const creations = items.map(({ key, value }) => ({
    key,
    content: String(value),
    replacesId: merged.base.get(key)?.id ?? null,
  }));
  return { creations, removals };
}

/**
 * Without what others would take for the personal text, which they know by its first line alone,
 * for the service tells them no key.
 */
async function withoutCopies(
  db: Context["db"],
  documentId: number,
  items: readonly SendItem[],
): Promise<SendItem[]> {
  const named = new Set([PERSONAL_KEY, ...(await keysOfService(db, documentId))]);
  const isCopy = ({ key, value }: SendItem) => !named.has(key) && beginsAsPersonal(String(value));
  for (const { key, value } of items.filter(isCopy)) {
    const reason = { code: "begins-as-personal" } as const;
    await putRefused(db, documentId, { kind: "memories", key, hash: hashOfValue(value), reason });
  }
  return items.filter((each) => !isCopy(each));
}

/** Nobody else deleted what we deleted: if it is in the document, it was written again since. */
function withoutDeleted(
  known: PlainState["memories"],
  over: readonly JournaledWrite[],
): PlainState["memories"] {
  const deleted = new Set<string | null>();
  for (const entry of over) if (entry.kind === "delete") deleted.add(entry.memoryId);
  return new Map([...known].filter(([, { id }]) => !deleted.has(id)));
}
