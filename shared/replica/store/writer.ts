import { randomUint32, type World } from "../../world.ts";
import type { Writer } from "./open-document.ts";

const EPOCH_BYTES = 16;

/** Text that may change. */
type Current = string | (() => string) | undefined;

/**
 * This process as a writer, under ids that were never used before. `machine`: the name for
 * documents to record; a function is called at each write, because the name may change. So may the
 * home's id.
 */
export function newWriter(world: World, machine?: Current, home?: Current): Writer {
  return {
    get machine() {
      return typeof machine === "function" ? machine() : machine;
    },
    get home() {
      return typeof home === "function" ? home() : home;
    },
    epoch: Buffer.from(world.randomBytes(EPOCH_BYTES)).toString("base64url"),
    clientId: randomUint32(world),
  };
}
