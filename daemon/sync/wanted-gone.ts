// Lines that one side wanted gone and that stayed in doubt, with a conflict that says so. If the
// other side, which has not heard of that, takes them out or mends them, the conflict is over with
// them. But the two have met in these lines as if both had deleted them: what stands in their place
// is told, as it is where nothing was in doubt.

import { asksForChoice, isSettledIn } from "../../shared/replica/conflicts/over-conflict.ts";
import { listOpenConflicts } from "../../shared/replica/conflicts/shared-version.ts";
import {
  listTextConflicts,
  type PlacedLines,
  type TextConflictRecord,
  type TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { TEXT_CONFLICT_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import {
  broughtIn,
  difference,
  holdsAny,
  type IdRanges,
  intersection,
  union,
} from "../../shared/replica/text/id-ranges.ts";
import { hasWord } from "../../shared/replica/text/line-diff.ts";
import { namesSamePlace } from "../../shared/replica/text/neighbour-lines.ts";
import { idsOfLines, type RemovedText } from "../../shared/replica/text/removed-text.ts";
import { holdsAnyLine, holdsEachLine } from "../../shared/replica/text/standing-lines.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";

/** What each side did, one of which has ended conflicts that it had not heard of. */
export interface EndingSides {
  /** Ids of the conflicts that were here before the two met. */
  readonly known: ReadonlySet<string>;
  /** What was written here and is not acknowledged. */
  readonly unheard: Uint8Array;
  readonly byMe: IdRanges;
  readonly byThem: IdRanges;
  /** What this side has deleted of which the other one can't have known. */
  readonly unheardOf: IdRanges;
  /** What this side has deleted, and what it had before the other's changes came. */
  readonly removed: readonly RemovedText[];
  readonly shown: readonly RemovedText[];
}

/** The conflicts that one side has ended unheard, and the characters that it took out for that. */
export interface WantedGone {
  readonly ended: readonly TextConflictRecord[];
  /** Those of them of which it took out the one version that the other side had left. */
  readonly chosen: readonly TextConflictRecord[];
  readonly ids: IdRanges;
}

/** To be called when the two have met, before anything is told of it. */
export function findWantedGone(
  { document }: OpenDocument,
  { known, unheard, byMe, byThem, unheardOf, removed, shown }: EndingSides,
): WantedGone {
  const content = document.content();
  const isUnheard = unheardIn(document.metadata, unheard);
  const byBoth = intersection(byMe, byThem);
  const ended: TextConflictRecord[] = [];
  const chosen: TextConflictRecord[] = [];
  let ids: IdRanges = new Map();
  for (const record of listTextConflicts(document)) {
    if (!asksForChoice(record)) continue;
    const lines = new Set(record.versions.flatMap(({ text }) => plainLines(text)).filter(hasWord));
    const takenFrom = (pieces: readonly RemovedText[], by: IdRanges) =>
      intersection(idsOfLines(pieces, lines), by);
    const isNew = !known.has(record.id);
    if (isSettledIn(record, content)) {
      const byUnknowing = [
        ...(isNew ? [takenFrom(removed, byMe)] : []),
        ...(isUnheard(record.id) ? [takenFrom(shown, byThem)] : []),
      ].reduce(union, new Map());
      if (byUnknowing.size === 0) continue;
      ids = union(ids, byUnknowing);
      ended.push(record);
      const out = difference(intersection(byUnknowing, union(unheardOf, byThem)), byBoth);
      const said = [...removed, ...shown];
      if (isChosenOut(record, (lines) => intersection(idsOfLines(said, lines), out).size > 0))
        chosen.push(record);
    } else if (record.kind === "moved" && (isNew || isUnheard(record.id))) {
      // What one side moved still stands. The other one took it from where it stood before.
      if (takenFrom(removed, byBoth).size > 0) ended.push(record);
    }
  }
  return { ended, chosen, ids };
}

/** Whether lines of one of two versions are among what was taken out, and none of the other's. */
function isChosenOut(
  { versions: [one, other] }: TextConflictRecord,
  isTaken: (lines: ReadonlySet<string>) => boolean,
): boolean {
  if ([one, other].some(({ text }) => text === "") || one.text === other.text) return false;
  return isTaken(ownLines(one.text, other.text)) !== isTaken(ownLines(other.text, one.text));
}

/** The lines of a version that the other one has not. */
function ownLines(version: string, beside: string): Set<string> {
  const others = new Set(plainLines(beside));
  return new Set(plainLines(version).filter((line) => hasWord(line) && !others.has(line)));
}

/**
 * Those of `chosen` of which nothing is left, and nothing in its place that an open conflict tells.
 * What the one has chosen, the other has taken out, which has not heard that there was another
 * version: nobody wanted both gone. To be called once all else of the meeting is told.
 */
export function leftOutByBoth(
  { document }: OpenDocument,
  chosen: readonly TextConflictRecord[],
): readonly TextConflictRecord[] {
  if (chosen.length === 0) return [];
  const content = document.content();
  const open = listOpenConflicts(document);
  return chosen.filter(({ id, versions: [one, other] }) => {
    const told = open.flatMap((each) => (each.id === id ? [] : each.versions));
    const isThere = ({ behind }: PlacedLines) =>
      told.some(({ places }) => places.some((place) => namesSamePlace(place.behind, behind)));
    const isLeft = ({ text, places }: TextVersion, beside: TextVersion) =>
      isHeld(content, { text, own: ownLines(text, beside.text) }) || places.some(isThere);
    return !isLeft(one, other) && !isLeft(other, one);
  });
}

/** An equal line may stand elsewhere: each line of its own says that it is this version. */
function isHeld(
  content: string,
  { text, own }: { readonly text: string; readonly own: ReadonlySet<string> },
): boolean {
  if (own.size === 0) return holdsAnyLine(content, text);
  return holdsEachLine(content, [...own].join("\n"));
}

/** Those in whose place one of `found`, by id, tells what is left of their lines. */
export function toldAnew(
  { document }: OpenDocument,
  ended: readonly TextConflictRecord[],
  found: readonly string[],
): TextConflictRecord[] {
  if (ended.length === 0) return [];
  const content = document.content();
  const told = listTextConflicts(document).filter(({ id }) => found.includes(id));
  const tells = ({ text }: TextVersion) =>
    told.some(({ versions }) => versions.some((each) => holdsAnyLine(each.text, text)));
  return ended.filter(({ versions }) => {
    return versions.some((version) => holdsAnyLine(content, version.text) && tells(version));
  });
}

/** Whether a conflict was recorded by what the others have not heard of. */
function unheardIn(metadata: OpenDocument["document"]["metadata"], unheard: Uint8Array) {
  const brought = broughtIn(unheard);
  return (id: string) =>
    metadata.get(TEXT_CONFLICT_PREFIX + id).some(({ id: { client, clock } }) => {
      return holdsAny(brought, client, { clock, length: 1 });
    });
}
