import type * as Y from "yjs";
import { difference, type IdRanges } from "../text/id-ranges.ts";
import { type RemovedText, wholeLineIds } from "../text/removed-text.ts";
import { textRuns } from "../text/text.ts";
import type { CharacterId } from "../text/text-spans.ts";
import type { MergedLine } from "./merged-lines.ts";
import type { WritingSide } from "./moved-lines.ts";

/**
 * For each side the lines, without their breaks, that it alone took from where they stood, with the
 * id that the first character of each had there. Where it wrote them again they were moved, or
 * chosen: they say nothing that is new, so they are in no conflict with what the other side wrote
 * beside them, and nobody wants to be rid of them.
 */
export type PutAgain = Readonly<Record<WritingSide, ReadonlyMap<string, CharacterId>>>;

export const NOTHING_AGAIN: PutAgain = { mine: new Map(), theirs: new Map() };

/** What each side took away, by the ids of its characters, and what that said. */
export interface TakenAway {
  readonly deleted: Readonly<Record<WritingSide, IdRanges>>;
  readonly removed: Readonly<Record<WritingSide, readonly RemovedText[]>>;
}

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
