import type { JsonValue } from "../../json.ts";
import { machineName } from "./machine-name.ts";
import { OWN_METADATA_PREFIX } from "./own-metadata.ts";

/** The metadata key that says that a project was deleted. */
export const DELETION_KEY = `${OWN_METADATA_PREFIX}deleted`;

/** When a project was deleted, in milliseconds since the Unix epoch, and on which machine. */
export interface ProjectDeletion {
  readonly at: number;
  /** Undefined where that is unknown. */
  readonly machine: string | undefined;
}

/** Reads a deletion from an entry or a row of metadata. */
export function parseDeletion(value: JsonValue): ProjectDeletion {
  const fields = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  const { at, machine } = fields as { readonly [name: string]: JsonValue | undefined };
  return { at: typeof at === "number" ? at : 0, machine: machineName(machine) };
}
