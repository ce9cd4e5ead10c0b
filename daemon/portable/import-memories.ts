import type { EntryId } from "../../shared/replica/document/entry-index.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { whyMemoryHeld } from "../held/judge.ts";
import { findShownHeld, placeOf, putHeld } from "../home/held-store.ts";
import type { DaemonTables } from "../home/tables.ts";
import { replaceHeld } from "../overwritten/replace-held.ts";
import { type PortableMemory, readTime } from "./format.ts";

type Context = WriteContext<DaemonTables>;

/** How many memories an import wrote. */
export interface MemoryCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly held: number;
  /** Held values that were written over, and that `memsync held` lists as what was left. */
  readonly left_held: number;
  /** Losing versions that look like secrets. They are not imported. */
  readonly left_out: number;
}

export const NO_MEMORIES: MemoryCounts = {
  created: 0,
  updated: 0,
  unchanged: 0,
  held: 0,
  left_held: 0,
  left_out: 0,
};

/** A value to write into the document. */
interface ValueWrite {
  readonly key: string;
  readonly value: string;
  readonly now: number;
  readonly seen: readonly EntryId[];
}

/** What to write into a document. `losers` belong to new memories and are written before them. */
interface Plan {
  readonly losers: ValueWrite[];
  readonly values: ValueWrite[];
  counts: MemoryCounts;
}

/**
 * Writes memories into a document: a new key with its original time, any other as a write of now.
 * Losing versions that the document lacks become conflicts again.
 */
export async function importMemories(
  context: Context,
  open: OpenDocument,
  {
    memories,
    onMemory,
  }: { readonly memories: readonly PortableMemory[]; readonly onMemory: () => void },
): Promise<MemoryCounts> {
  const plan: Plan = { losers: [], values: [], counts: NO_MEMORIES };
  for (const memory of memories) {
    await planOne(context, open, { memory, plan });
    onMemory();
  }
  const { document } = open;
  // One by one: within one change a key may be written only once.
  for (const { key, value, ...options } of plan.losers) {
    document.setEntry("memories", key, { value, ...options });
  }
  document.change("local", () => {
    for (const { key, value, ...options } of plan.values) {
      document.setEntry("memories", key, { value, ...options });
    }
  });
  return plan.counts;
}

async function planOne(
  context: Context,
  open: OpenDocument,
  { memory, plan }: { readonly memory: PortableMemory; readonly plan: Plan },
): Promise<void> {
  const { db, now } = context;
  const { key, value } = memory;
  const place = { ...placeOf(open), kind: "memory", key } as const;
  const entries = open.document.memories.get(key);
  const held = await findShownHeld(db, place);
  const current = held ? held.value : entries[0]?.value;
  if (current === value) {
    count(plan, "unchanged");
    if (!held) await planLosers(context, open, { portableMemory: memory, plan });
    return;
  }
  const seen = [...entries.map(({ id }) => id), ...(held?.seen ?? [])];
  const writtenAt = entries.length > 0 ? now : readTime(memory.updated_at);
  const stored = entries.map((entry) => String(entry.value));
  const why = await whyMemoryHeld(db, open, { memory, already: stored });
  const isLeft = await replaceHeld(db, place, { base: stored[0], value });
  if (isLeft) count(plan, "left_held");
  if (why) {
    await putHeld(db, { ...place, value, seen, writtenAt, ...why });
    count(plan, "held");
    return;
  }
  plan.values.push({ key, value, now: writtenAt, seen });
  count(plan, entries.length > 0 ? "updated" : "created");
  await planLosers(context, open, { portableMemory: memory, plan, newAt: writtenAt });
}

/** `newAt`: the time of the value that is to be written; undefined where it is there already. */
async function planLosers(
  { db }: Context,
  open: OpenDocument,
  {
    portableMemory: { key, value, conflicts = [] },
    plan,
    newAt,
  }: {
    readonly portableMemory: PortableMemory;
    readonly plan: Plan;
    readonly newAt?: number | undefined;
  },
): Promise<void> {
  const entries = open.document.memories.get(key);
  const stored = entries.map((entry) => String(entry.value));
  const known = new Set([value, ...stored]);
  // Of two equally old entries the one written later wins. None of these may win.
  const latest = newAt ?? (entries[0]?.updated_at ?? 0) - 1;
  for (const loser of [...conflicts].reverse()) {
    if (known.has(loser.value)) continue;
    known.add(loser.value);
    if (await whyMemoryHeld(db, open, { memory: { key, value: loser.value }, already: stored })) {
      count(plan, "left_out");
      continue;
    }
    const now = Math.min(readTime(loser.updated_at), latest);
    plan.losers.push({ key, value: loser.value, now, seen: [] });
  }
}

function count(plan: Plan, what: keyof MemoryCounts): void {
  plan.counts = { ...plan.counts, [what]: plan.counts[what] + 1 };
}
