import type { LocalMemory } from "../../daemon/reading/local-memories.ts";

/** A memory as `--json` prints it. */
export function memoryJson({ in_inbox, held, heldCode, seen: _, ...memory }: LocalMemory) {
  const saved = held === undefined ? (in_inbox ? "inbox" : "replica") : "held";
  return { ...memory, saved, ...(held !== undefined && { held, held_code: heldCode }) };
}

/** A memory's layer for a table, and whether the memory is held. */
export function layerShown({ layer, held }: LocalMemory): string {
  return held === undefined ? layer : `${layer}, held`;
}
