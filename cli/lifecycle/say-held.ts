import type { Kysely } from "kysely";
import { heldAdvice } from "../../daemon/held/advice.ts";
import { findHeld, type HeldPlace } from "../../daemon/home/held-store.ts";
import type { DaemonTables } from "../../daemon/home/tables.ts";
import { markSeen } from "../notices/notice-files.ts";
import { noticeName } from "../notices/notice-name.ts";
import type { Environment } from "../place/environment.ts";
import { withLocal } from "../place/place.ts";
import { inLines } from "../screen/output.ts";

/** Says on standard error if a write is held that has just been made, and why. */
export async function sayIfHeld(
  env: Environment,
  placeIn: (db: Kysely<DaemonTables>) => Promise<HeldPlace>,
  value: string,
): Promise<void> {
  const held = await withLocal(env, async (db) => db && (await findHeld(db, await placeIn(db))));
  // Without a daemon an earlier write may be held there still.
  if (held?.value !== value) return;
  process.stderr.write(`${inLines(heldAdvice(held), process.stderr).join("\n")}\n`);
  markSeen(env.home, [noticeName("held", held.id, held.writtenAt)]);
}
