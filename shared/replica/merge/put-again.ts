import type * as Y from "yjs";
import { difference, type IdRanges } from "../text/id-ranges.ts";
import { type RemovedText, wholeLineIds } from "../text/removed-text.ts";
import { textRuns } from "../text/text.ts";
import type { CharacterId } from "../text/text-spans.ts";
import type { MergedLine } from "./merged-lines.ts";
import type { WritingSide } from "./moved-lines.ts";

/**
 * For each side, the lines that it alone took from where they stood: without their breaks, each
 * with the id that its first character had there. Where the side wrote such a line again, it moved
 * it, or chose it in a conflict. The line says nothing new, so it is in no conflict with what the
 * other side wrote beside it, and the other side did not want to be rid of it.
 */
export type PutAgain = Readonly<Record<WritingSide, ReadonlyMap<string, CharacterId>>>;

export const NOTHING_AGAIN: PutAgain = { mine: new Map(), theirs: new Map() };

/** What each side took away: the ids of the characters, and their text. */
export interface TakenAway {
  readonly deleted: Readonly<Record<WritingSide, IdRanges>>;
  readonly removed: Readonly<Record<WritingSide, readonly RemovedText[]>>;
}

/** The lines that only one side took away, for each side. */
export function putAgain({ deleted, removed }: TakenAway): PutAgain {
  const { mine, theirs } = deleted;
  return {
    mine: wholeLineIds(removed.mine, difference(mine, theirs)),
    theirs: wholeLineIds(removed.theirs, difference(theirs, mine)),
  };
}

/** Whether a side has put a line again. */
export function isAgain({ side, text }: MergedLine, again: PutAgain): boolean {
  return side !== "base" && again[side].has(text);
}

/** Where in the visible text a line that was put again stood before. */
export type FormerPlace = (line: MergedLine) => number | undefined;

/** Looks once where the lines that were put again stood. */
export function formerPlaces(ytext: Y.Text, again: PutAgain): FormerPlace {
  const at = new Map<CharacterId, number>();
  const ids = [...again.mine.values(), ...again.theirs.values()];
  let index = 0;
  for (const { client, clock, length, text } of ids.length > 0 ? textRuns(ytext) : []) {
    for (const id of text === undefined ? ids : []) {
      if (id.client === client && clock <= id.clock && id.clock < clock + length) at.set(id, index);
    }
    if (text !== undefined) index += length;
  }
  return ({ side, text }) => {
    const id = side === "base" ? undefined : again[side].get(text);
    return id && at.get(id);
  };
}
