import type { Replacement } from "../replacement.ts";

/** Where a mistake shows: a seed, or the name of a scenario. */
export type Found = number | string;

/** A mistake that somebody could make in the program, and what has found it. */
export interface Mutation {
  readonly name: string;
  readonly replacements: readonly Replacement[];
  /** Of a seed: others may find it, too, and which one does may change with the program. */
  readonly found: Found;
}

export function mutation(
  name: string,
  found: Found,
  file: string,
  from: string,
  to: string,
): Mutation {
  return { name, found, replacements: [{ file, from, to }] };
}
