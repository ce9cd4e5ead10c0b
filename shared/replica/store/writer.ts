import { randomUint32, type World } from "../../world.ts";
import type { Writer } from "./open-document.ts";

const EPOCH_BYTES = 16;

/**
 * This process as a writer of documents, under names that were never used before; `machine` is what
 * documents say of who it is, asked at each write where it may change.
 */
export function newWriter(world: World, machine?: string | (() => string)): Writer {
  return {
    get machine() {
      return typeof machine === "function" ? machine() : machine;
    },
    epoch: Buffer.from(world.randomBytes(EPOCH_BYTES)).toString("base64url"),
    clientId: randomUint32(world),
  };
}
