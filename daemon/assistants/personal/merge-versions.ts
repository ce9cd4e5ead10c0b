import { exceedsBytes, LIMITS } from "../../../shared/limits.ts";
import { mergeTexts, uniteTexts } from "../memory-folders/merge-texts.ts";
import { metPairs } from "../memory-folders/met-pairs.ts";
import { type PersonalVersion, versionOf } from "./version.ts";

/** What a machine knows of versions. */
export interface KnownVersions {
  /** Undefined for one that this machine never had, or has forgotten. */
  find(id: string): PersonalVersion | undefined;
  /** It was made on this machine. */
  isOwn(id: string): boolean;
}

/** The versions that a version was made of, the nearest first, as far as they are known. */
export function ancestorsOf(
  version: PersonalVersion,
  known: Pick<KnownVersions, "find">,
): readonly string[] {
  const found = new Set<string>();
  const open = [version];
  for (let next = open.shift(); next; next = open.shift()) {
    for (const id of next.parents) {
      if (found.has(id)) continue;
      found.add(id);
      const parent = known.find(id);
      if (parent) open.push(parent);
    }
  }
  return [...found];
}

/** Those of the versions of which no other one is made, each once. */
export function newestOf(
  versions: readonly PersonalVersion[],
  known: Pick<KnownVersions, "find">,
): PersonalVersion[] {
  const all = new Map(versions.map((each) => [each.id, each]));
  for (const each of versions) for (const id of ancestorsOf(each, known)) all.delete(id);
  return [...all.values()];
}

/**
 * Merges two versions by lines, from the nearest text that both were made of. Without it all lines
 * of both stay, and only a machine that made one of them does that: another one may know more.
 * Undefined: it is left to that one, or both stay; see `areApart`. Every machine comes to the same
 * version.
 */
export function mergeVersions(
  one: PersonalVersion,
  other: PersonalVersion,
  known: KnownVersions,
): PersonalVersion | undefined {
  const merged = meet(one, other, known);
  const isLeft = merged.notes.isUnited && !known.isOwn(one.id) && !known.isOwn(other.id);
  return isLeft || isTooLong(merged) ? undefined : merged;
}

/** Whether two versions are too long together for one memory, so that neither goes. */
export function areApart(
  one: PersonalVersion,
  other: PersonalVersion,
  known: Pick<KnownVersions, "find">,
): boolean {
  return isTooLong(meet(one, other, known));
}

function isTooLong({ value }: PersonalVersion): boolean {
  return exceedsBytes(value, LIMITS.memoryValueBytes);
}

function meet(
  one: PersonalVersion,
  other: PersonalVersion,
  known: Pick<KnownVersions, "find">,
): PersonalVersion {
  const [first, second] = one.id < other.id ? [one, other] : [other, one];
  const [mine, theirs] = [ancestorsOf(first, known), ancestorsOf(second, known)];
  const parents = [first.id, second.id, ...inTurn(mine, theirs)];
  const base = nearest(mine, theirs).find((id) => known.find(id));
  const text = base === undefined ? undefined : known.find(base)?.text;
  if (text === undefined) {
    const united = uniteTexts(first.text, second.text);
    return versionOf(united, parents, { isUnited: true, places: [] });
  }
  const sides = { base: text, mine: first.text, theirs: second.text };
  const merged = mergeTexts(sides);
  const places = metPairs(sides, merged);
  return versionOf(merged.text, parents, { isUnited: false, places });
}

/** What both have, by how near it is to both. */
function nearest(mine: readonly string[], theirs: readonly string[]): string[] {
  const ranks = new Map(theirs.map((id, rank) => [id, rank]));
  const common = mine.flatMap((id, rank) => {
    const other = ranks.get(id);
    return other === undefined ? [] : [{ id, far: rank + other }];
  });
  common.sort((one, other) => one.far - other.far || (one.id < other.id ? -1 : 1));
  return common.map(({ id }) => id);
}

function inTurn(one: readonly string[], other: readonly string[]): string[] {
  const length = Math.max(one.length, other.length);
  return Array.from({ length }, (_, at) => [one[at], other[at]].flatMap((id) => id ?? [])).flat();
}
