import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { ownerOf } from "../assistants/memory-folders/held-memories.ts";
import { isRegained } from "../assistants/memory-folders/left-held.ts";
import { uniteLeft } from "../assistants/memory-folders/unite-left.ts";
import { hashOf } from "../disk/read-file.ts";
import { hideHeldFiles } from "../held/shown-text.ts";
import {
  dropHeld,
  type HeldItem,
  type HeldPlace,
  hideHeld,
  listHeldOf,
} from "../home/held-store.ts";
import { listHeldFiles } from "../home/memory-files.ts";
import { listPersonalFiles } from "../home/personal-files.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = WriteContext<DaemonTables>["db"];

/** Another write of something that is held. Metadata is JSON, as what is held of it. */
interface LaterWrite {
  /** What the document has before the write; undefined: nothing. */
  readonly base: string | undefined;
  /** Undefined deletes it. */
  readonly value: string | undefined;
}

/**
 * Another write of a memory, of a project's text or of metadata takes the place of what is held of
 * it. What is held is in no history, so it stays, as what was left, unless the write has all of it
 * but its secrets. The texts of files stay with their files: they are no longer shown instead.
 * True: what was shown was left.
 *
 * ```
 * const isLeft = await replaceHeld(db, { ...place, kind: "text", key: "" }, { base, value });
 * ```
 */
export async function replaceHeld(
  db: Db,
  place: Omit<HeldPlace, "apart">,
  write: LaterWrite,
): Promise<boolean> {
  if (place.kind === "text") await hideHeldFiles(db, place);
  const left: HeldItem[] = [];
  let isShownLeft = false;
  for (const item of await listHeldOf(db, place)) {
    const isFiles = await isOfFile(db, item);
    if (isFiles || (await isLeftBy(db, item, write))) {
      await hideHeld(db, item, hashOfHeld(item));
      isShownLeft ||= item.shown;
      if (!isFiles) left.push(item);
    } else {
      await dropHeld(db, item);
    }
  }
  if (left.length > 0) {
    const all = await listHeldOf(db, place);
    await uniteLeft(
      db,
      all.filter(({ rowId }) => left.some((each) => each.rowId === rowId)),
    );
  }
  return isShownLeft;
}

/** Whether a write that takes the place of a held one lacks something that is nowhere else. */
export async function isLeftBy(
  db: Db,
  held: Pick<HeldItem, "kind" | "key" | "value" | "cause" | "shown" | "retryBatch">,
  { base, value: saved }: LaterWrite,
): Promise<boolean> {
  const { kind, value, cause, shown, retryBatch } = held;
  // What the service refused went into the history as it was held for good. Metadata has none.
  const isRefused = cause === "refused" && shown && retryBatch === undefined;
  const isInHistory = isRefused && kind !== "metadata";
  if (value === undefined || isInHistory) return false;
  return !(await isRegained(db, held, { base, saved }));
}

/** Whether an assistant's file has the text. Former versions gave it no place of its own. */
async function isOfFile(db: Db, item: HeldItem): Promise<boolean> {
  const { kind, value, document: name } = item;
  if (kind !== "memory" || value === undefined) return false;
  const hash = hashOfHeld(item);
  const owner = ownerOf({ address: { name } });
  if ((await listHeldFiles(db, { owner, hash })).length > 0) return true;
  return (await listPersonalFiles(db)).some(({ held }) => held === hash);
}

function hashOfHeld({ apart, value = "" }: HeldItem): string {
  return apart ?? hashOf(value);
}
