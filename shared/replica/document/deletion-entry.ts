import { isObject, type JsonValue } from "../../json.ts";
import { type Author, parseHomeId } from "./author.ts";
import { machineName } from "./machine-name.ts";
import { OWN_METADATA_PREFIX } from "./own-metadata.ts";

/** The metadata key that says that a project was deleted. */
export const DELETION_KEY = `${OWN_METADATA_PREFIX}deleted`;

/** When a project was deleted, in milliseconds since the Unix epoch, and on which machine. */
export interface ProjectDeletion extends Author {
  readonly at: number;
}

/** Reads a deletion from an entry or a row of metadata. */
export function parseDeletion(value: JsonValue): ProjectDeletion {
  const { at, machine, home } = isObject(value) ? value : {};
  return {
    at: typeof at === "number" ? at : 0,
    machine: machineName(machine),
    home: parseHomeId(home),
  };
}
