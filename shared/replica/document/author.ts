import type { JsonValue } from "../../json.ts";

/** Who wrote something, as a document records it. */
export interface Author {
  /** The machine's name, for people; undefined where that is not known. */
  readonly machine: string | undefined;
  /** The home's id; undefined of services, and of what earlier builds recorded. */
  readonly home?: string | undefined;
}

/**
 * Whether two authors are one machine. Two machines may have one name, and a machine may have had
 * another: the homes decide, and the names only where one of the homes is not known.
 */
export function isSameMachine(one: Partial<Author>, other: Partial<Author>): boolean {
  if (one.home !== undefined && other.home !== undefined) return one.home === other.home;
  return one.machine === other.machine;
}

const HOME_LENGTH_MAX = 64;

/** Reads a home's id from metadata; undefined for anything else. */
export function parseHomeId(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value.length <= HOME_LENGTH_MAX ? value : undefined;
}
