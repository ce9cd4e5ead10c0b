import type { Kysely } from "kysely";
import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import { hashOf } from "../../disk/read-file.ts";
import { memoryReason } from "../../held/judge.ts";
import { dropHeld, type HeldItem, putHeld } from "../../home/held-store.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { uniteTexts } from "./merge-texts.ts";

/** Held texts of one memory that its file has lost, as many as are kept each by itself. */
const LEFT_MAX = 8;

interface UniteOptions {
  /** The text in a memory's value; undefined: it is all of it. */
  readonly textOf?: (value: string) => string;
}

/**
 * A program that saves a secret again and again, each time in other words, leaves a held text for
 * each save. Of more than some, two become one, the oldest that have room in a memory, with all
 * lines of both. `left`: those of one memory, the oldest first.
 */
export async function uniteLeft(
  db: Kysely<DaemonTables>,
  left: readonly HeldItem[],
  { textOf = (value) => value }: UniteOptions = {},
): Promise<void> {
  // What somebody has allowed goes into its document as it is.
  const open = left.filter(({ allowed }) => !allowed);
  if (open.length <= LEFT_MAX) return;
  for (const [at, other] of open.entries()) {
    const one = open[at - 1];
    if (!one) continue;
    const { value: whole = "", key } = one;
    const text = textOf(whole);
    const united = uniteTexts(text, textOf(other.value ?? ""));
    // In front is what a value says beside its text.
    const value = `${whole.slice(0, whole.length - text.length)}${united}`;
    if (exceedsBytes(value, LIMITS.memoryValueBytes)) continue;
    const reason = (await memoryReason(db, { key, value: united }, [])) ?? one.reason;
    await dropHeld(db, one);
    await dropHeld(db, other);
    // Nobody has seen what it would replace.
    const place = { ...one, apart: hashOf(united), base: undefined, seen: [] };
    await putHeld(db, { ...place, value, reason, shown: false });
    return;
  }
}
