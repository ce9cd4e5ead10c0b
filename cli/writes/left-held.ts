import type { Kysely } from "kysely";
import { findShownHeld } from "../../daemon/home/held-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readStanding } from "../../daemon/reading/local-memories.ts";
import { waitingMemories } from "../local/waiting-held.ts";
import type { MemoryPlace } from "../place/place.ts";

/**
 * What a write leaves of a held memory, which stays in `memsync held`. `waiting`: once a daemon
 * has held it.
 */
export type LeftHeld = "held" | "waiting";

/** What is left of what a memory shows, if it is to have `value`; undefined: nothing. */
export async function findLeftHeld(
  db: Kysely<DaemonTables>,
  { document, account }: Pick<MemoryPlace, "document" | "account">,
  { key, value }: { readonly key: string; readonly value: string | undefined },
): Promise<LeftHeld | undefined> {
  const place = { document, account, key };
  const { value: standing } = await readStanding(db, place);
  const last = (await waitingMemories(db, { ...place, standing })).at(-1);
  if (last && !last.isToBeHeld) return undefined;
  const held = last
    ? { key, value: last.write.value, cause: "secret" as const, shown: true, retryBatch: undefined }
    : await findShownHeld(db, place);
  if (!held) return undefined;
  const { isLeftBy } = await import("../../daemon/assistants/memory-folders/replace-held.ts");
  const base = last ? last.base : standing;
  if (!(await isLeftBy(db, held, { base, value }))) return undefined;
  return last ? "waiting" : "held";
}

/** For whoever wrote over it. */
export function sayLeftHeld(left: LeftHeld): string {
  const when = left === "waiting" ? " once the daemon runs" : "";
  return `what was held of it is in no history: \`memsync held\` lists it${when}`;
}
