import { hasWord } from "../text/line-diff.ts";
import { namesSamePlace } from "../text/neighbour-lines.ts";
import { plainLines } from "../text/text-form.ts";
import type {
  NewTextConflict,
  NewVersion,
  PlacedLines,
  TextConflictRecord,
  TextVersion,
} from "./text-conflict-record.ts";

/**
 * Splits a conflict of more than two versions into pairs. One side of it may itself be several
 * versions that are in conflict: then each of them has a conflict with the other side, so that any
 * can be chosen over any. `known`: the open conflicts.
 */
export function twoByTwo(
  conflict: NewTextConflict,
  known: readonly TextConflictRecord[],
): NewTextConflict[] {
  const [ones, others] = conflict.versions.map((version) => versionsIn(version, known));
  return (ones ?? []).flatMap((one) =>
    (others ?? []).flatMap((other) => {
      const pair = { ...conflict, versions: [one, other] } as const;
      return one.text === other.text || known.some((each) => isSamePair(each, pair)) ? [] : [pair];
    }),
  );
}

/** Whether two conflicts are between the same texts. */
export function isSamePair(
  { versions }: Pick<TextConflictRecord, "versions">,
  other: Pick<NewTextConflict, "versions">,
): boolean {
  const texts = new Set(versions.map(({ text }) => text));
  return other.versions.every(({ text }) => texts.has(text));
}

/** The known versions that a version's lines are of, in order; itself where there are not two. */
function versionsIn(version: NewVersion, known: readonly TextConflictRecord[]): NewVersion[] {
  const { places = [] } = version;
  const owners = known.flatMap(({ versions }) => versions.filter(({ cut }) => !cut));
  const parts = new Map<string, { readonly owner: TextVersion; places: PlacedLines[] }>();
  for (const place of places) {
    const there = owners.filter(({ places: own }) =>
      own.some(({ behind }) => namesSamePlace(behind, place.behind)),
    );
    for (const { owner, lines } of runsOf(place, there)) {
      if (!owner) return [version];
      const part = parts.get(owner.text) ?? { owner, places: [] };
      part.places.push({ behind: place.behind, text: lines, ...aheadOf(place) });
      parts.set(owner.text, part);
    }
  }
  if (parts.size < 2) return [version];
  return [...parts.values()].map(({ owner: { machine }, places: own }) => {
    return { text: own.map(({ text }) => text).join(""), machine, places: own };
  });
}

function aheadOf({ ahead }: PlacedLines): Pick<PlacedLines, "ahead"> {
  return ahead === undefined ? {} : { ahead };
}

/** Lines in runs of one known version each; lines without a word go with those before them. */
function runsOf({ text }: PlacedLines, owners: readonly TextVersion[]) {
  const runs: { readonly owner: TextVersion | undefined; lines: string }[] = [];
  for (const line of plainLines(text)) {
    const last = runs.at(-1);
    const isOf = (owner: TextVersion) => plainLines(owner.text).includes(line);
    const owner =
      last && (!hasWord(line) || (last.owner && isOf(last.owner))) ? last.owner : owners.find(isOf);
    if (last && last.owner === owner) last.lines += `${line}\n`;
    else runs.push({ owner, lines: `${line}\n` });
  }
  return runs;
}
