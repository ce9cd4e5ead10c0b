import { heldAdvice } from "../held/advice.ts";
import { findHeld, type HeldPlace } from "../held/held-store.ts";
import type { Environment } from "./environment.ts";
import { withLocal } from "./place.ts";

/** Says on standard error when what is now of this place is held, and why. */
export async function sayIfHeld(env: Environment, place: HeldPlace): Promise<void> {
  const held = await withLocal(env, async (db) => db && (await findHeld(db, place)));
  if (held) process.stderr.write(`${heldAdvice(held)}\n`);
}
