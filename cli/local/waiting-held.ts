import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { type MemoryWrite, readInbox } from "../../daemon/inbox/inbox.ts";
import type { AccountId } from "../../shared/ids.ts";

type Db = Kysely<DaemonTables>;

/** Which memory, and what the document has of it; undefined: nothing. */
interface Standing {
  readonly document: string;
  readonly account?: AccountId | undefined;
  readonly key: string;
  readonly standing: string | undefined;
}

/** A write of a memory that waits for a daemon. */
export interface WaitingMemory {
  readonly write: MemoryWrite;
  /** The daemon will hold it, so that it gets into no history. */
  readonly isToBeHeld: boolean;
  /** What the document will have by then; undefined: nothing. */
  readonly base: string | undefined;
}

/** The waiting writes of a memory, oldest first. */
export async function waitingMemories(
  db: Db,
  { document, account, key, standing }: Standing,
): Promise<WaitingMemory[]> {
  const waiting: WaitingMemory[] = [];
  let base = standing;
  for (const write of await readInbox(db, document, account)) {
    if (write.kind !== "memory" || write.key !== key) continue;
    const isToBeHeld = await willBeHeld(db, write, base);
    waiting.push({ write, isToBeHeld, base });
    if (!isToBeHeld) base = write.value;
  }
  return waiting;
}

async function willBeHeld(
  db: Db,
  { key, value, allowSecret }: MemoryWrite,
  base: string | undefined,
): Promise<boolean> {
  if (value === undefined || allowSecret) return false;
  const { memoryReason } = await import("../../daemon/held/judge.ts");
  const already = base === undefined ? [] : [base];
  return (await memoryReason(db, { key, value }, already)) !== undefined;
}
