import type { Kysely } from "kysely";
import { readPersonalVersions } from "../../home/personal-versions.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { PersonalMerge } from "./personal-status.ts";
import { type PersonalVersion, parseVersion } from "./version.ts";

/** Merges of which both versions stand in the text; they are over once somebody takes one out. */
export async function readMerges(
  db: Kysely<DaemonTables>,
  current: PersonalVersion | undefined,
): Promise<PersonalMerge[]> {
  if (!current) return [];
  const merges = new Map<string, PersonalMerge>();
  for (const { value } of await readPersonalVersions(db)) {
    const { id, notes } = parseVersion(value);
    if (notes.isUnited && id === current.id) {
      merges.set("", { mine: undefined, theirs: undefined });
    }
    for (const { mine, theirs } of notes.places) {
      const stands = [mine, theirs].every(
        (text) => text.trim() !== "" && current.text.includes(text),
      );
      if (stands) merges.set(JSON.stringify([mine, theirs].sort()), { mine, theirs });
    }
  }
  return [...merges.values()];
}

/**
 * What somebody is told of such merges: pairs of lines that may be versions of one line. A pair is
 * over once one of its lines goes or is edited.
 */
export function standingPairs(merges: readonly PersonalMerge[], text: string): PersonalMerge[] {
  const lines = new Set(text.split("\n").map((line) => `${line}\n`));
  return merges.filter(({ mine, theirs }) => {
    return mine === undefined || theirs === undefined || (lines.has(mine) && lines.has(theirs));
  });
}
