import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { hashOf } from "../../disk/read-file.ts";
import {
  dropHeld,
  type HeldItem,
  type HeldPlace,
  hideHeld,
  listHeldOf,
} from "../../home/held-store.ts";
import { listHeldFiles } from "../../home/memory-files.ts";
import { listPersonalFiles } from "../../home/personal-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { ownerOf } from "./held-memories.ts";
import { isRegained } from "./left-held.ts";
import { uniteLeft } from "./unite-left.ts";

type Db = WriteContext<DaemonTables>["db"];

/** A write of a memory that has something held. */
interface LaterWrite {
  /** What the document has before the write; undefined: nothing. */
  readonly base: string | undefined;
  /** Undefined deletes the memory. */
  readonly value: string | undefined;
}

/**
 * Another write of a memory takes the place of what is held of it. What is held is in no history,
 * so it stays, as what was left, unless the write has all of it but its secrets. The texts of files
 * stay with their files: they are no longer shown as the memory.
 */
export async function replaceHeld(
  db: Db,
  place: Omit<HeldPlace, "kind" | "apart">,
  write: LaterWrite,
): Promise<void> {
  const left: HeldItem[] = [];
  for (const item of await listHeldOf(db, place)) {
    const isFiles = await isOfFile(db, item);
    if (isFiles || (await isLeftBy(db, item, write))) {
      await hideHeld(db, item, hashOfHeld(item));
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
}

/** Whether a write that takes the place of a held one lacks something that is nowhere else. */
export async function isLeftBy(
  db: Db,
  held: Pick<HeldItem, "key" | "value" | "cause" | "shown" | "retryBatch">,
  { base, value: saved }: LaterWrite,
): Promise<boolean> {
  const { value, cause, shown, retryBatch } = held;
  // What the service refused went into the history as it was held for good.
  const isInHistory = cause === "refused" && shown && retryBatch === undefined;
  if (value === undefined || isInHistory) return false;
  return !(await isRegained(db, held, { base, saved }));
}

/** Whether an assistant's file has the text. Former versions gave it no place of its own. */
async function isOfFile(db: Db, item: HeldItem): Promise<boolean> {
  const { value, document: name } = item;
  if (value === undefined) return false;
  const hash = hashOfHeld(item);
  const owner = ownerOf({ address: { name } });
  if ((await listHeldFiles(db, { owner, hash })).length > 0) return true;
  return (await listPersonalFiles(db)).some(({ held }) => held === hash);
}

function hashOfHeld({ apart, value = "" }: HeldItem): string {
  return apart ?? hashOf(value);
}
