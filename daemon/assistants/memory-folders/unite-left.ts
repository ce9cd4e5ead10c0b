import type { Kysely } from "kysely";
import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import { hashOf } from "../../disk/read-file.ts";
import { memoryReason, secretReason } from "../../held/judge.ts";
import { dropHeld, type HeldItem, putHeld } from "../../home/held-store.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { uniteTexts } from "./merge-texts.ts";

/** Held texts of one memory, or of a project, that were left: so many are kept each by itself. */
const LEFT_MAX = 8;

interface UniteOptions {
  /** The text in a memory's value; undefined: it is all of it. */
  readonly textOf?: (value: string) => string;
}

/**
 * A program that saves a secret again and again, each time in other words, leaves a held text for
 * each save. Of more than some, two become one, the oldest that have room in one, with all lines of
 * both. `left`: those of one memory or of a project's text, the oldest first. Metadata has no
 * lines: each stays.
 */
export async function uniteLeft(
  db: Kysely<DaemonTables>,
  left: readonly HeldItem[],
  { textOf = (value) => value }: UniteOptions = {},
): Promise<void> {
  // What somebody has allowed goes into its document as it is.
  const open = left.filter(({ allowed }) => !allowed);
  if (open.length <= LEFT_MAX || open[0]?.kind === "metadata") return;
  for (const [at, other] of open.entries()) {
    const one = open[at - 1];
    if (!one) continue;
    const { kind, value: whole = "", key } = one;
    const text = textOf(whole);
    const united = uniteTexts(text, textOf(other.value ?? ""));
    // In front is what a value says beside its text.
    const value = `${whole.slice(0, whole.length - text.length)}${united}`;
    const isMemory = kind === "memory";
    if (exceedsBytes(value, isMemory ? LIMITS.memoryValueBytes : LIMITS.claudeMdBytes)) continue;
    const found = isMemory
      ? await memoryReason(db, { key, value: united }, [])
      : await secretReason(db, united, []);
    await dropHeld(db, one);
    await dropHeld(db, other);
    // Nobody has seen what it would replace. Lines that both were made of are no news.
    const base = isMemory ? undefined : uniteTexts(one.base ?? "", other.base ?? "");
    const place = { ...one, apart: hashOf(united), base, seen: [], reason: found ?? one.reason };
    await putHeld(db, { ...place, value, shown: false });
    return;
  }
}
