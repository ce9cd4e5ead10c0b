import type { Kysely } from "kysely";
import { readPersonalVersions } from "../../home/personal-versions.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { PersonalMerge } from "./personal-status.ts";
import { type PersonalVersion, parseVersion } from "./version.ts";

/**
 * Merges of which both versions stand in the text, by whole lines; they are over once somebody
 * takes one out or edits it. Machines of before have noted versions of several lines.
 */
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
        (part) => part.trim() !== "" && `\n${current.text}\n`.includes(`\n${part}`),
      );
      if (stands) merges.set(JSON.stringify([mine, theirs].sort()), { mine, theirs });
    }
  }
  return [...merges.values()];
}
