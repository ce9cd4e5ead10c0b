import { parseVersion } from "../../daemon/assistants/personal/version.ts";
import { beginsAsPersonal } from "../../daemon/home/personal-mark.ts";
import type { LocalMemory } from "../../daemon/reading/local-memories.ts";
import { withSummaryFirst } from "../../shared/replica/text/front-matter.ts";
import { firstLine } from "../screen/output.ts";

/** What says most about a memory's value, for a table. */
export function valueLine(value: string): string {
  const text = beginsAsPersonal(value) ? parseVersion(value).text : value;
  return firstLine(withSummaryFirst(text));
}

/** A memory as `--json` prints it. */
export function memoryJson({ in_inbox, held, heldCode, seen: _, ...memory }: LocalMemory) {
  const saved = held === undefined ? (in_inbox ? "inbox" : "replica") : "held";
  return { ...memory, saved, ...(held !== undefined && { held, held_code: heldCode }) };
}

/** A memory's layer for a table, and whether the memory is held. */
export function layerShown({ layer, held }: LocalMemory): string {
  return held === undefined ? layer : `${layer}, held`;
}
