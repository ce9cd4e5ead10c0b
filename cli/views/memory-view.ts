import type { LocalMemory } from "../../daemon/reading/local-memories.ts";

/** A memory as `--json` prints it. */
export function memoryJson({ id, key, value, layer, updated_at, in_inbox, held }: LocalMemory) {
  const saved = held === undefined ? (in_inbox ? "inbox" : "replica") : "held";
  return { id, key, value, layer, updated_at, saved, ...(held !== undefined && { held }) };
}

/** A memory's layer in a table, and whether it is held. */
export function layerShown({ layer, held }: LocalMemory): string {
  return held === undefined ? layer : `${layer}, held`;
}
