import type { Kysely } from "kysely";
import { type HeldItem, type HeldPlace, listHeldOf } from "../../daemon/home/held-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { readStanding } from "../../daemon/reading/local-memories.ts";
import { readCommittedText } from "../../daemon/reading/local-text.ts";
import { waitingMemories, waitingTexts } from "../local/waiting-held.ts";
import type { MemoryPlace } from "../place/place.ts";

type Db = Kysely<DaemonTables>;

/**
 * What a write leaves of something held, which stays in `memsync held`. `waiting`: once a daemon
 * has held it.
 */
export type LeftHeld = "held" | "waiting";

/** What is left of what a memory shows, if it is to have `value`; undefined: nothing. */
export async function findLeftHeld(
  db: Db,
  { document, account }: Pick<MemoryPlace, "document" | "account">,
  { key, value }: { readonly key: string; readonly value: string | undefined },
): Promise<LeftHeld | undefined> {
  const { value: standing } = await readStanding(db, { document, account, key });
  const waiting = await waitingMemories(db, { document, account, key, standing });
  return await leftOf(db, { kind: "memory", document, account, key }, { standing, waiting, value });
}

/** The same for a project's text. */
export async function findLeftText(
  db: Db,
  { document, account }: Pick<HeldPlace, "document" | "account">,
  value: string,
): Promise<LeftHeld | undefined> {
  const standing = (await readCommittedText(db, document))?.value ?? "";
  const waiting = await waitingTexts(db, { document, account, standing });
  const place = { kind: "text", document, account, key: "" } as const;
  return await leftOf(db, place, { standing, waiting, value });
}

async function leftOf(
  db: Db,
  place: Omit<HeldPlace, "apart">,
  {
    standing,
    waiting,
    value,
  }: {
    readonly standing: string | undefined;
    readonly waiting: Awaited<ReturnType<typeof waitingMemories>>;
    readonly value: string | undefined;
  },
): Promise<LeftHeld | undefined> {
  const { isLeftBy } = await import("../../daemon/overwritten/replace-held.ts");
  const last = waiting.at(-1);
  if (last) {
    if (!last.isToBeHeld) return undefined;
    const { kind, key } = place;
    const facts = { cause: "private", shown: true, retryBatch: undefined } as const;
    const held = { kind, key, value: last.value, ...facts };
    return (await isLeftBy(db, held, { base: last.base, value })) ? "waiting" : undefined;
  }
  const write = { base: standing, value };
  const shown = (await listHeldOf(db, place)).filter((item: HeldItem) => item.shown);
  for (const held of shown) if (await isLeftBy(db, held, write)) return "held";
  return undefined;
}

/** The remark for the person who wrote over something held. */
export function sayLeftHeld(left: LeftHeld): string {
  const when = left === "waiting" ? " once the daemon runs" : "";
  return `what was held of it is in no history: \`memsync held\` lists it${when}`;
}
