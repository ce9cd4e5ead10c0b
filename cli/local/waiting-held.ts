import type { Kysely } from "kysely";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { type MemoryWrite, readInbox, type TextWrite } from "../../daemon/inbox/inbox.ts";
import type { AccountId } from "../../shared/ids.ts";

type Db = Kysely<DaemonTables>;

/** What the document has of a memory or of a text; undefined: nothing. */
interface Standing {
  readonly document: string;
  readonly account?: AccountId | undefined;
  readonly standing: string | undefined;
}

/** A write that waits for a daemon. */
export interface WaitingWrite {
  /** Undefined deletes it. */
  readonly value: string | undefined;
  readonly writtenAt: number;
  /** The daemon will hold it, so that it gets into no history. */
  readonly isToBeHeld: boolean;
  /** What the document will have by then; undefined: nothing. */
  readonly base: string | undefined;
}

/** The waiting writes of a memory, oldest first. */
export async function waitingMemories(
  db: Db,
  { document, account, key, standing }: Standing & { readonly key: string },
): Promise<WaitingWrite[]> {
  const writes = (await readInbox(db, document, account)).flatMap((write) =>
    write.kind === "memory" && write.key === key ? [write] : [],
  );
  return await judged(writes, standing, (write, base) => willBeHeld(db, write, base));
}

/** The waiting writes of a project's text, oldest first. */
export async function waitingTexts(
  db: Db,
  { document, account, standing }: Standing,
): Promise<WaitingWrite[]> {
  const writes = (await readInbox(db, document, account)).flatMap((write) =>
    write.kind === "text" ? [write] : [],
  );
  return await judged(writes, standing, (write, base) => willTextBeHeld(db, write, base));
}

async function judged<Write extends Pick<WaitingWrite, "value" | "writtenAt">>(
  writes: readonly Write[],
  standing: string | undefined,
  isHeld: (write: Write, base: string | undefined) => Promise<boolean>,
): Promise<WaitingWrite[]> {
  const waiting: WaitingWrite[] = [];
  let base = standing;
  for (const write of writes) {
    const { value, writtenAt } = write;
    const isToBeHeld = await isHeld(write, base);
    waiting.push({ value, writtenAt, isToBeHeld, base });
    if (!isToBeHeld) base = value;
  }
  return waiting;
}

async function willBeHeld(
  db: Db,
  { document, key, value, ...allows }: MemoryWrite,
  base: string | undefined,
): Promise<boolean> {
  if (value === undefined) return false;
  const { entryReason } = await import("../../daemon/held/judge.ts");
  const place = await placeOf(db, document, base);
  return (await entryReason(db, { key, value }, { ...place, allows })) !== undefined;
}

async function willTextBeHeld(
  db: Db,
  { document, value }: TextWrite,
  base: string | undefined,
): Promise<boolean> {
  const { textReason } = await import("../../daemon/held/judge.ts");
  return (await textReason(db, value, await placeOf(db, document, base))) !== undefined;
}

async function placeOf(db: Db, document: string, base: string | undefined) {
  const { standingTexts } = await import("../../daemon/held/standing-texts.ts");
  const already = base === undefined ? [] : [base];
  return { document, already, others: () => standingTexts(db, document) };
}
