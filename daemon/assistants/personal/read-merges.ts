import type { Kysely } from "kysely";
import { readPersonalVersions } from "../../home/personal-versions.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { ancestorsOf } from "./merge-versions.ts";
import type { PersonalMerge } from "./personal-status.ts";
import { type PersonalVersion, parseVersion } from "./version.ts";

/**
 * Merges of which both versions stand in the text, by whole lines; they are over once somebody
 * takes one out or edits it, and stay so: who writes both again later means both. Machines of
 * before have noted versions of several lines.
 */
export async function readMerges(
  db: Kysely<DaemonTables>,
  current: PersonalVersion | undefined,
): Promise<PersonalMerge[]> {
  if (!current) return [];
  const kept = (await readPersonalVersions(db)).map(({ value }) => parseVersion(value));
  const merges = new Map<string, PersonalMerge>();
  for (const version of kept) {
    const { id, notes } = version;
    if (notes.isUnited && id === current.id) {
      merges.set("", { mine: undefined, theirs: undefined });
    }
    for (const { mine, theirs } of notes.places) {
      const parts = [mine, theirs];
      if (!haveAll(current, parts) || isOver({ version, parts }, { current, kept })) continue;
      merges.set(JSON.stringify(parts.sort()), { mine, theirs });
    }
  }
  return [...merges.values()];
}

interface NotedMerge {
  /** The version that notes it. */
  readonly version: PersonalVersion;
  readonly parts: readonly string[];
}

/** Whether a version between the merge and the text as it counts lacks one of the two. */
function isOver(
  { version, parts }: NotedMerge,
  { current, kept }: { readonly current: PersonalVersion; readonly kept: PersonalVersion[] },
): boolean {
  const known = { find: (id: string) => kept.find((each) => each.id === id) };
  const before = new Set(ancestorsOf(current, known));
  return kept.some((each) => {
    const isBetween = before.has(each.id) && ancestorsOf(each, known).includes(version.id);
    return isBetween && !haveAll(each, parts);
  });
}

function haveAll({ text }: PersonalVersion, parts: readonly string[]): boolean {
  return parts.every((part) => part.trim() !== "" && `\n${text}\n`.includes(`\n${part}`));
}
